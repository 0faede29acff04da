package engine

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

var (
	worldsFlag = flag.Int("engine.worlds", 5, "how many random `worlds` to play")
	actsFlag   = flag.Int("engine.acts", 60, "how many `acts` each has")
	againFlag  = flag.Bool("engine.again", true,
		"whether to check that idle workers are not told to claim again and again")
	shrinkFlag = flag.Bool("engine.shrink", true,
		"whether to leave out the acts that a finding does not need, for up to a minute")
	seedFlag = flag.Uint64("engine.seed", 0, "the `seed` of the first world; 0 draws one")
)

// A claim takes the jobs that the model lets start, and only those, after each of random acts of everybody; nothing is
// left at the end.
func TestClaimsTakeWhatTheModelLetsStart(t *testing.T) {
	first := *seedFlag
	if first == 0 {
		first = 1 + rand.Uint64N(1_000_000_000)
	}
	t.Logf("-engine.seed=%d", first)
	found := 0
	w := newWorld(t)
	for seed := first; seed < first+uint64(*worldsFlag) && found < 3; seed++ {
		r := rand.New(rand.NewPCG(seed, 0))
		w.only = nil
		acts, finding := w.play(seed, *actsFlag, func(m *model, n int) act { return draw(r, m, n) })
		if finding == nil {
			continue
		}
		found++
		if *shrinkFlag {
			acts, finding = w.shrink(seed, acts, finding)
		}
		t.Errorf("-engine.seed=%d -engine.worlds=1: %v\nafter\n%s\n%s", seed, finding, text(acts), w.state())
	}
}

func text(acts []act) string {
	var lines []string
	for _, a := range acts {
		lines = append(lines, schema(a.String()))
		if a.beats > 0 {
			lines = append(lines, fmt.Sprintf("-- %d heartbeats", a.beats))
		}
	}
	return strings.Join(lines, "\n")
}

// world plays acts in a database and compares it with the model.
type world struct {
	t    *testing.T
	ctx  context.Context
	conn *pgx.Conn
	m    *model
	only *comparison // shrinking: compare only after the last act, and only this
	last comparison
}

