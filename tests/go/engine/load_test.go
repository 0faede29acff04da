package engine

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"github.com/gwsql/gw/internal/pgtest"
)

var (
	loadFlag = flag.Duration("engine.load", 2*time.Second, "for how `long` the load lasts")
	loadSeed = flag.Uint64("engine.loadseed", 0, "the `seed` of the load; 0 draws one")
)

const jobsAreLeft = "select exists (select from gw._private_jobs where is_available or locked_at is not null)"

// The limits of the load that nobody changes: what runs is checked against them.
var fixedLimits = []string{
	"select gw.set_limit('fixed', tasks => '{a,b}', by => 'payload:c', max_running => 2, total_running => 5, fair => true)",
	"select gw.set_limit('narrow', tasks => '{b,c}', max_running => 2)",
	"select gw.set_limit('rated', tasks => '{d}', rate => 60, per => '1 second', burst => 4)",
}

// Whatever producers, workers, operators and Node do at once: limits and rates hold, queues are serial, no job runs
// twice or is forgotten, no statement meets a deadlock, and while it lasts, every job that waits is named by something.
func TestEverybodyAtOnce(t *testing.T) {
	all := []struct {
		name string
		load *load
	}{
		{"workers, and operators that set limits, pause and resume", &load{operators: true}},
		{"and killed sessions", &load{operators: true, kills: true}},
		{"and Node's workers, and rows changed by hand", &load{operators: true, kills: true, raw: true}},
	}
	if *loadFlag < 10*time.Second { // the time of one
		all = pgtest.Draw(all, 1)
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			seed := *loadSeed
			if seed == 0 {
				seed = 1 + rand.Uint64N(1_000_000_000)
			}
			t.Logf("-engine.loadseed=%d", seed)
			l := c.load
			l.play = newPlay(t, fixedLimits...)
			l.do("create table public.over (what text, at timestamptz default clock_timestamp())")
			l.run(seed)
		})
	}
}

// load is everybody at once.
type load struct {
	*play
	operators, kills, raw bool

	mu       sync.Mutex
	runs     map[int64]string // the worker of each running job
	queues   map[string]int64 // the running job of each queue
	started  []time.Time      // of task d, if not given back
	ended    int
	findings []string
}

func (l *load) find(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.findings = append(l.findings, fmt.Sprintf(format, args...))
}