// comparison is who claims, how many jobs at once.
type comparison struct {
	claimer
	batch int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	database, err := withTimeout(pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return &world{t: t, ctx: t.Context(), conn: conn}
}

// reset empties the tables. Every other world begins without a limit ever set.
func (w *world) reset(seed uint64) error {
	w.m = newModel()
	sql := `truncate gw._private_jobs, gw._private_job_queues, gw._private_tasks, gw._gw_limits, gw._gw_gates, gw._gw_lanes, gw._gw_gate_ends, gw._gw_queued_lanes, gw._gw_pauses, gw._gw_workers`
	if seed%2 == 0 {
		sql += ", gw._gw_limit_changes"
	}
	if _, err := w.conn.Exec(w.ctx, schema(sql+" restart identity")); err != nil {
		return err
	}
	if _, err := w.conn.Exec(w.ctx, "reset all"); err != nil {
		return err
	}
	_, err := w.conn.Exec(w.ctx, schema("select gw.register_worker(n) from unnest('{w1,w2,w3,w4,keeper}'::text[]) as n"))
	return err
}

// play makes acts until there is a finding, and drains what is left. It returns the acts.
func (w *world) play(seed uint64, count int, next func(*model, int) act) (acts []act, finding error) {
	if err := w.reset(seed); err != nil {
		w.t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for n := range count {
		if err := w.observe(); err != nil {
			w.t.Fatal(err)
		}
		a := next(w.m, n)
		if a.sql == "" {
			continue
		}
		acts = append(acts, a)
		if err := w.do(a); err != nil {
			return acts, err
		}
		if w.only == nil {
			if err := w.compare(r); err != nil {
				return acts, err
			}
		}
	}
	if w.only != nil && w.only.worker != "" {
		return acts, w.compareFor(*w.only)
	}
	return acts, w.drain()
}

// do makes an act, and does it to the model.
func (w *world) do(a act) error {
	was := w.m.jobs
	rows, err := w.conn.Query(w.ctx, schema(a.sql))
	var ids []int64
	count := 0
	if err == nil {
		for rows.Next() {
			count++
			if a.claims != nil {
				var id int64
				if err := rows.Scan(&id); err != nil {
					return err
				}
				ids = append(ids, id)
			}
		}
		err = rows.Err()
	}
	if code := codeOf(err); strings.HasPrefix(code, "GW") || strings.HasPrefix(code, "23502") ||
		strings.HasPrefix(code, "22004") { // of what does not exist
		return w.observe()
	} else if err != nil {
		return fmt.Errorf("%s: %w", a, err)
	}
	if a.claims != nil {
		if err := w.started(w.m, *a.claims, ids); err != nil {
			return err
		}
	}
	if a.model != nil && (!a.ifRows || count > 0) {
		a.model(w.m)
	}
	for range a.beats {
		if err := w.beat(); err != nil {
			return err
		}
	}
	if err := w.observe(); err != nil {
		return err
	}
	if a.returns {
		for _, j := range was {
			if now := w.m.byID(j.ID); j.isOurs() && now != nil && now.LockedBy == "" {
				w.m.charge(j, -1)
			}
		}
	}
	return w.invariants()
}

func (w *world) beat() error {
	for range 10 {
		var done bool
		if err := w.conn.QueryRow(w.ctx, schema("select next_in > interval '0' from gw.heartbeat('keeper')")).Scan(&done); err != nil {
			return fmt.Errorf("heartbeat: %w", err)
		} else if done {
			return nil
		}
	}
	return errors.New("ten heartbeats ask for another")
}

// started checks the jobs of a claim against the model, and starts them there.
func (w *world) started(m *model, c claimer, ids []int64) error {
	for _, id := range ids {
		j := m.byID(id)
		if j == nil {
			return fmt.Errorf("a claim takes the job %d, which is not there", id)
		}
		if why := m.may(c, j); why != "" {
			return fmt.Errorf("a claim of %v takes the job %s, but %s", c, j.N, why)
		}
		m.start(c.worker, j)
	}
	return nil
}

// observe reads the jobs and queues.
func (w *world) observe() error {
	rows, err := w.conn.Query(w.ctx, schema(`
		select j.id, coalesce(j.payload ->> 'n', '') as n, t.identifier as task, coalesce(q.queue_name, '') as queue,
		       coalesce(case when json_typeof(j.payload -> 'c') = 'number' then ((j.payload ->> 'c')::numeric::integer)::text else j.payload ->> 'c' end, '') as key,
		       coalesce((select min(substr(f, 3)) from jsonb_object_keys(j.flags) as f where f like 't:%'), '') as flag,
		       coalesce(j.flags ? 'no', false) as forbidden, j.priority, j.run_at <= clock_timestamp() as due,
		       extract(epoch from j.run_at)::float8 as run_at, j.attempts, j.max_attempts, coalesce(j.locked_by, case when j.locked_at is not null then 'unknown' end, '') as locked_by,
		       coalesce(j.job_queue_id between -15 and -2, false) as held
		  from gw._private_jobs as j
		  join gw._private_tasks as t on t.id = j.task_id
		  left join gw._private_job_queues as q on q.id = j.job_queue_id
		 order by j.id`))
	if err != nil {
		return err
	}
	jobs, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[seen])
	if err != nil {
		return err
	}
	w.m.jobs, w.m.locked = jobs, map[string]string{}
	rows, err = w.conn.Query(w.ctx, schema("select queue_name, coalesce(locked_by, '') from gw._private_job_queues where locked_at is not null"))
	if err != nil {
		return err
	}
	var name, by string
	_, err = pgx.ForEachRow(rows, []any{&name, &by}, func() error { w.m.locked[name] = by; return nil })
	return err
}

// invariants hold between any two acts.
func (w *world) invariants() error {
	running := map[string][]string{}
	for _, j := range w.m.jobs {
		if j.Queue != "" && j.LockedBy != "" {
			running[j.Queue] = append(running[j.Queue], j.LockedBy)
		}
	}
	for _, queue := range queueNames {
		by, locked := w.m.locked[queue]
		switch of := running[queue]; {
		case len(of) > 1:
			return fmt.Errorf("in the queue %s run %d jobs", queue, len(of))
		case len(of) == 1 && by != of[0]:
			return fmt.Errorf("in the queue %s runs a job of %s, but it is locked by %q", queue, of[0], by)
		case len(of) == 0 && locked && by != "pause":
			return fmt.Errorf("the queue %s is locked by %s, but no job runs", queue, by)
		case len(of) == 0 && by == "pause" && !w.m.paused[pause{queue: queue}]:
			return fmt.Errorf("the queue %s is locked by a pause that is over", queue)
		case len(of) == 0 && !locked && w.m.paused[pause{queue: queue}]:
			return fmt.Errorf("the queue %s is paused, but it is not locked", queue)
		}
		if w.m.locked[queue] == "pause" {
			delete(w.m.locked, queue)
		}
	}
	// A gate counts at least what runs.
	var wrong *string
	err := w.conn.QueryRow(w.ctx, schema(`
		select string_agg(format('the gate %s of %s counts %s, of which %s have ended, but %s run', coalesce(g.key, 'of all'), l.name, g.running, g.ended, g.actual), '; ')
		  from (select g.id, g.limit_id, g.key, g.running, coalesce((select sum(e.jobs) from gw._gw_gate_ends as e where e.gate_id = g.id), 0) as ended,
		               (select count(*) from gw._private_jobs as j left join gw._gw_queued_lanes as q on q.job_id = j.id and j.job_queue_id > 0
		                  join gw._gw_lanes as n on n.id = coalesce(q.lane_id, j.job_queue_id)
		                 where j.locked_at is not null and g.id = any (n.gates)) as actual
		          from gw._gw_gates as g) as g
		  join gw._gw_limits as l on l.id = g.limit_id
		 where g.running - g.ended <> g.actual`)).Scan(&wrong)
	if err != nil {
		return err
	} else if wrong != nil {
		return errors.New(*wrong)
	}
	rows, err := w.conn.Query(w.ctx, schema(unnamed))
	if err != nil {
		return err
	}
	waiting, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil && len(waiting) > 0 {
		err = errors.New(waiting[0])
	}
	return err
}

// compare compares what two claimers may take with the model.
func (w *world) compare(r *rand.Rand) error {
	for range 2 {
		if err := w.compareFor(comparison{pick(r, claimers...), pick(r, 1, 20)}); err != nil {
			return err
		}
	}
	w.last = comparison{}
	return nil
}

// compareFor lets a claimer take all that it can get, which is then rolled back.
func (w *world) compareFor(c comparison) error {
	w.last = c
	tx, err := w.conn.Begin(w.ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(w.ctx) }()
	m := w.m.clone()
	return w.takeAll(tx, m, c.claimer, c.batch)
}

// takeAll claims until there is nothing, as a worker does, and compares each claim and the end with the model.
func (w *world) takeAll(db interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
	QueryRow(context.Context, string, ...any) pgx.Row
}, m *model, c claimer, batch int,
) error {
	var forbidden []string
	if c.forbidden {
		forbidden = []string{"no"}
	}
	first, idle := true, 0
	for range 150 {
		ordered := m.startable(c)
		rows, err := db.Query(w.ctx, schema("select id from gw.get_job_batch($1, $2, $3, $4, clock_timestamp())"),
			c.worker, c.tasks, batch, forbidden)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return fmt.Errorf("a claim of %v: %w", c, err)
		}
		if len(ids) > batch {
			return fmt.Errorf("a claim of %d takes %d", batch, len(ids))
		}
		if first && batch == 1 && len(ids) == 1 && len(ordered) > 0 && ids[0] != ordered[0].ID && !m.hasFair() {
			if j := m.byID(ids[0]); m.may(c, j) == "" {
				return fmt.Errorf("out of order: a claim of %v takes the job %s before %s", c, j.N, ordered[0].N)
			}
		}
		first = false
		if err := w.started(m, c, ids); err != nil {
			return err
		}
		if len(ids) > 0 {
			idle = 0
			continue
		}
		var in *float64
		if err := db.QueryRow(w.ctx, schema("select extract(epoch from gw.next_run_at($1) - clock_timestamp())::float8"), c.tasks).Scan(&in); err != nil {
			return err
		}
		if in == nil || *in > 0.2 && !(m.hasRate() && *in < 5 &&
			len(m.startable(c)) > 0) { // a rate gets back less of a job that was returned late
			break
		} else if !*againFlag && len(m.startable(c)) == 0 {
			break
		} else if len(m.startable(c)) == 0 {
			if idle++; idle > 40 {
				return fmt.Errorf("again for nothing: %v is told to claim again and again, but no job may start", c)
			}
			continue
		}
		time.Sleep(time.Duration(max(0, *in) * float64(time.Second)))
	}
	if rest := m.startable(c); len(rest) > 0 {
		return fmt.Errorf("a claim of %v (batch %d) does not take the job %s, which may start", c, batch, rest[0].N)
	}
	return nil
}