func (l *load) run(seed uint64) {
	l.runs, l.queues = map[int64]string{}, map[string]int64{}
	// Names that are used for the first time may be used by two transactions in opposite orders.
	l.do("select gw.complete_jobs(array[(gw.add_job(t, queue_name => q)).id]) from unnest('{a,b,c,d}'::text[], '{q,r,s,q}'::text[]) as n (t, q)")
	l.do("select gw.register_worker(w) from unnest('{w0,w1,w2,w3,w4,w5,w6,keeper}'::text[]) as w")
	ctx, cancel := context.WithTimeout(l.t.Context(), *loadFlag+2*time.Minute)
	defer cancel()
	producing, stop := context.WithTimeout(ctx, *loadFlag)
	defer stop()
	random := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }
	var others, workers errgroup.Group
	background := func(n uint64, step func(context.Context, *pgx.Conn, *rand.Rand) error) {
		others.Go(func() error { return l.repeat(producing, random(n), step) })
	}
	background(1, l.produce)
	background(2, l.produce)
	if l.operators {
		background(3, l.operate)
	}
	if l.raw {
		background(4, l.node)
		background(5, l.change)
	} else {
		background(6, l.snapshot)
	}
	drained, drain := context.WithCancel(ctx) // ends when no jobs are left
	defer drain()
	calm := make(chan struct{}) // closed when nobody but the workers does anything any more
	frozen, err := l.startProcess("w6", seed)
	if err != nil {
		l.t.Fatal(err)
	}
	others.Go(func() error { return frozen.stopSometimes(producing, random(7)) })
	workers.Go(func() error { <-calm; return frozen.end(l) })
	for n := range 6 {
		workers.Go(func() error { return l.work(ctx, drained, calm, fmt.Sprintf("w%d", n), random(uint64(10+n))) })
	}
	if err := others.Wait(); err != nil {
		l.find("%v", err)
	}
	l.do("select gw.resume(p.task, p.queue, p.limit_name, p.lane) from gw.list_pauses() as p",
		"select gw.open_lane(i.name) from gw._gw_limits as i",
		"select gw.complete_jobs(array(select id from gw._private_jobs where locked_by = 'node'))")
	l.do("delete from gw._private_jobs where locked_by = 'node'",
		"update gw._private_job_queues set locked_by = null, locked_at = null where locked_by = 'node'")
	if l.raw {
		l.beats(2)
	}
	close(calm)
	go func() {
		defer drain()
		for ctx.Err() == nil {
			var left bool
			if err := l.pool.QueryRow(ctx, schema(jobsAreLeft)).Scan(&left); err != nil || !left {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	if err := workers.Wait(); err != nil {
		l.find("%v", err)
	}
	l.finish()
}

// finish checks what is left.
func (l *load) finish() {
	for _, what := range []string{
		"select what from public.over",
		"select format('job %s is left: %s', j.id, (select string_agg(w.reason || ' ' || w.detail, '; ') from gw.why(j.id) as w)) from gw._private_jobs as j where j.is_available or j.locked_at is not null",
		`select format('the gate %s of %s counts %s', g.key, g.limit_id, g.running) from gw._gw_gates as g
		  where g.running <> coalesce((select sum(e.jobs) from gw._gw_gate_ends as e where e.gate_id = g.id), 0)`,
		"select format('the queue %s is locked by %s', q.queue_name, q.locked_by) from gw._private_job_queues as q where q.locked_at is not null",
		"select format('the side row of job %s is left', q.job_id) from gw._gw_queued_lanes as q where q.lane_id <> 0", // others are for a sweep
	} {
		rows, err := l.pool.Query(l.t.Context(), schema(what))
		if err != nil {
			l.t.Fatal(err)
		}
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			l.t.Fatal(err)
		}
		l.findings = append(l.findings, texts...)
	}
	slices.SortFunc(l.started, time.Time.Compare)
	for first := range l.started {
		for last := first + 1; last < len(l.started); last++ {
			window := l.started[last].Sub(l.started[first])
			if starts := last - first + 1; float64(starts) > 4+60*window.Seconds()+1e-3 {
				l.findings = append(l.findings, fmt.Sprintf("%d jobs start within %s", starts, window))
				break
			}
		}
	}
	for n, finding := range l.findings {
		if n < 12 {
			l.t.Error(finding)
		}
	}
	l.t.Logf("%d jobs ended, %d of the rate", l.ended, len(l.started))
	if len(l.findings) > 0 {
		l.t.Log((&world{t: l.t, ctx: l.t.Context(), conn: l.conn}).state())
	}
}

// repeat makes steps in a session of its own, which may be killed, until the context ends.
func (l *load) repeat(ctx context.Context, r *rand.Rand, step func(context.Context, *pgx.Conn,
	*rand.Rand) error) error {
	var conn *pgx.Conn
	for ctx.Err() == nil {
		if conn == nil || conn.IsClosed() {
			var err error
			if conn, err = pgx.Connect(l.t.Context(), l.conn.Config().ConnString()); err != nil {
				return err
			}
		}
		err := step(l.t.Context(), conn, r)
		if err != nil && !isLoss(err) {
			_ = conn.Close(l.t.Context())
			return err
		}
	}
	return conn.Close(l.t.Context())
}

// isLoss returns whether an error is of a session that was killed.
func isLoss(err error) bool {
	if code := codeOf(err); code == "57P01" || code == "" {
		return true
	}
	text := err.Error()
	return strings.Contains(text, "unexpected EOF") || strings.Contains(text, "conn closed") ||
		strings.Contains(text, "reset by peer") || strings.Contains(text, "broken pipe")
}

func exec(ctx context.Context, conn *pgx.Conn, sql string, args ...any) error {
	if _, err := conn.Exec(ctx, schema(sql), args...); err != nil {
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Detail != "" {
			return fmt.Errorf("%s: %w (%s; %s)", sql, err, refused.Detail, refused.Where)
		}
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}

// produce adds jobs, sometimes in a transaction that stays open, and changes and removes some.
func (l *load) produce(ctx context.Context, conn *pgx.Conn, r *rand.Rand) error {
	time.Sleep(time.Duration(r.IntN(12)) * time.Millisecond)
	var many bool
	if err := conn.QueryRow(ctx, schema("select count(*) > 200 from gw._private_jobs")).Scan(&many); err != nil ||
		many {
		return err
	}
	if err := exec(ctx, conn, "begin"); err != nil {
		return err
	}
	count := 1 + r.IntN(3) // a transaction that changes several jobs might wait for another in a circle
	for range count {
		queue, key, at := "null", "null", "now()"
		if r.IntN(4) == 0 {
			queue = pick(r, "'q'", "'r'", "'s'")
		}
		if count == 1 && r.IntN(3) == 0 {
			key = fmt.Sprintf("'k%d'", r.IntN(6))
		}
		if r.IntN(5) == 0 {
			at = fmt.Sprintf("now() + interval '%d ms'", r.IntN(100))
		}
		payload := fmt.Sprintf(`{"c":"%s"}`, pick(r, "x", "y", "z"))
		if r.IntN(10) == 0 {
			payload = "{}"
		}
		sql := fmt.Sprintf("select gw.add_job('%s', '%s', %s, %s, 25, %s, %d)", pick(r, taskNames...), payload, queue,
			at, key, r.IntN(2))
		switch way := r.IntN(12); {
		case way == 0 && count == 1:
			sql = fmt.Sprintf("select gw.remove_job('k%d')", r.IntN(6))
		case way == 1 && count == 1:
			sql = "select gw.reschedule_jobs(array(select id from gw._private_jobs where is_available order by random() limit 1), now())"
		case way == 2:
			sql = fmt.Sprintf("select count(*) from gw.add_jobs(array(select row('%s', '%s', %s, now(), 25, null, 0, null)::gw.job_spec from generate_series(1, 4)))", pick(r, taskNames...), payload, queue)
		}
		if err := exec(ctx, conn, sql); err != nil {
			_, _ = conn.Exec(ctx, "rollback")
			return err
		}
	}
	if r.IntN(8) == 0 {
		time.Sleep(time.Duration(r.IntN(80)) * time.Millisecond)
	}
	return exec(ctx, conn, pick(r, "commit", "commit", "commit", "commit", "rollback"))
}

// operate changes limits and pauses. The fixed limits stay.
func (l *load) operate(ctx context.Context, conn *pgx.Conn, r *rand.Rand) error {
	time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
	sql := pick(r,
		func() string {
			to := limit{tasks: someTasks(r)}
			return fmt.Sprintf("select gw.set_limit('other', tasks => %s, by => %s, max_running => %d)",
				arrayOf(to.tasks), pick(r, "null", "'payload:c'", "'flag:t'"), 1+r.IntN(3))
		},
		func() string { return "select gw.drop_limit('other') from gw._gw_limits where name = 'other'" },
		func() string {
			return fmt.Sprintf("select gw.pause(task => '%s', until => clock_timestamp() + interval '%d ms')",
				pick(r, taskNames...), 20+r.IntN(100))
		},
		func() string { return fmt.Sprintf("select gw.pause(task => '%s')", pick(r, taskNames...)) },
		func() string {
			return fmt.Sprintf("select gw.pause(queue => '%s', until => clock_timestamp() + interval '%d ms')",
				pick(r, queueNames...), 20+r.IntN(100))
		},
		func() string { return fmt.Sprintf("select gw.pause(queue => '%s')", pick(r, queueNames...)) },
		func() string {
			return fmt.Sprintf("select gw.pause(limit_name => 'fixed', lane => '%s')", pick(r, "x", "y"))
		},
		func() string { return "select gw.pause(limit_name => 'narrow')" },
		func() string { return "select gw.pause(until => clock_timestamp() + interval '40 ms')" },
		func() string {
			return "select gw.resume(p.task, p.queue, p.limit_name, p.lane) from gw.list_pauses() as p"
		},
		func() string {
			return "select gw.resume(p.task, p.queue, p.limit_name, p.lane) from gw.list_pauses() as p"
		},
		func() string { return "select gw.open_lane(i.name) from gw._gw_limits as i" },
		func() string {
			return fmt.Sprintf("select gw.override_lane('other', '%s', max_running => %d) from gw._gw_limits where name = 'other' and by is not null", pick(r, "x", "y"), 1+r.IntN(3))
		},
		func() string {
			if !l.kills {
				return "select 1"
			}
			return `select pg_terminate_backend(a.pid) from pg_stat_activity as a
			         where a.datname = current_database() and a.query like '%get_job_batch($1%' and a.pid <> pg_backend_pid() order by random() limit 1`
		},
	)()
	err := exec(ctx, conn, sql)
	if code := codeOf(errors.Unwrap(err)); strings.HasPrefix(code, "GW") {
		return nil // an open claim held a limit for too long, or a pause was over before it began
	}
	return err
}

// node claims and ends jobs as Node's worker does, and adds some by hand.
func (l *load) node(ctx context.Context, conn *pgx.Conn, r *rand.Rand) error {
	time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
	m := newModel()
	var ids []string
	rows, err := conn.Query(ctx, schema("select coalesce(payload ->> 'n', '') from gw._private_jobs where locked_by = 'node' limit 3"))
	if err == nil {
		ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		return err
	}
	for _, n := range ids {
		m.jobs = append(m.jobs, &seen{N: n, LockedBy: "node"})
	}
	a := drawNode(r, m, r.IntN(1_000_000_000))
	if a.sql == "" {
		return nil
	}
	return exec(ctx, conn, a.sql)
}

// change changes rows by hand, and lets heartbeats mend it.
func (l *load) change(ctx context.Context, conn *pgx.Conn, r *rand.Rand) error {
	time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
	const one = " where ctid = (select ctid from gw._private_jobs where job_queue_id is null or job_queue_id < 0 order by random() limit 1 for update skip locked)"
	return exec(ctx, conn, pick(r,
		"delete from gw._private_jobs"+one,
		"update gw._private_jobs set priority = -1"+one,
		`update gw._private_jobs set payload = '{"c":"y"}'`+one+" and locked_at is null",
		"update gw._private_jobs set job_queue_id = null"+one+" and locked_at is null",
		"select gw.heartbeat('keeper')", "select gw.heartbeat('keeper')", "select gw.heartbeat('keeper')",
	))
}