// drain completes what runs, and then what can be claimed. What is left must be explained.
func (w *world) drain() error {
	everybody := claimers[0]
	for range 100 {
		if _, err := w.conn.Exec(w.ctx, schema("select gw.complete_job_batch(w, array(select id from gw._private_jobs where locked_by = w)) from unnest('{w1,w2,w3,w4}'::text[]) as w")); err != nil {
			return err
		}
		if err := w.observe(); err != nil {
			return err
		}
		if err := w.invariants(); err != nil {
			return err
		}
		could := len(w.m.startable(everybody))
		if err := w.takeAll(w.conn, w.m, everybody, 5); err != nil {
			return fmt.Errorf("at the end: %w", err)
		}
		if could == 0 {
			break
		}
	}
	for _, j := range w.m.jobs {
		if !j.isAvailable() {
			continue
		}
		var reasons []string
		err := w.conn.QueryRow(w.ctx, schema("select array_agg(coalesce(w.reason, '')) from gw.why($1) as w"),
			j.ID).Scan(&reasons)
		if err != nil {
			return err
		}
		if len(reasons) == 0 || slices.Contains(reasons, "next") || len(reasons) == 1 && reasons[0] == "behind" {
			return fmt.Errorf("why explains the job %s, which is left, by %q; the model says that %s", j.N, reasons,
				w.m.may(everybody, j))
		}
	}
	return nil
}

// shrink leaves out acts that are not needed for a finding.
func (w *world) shrink(seed uint64, acts []act, finding error) ([]act, error) {
	last := w.last
	w.only = &last
	until := time.Now().Add(time.Minute)
	replay := func(acts []act) error {
		_, other := w.play(seed, len(acts), func(_ *model, n int) act { return acts[n] })
		if other != nil && kindOf(other) == kindOf(finding) {
			return other
		}
		return nil
	}
	for size := max(1, len(acts)/2); size > 0; size /= 2 {
		for from := 0; from+size <= len(acts) && time.Now().Before(until); {
			fewer := append(slices.Clone(acts[:from]), acts[from+size:]...)
			if other := replay(fewer); other != nil {
				acts, finding = fewer, other
			} else {
				from += size
			}
		}
	}
	if again := replay(acts); again == nil {
		w.t.Log("not found again")
	}
	return acts, finding
}

// kindOf returns what is the same of a finding when other jobs are meant.
func kindOf(finding error) string {
	text := regexp.MustCompile(`[{]w[^}]*[}]|[0-9]+|"[^"]*"`).ReplaceAllString(finding.Error(), "")
	return regexp.MustCompile(`(queue|key|limit|gate|rate of|run at) *[a-z0-9]* `).ReplaceAllString(text, "")
}

// state describes the tables, for a finding.
func (w *world) state() string {
	var state string
	err := w.conn.QueryRow(w.ctx, schema(`
		select concat_ws(e'\n',
		  (select string_agg(format('job %s: n %s task %s queue %s priority %s run_at %s attempts %s/%s locked by %s %s', j.id, j.payload ->> 'n', t.identifier, j.job_queue_id, j.priority, j.run_at, j.attempts, j.max_attempts, j.locked_by, j.payload), e'\n' order by j.id)
		     from (select * from gw._private_jobs order by id limit 30) as j join gw._private_tasks as t on t.id = j.task_id),
		  (select string_agg('limit ' || l::text, e'\n') from gw._gw_limits as l),
		  (select string_agg('gate ' || l::text, e'\n') from gw._gw_gates as l),
		  (select string_agg('lane ' || l::text, e'\n') from (select * from gw._gw_lanes limit 30) as l),
		  (select string_agg('end ' || l::text, e'\n') from gw._gw_gate_ends as l),
		  (select string_agg('pause ' || l::text, e'\n') from gw._gw_pauses as l),
		  (select string_agg('queued lane ' || l::text, e'\n') from gw._gw_queued_lanes as l),
		  (select string_agg('queue ' || l::text, e'\n') from gw._private_job_queues as l))`)).Scan(&state)
	if err != nil {
		return err.Error()
	}
	return state
}
