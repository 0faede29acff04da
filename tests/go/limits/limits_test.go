package limits

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/gwsql/gw/internal/pgtest"
)

var jobsFlag = flag.Int64("limits.jobs", 1200, "how many `jobs` are added in each run")

// No lane ever has more running jobs than its limits allow, and every job runs, whatever happens to jobs, workers and
// sessions.
func TestNoLaneHasMoreRunningJobsThanItsLimitsAllow(t *testing.T) {
	reached := map[string]int{}
	for _, c := range []conditions{{}, {raw: true}} {
		t.Run(fmt.Sprintf("rows deleted by hand %t", c.raw), func(t *testing.T) {
			url := pgtest.Database(t)
			pool := pgtest.Pool(t, url)
			counts, err := load(t, url, pool, *jobsFlag, c,
				max(8*time.Minute, time.Duration(*jobsFlag)*6*time.Millisecond))
			for n, failure := range counts.failures {
				if n < 10 {
					t.Error(failure)
				}
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, stateOf(t, pool))
			}
			t.Logf("%d claims, at most: %v", counts.claims.Load(), counts.most)
			for lane, running := range counts.most {
				reached[lane] = max(reached[lane], running)
			}
		})
	}
	for lane, limit := range most {
		if lane != "tenant" && lane != "serial" && reached[lane] < limit {
			t.Errorf("at most %d jobs ran in %s, whose limit is %d", reached[lane], lane, limit)
		}
	}
}

func TestABrokenLimitIsSeen(t *testing.T) {
	for _, m := range pgtest.Mutants([]struct {
		name     string
		patience time.Duration // of which the last two need all
		function string
		sound    string
		broken   string
	}{
		{"claims do not lock limits", time.Minute, "_gw_take_limits", "for no key update skip locked", ""},
		{"running jobs do not count", time.Minute, "_gw_start_jobs", "row(g.id, count(*), count(*),",
			"row(g.id, 0, count(*),"},
		{"an end counts twice", time.Minute, "_gw_count_ends", "- e.jobs,", "- 2 * e.jobs,"},
		{"jobs of queues have no limits", time.Minute, "_gw_queue_candidates", "coalesce(l.lane_id, 0) end, l.gates",
			"coalesce(l.lane_id, 0) end, '{}'"},
		{"an end tells nobody", 15 * time.Second, "_gw_release_gates", "where j.queue_id <= -16", "where false"},
		{"a lane is open that has no jobs, and others wait", 15 * time.Second, "_gw_claim_limited",
			"when gate_ids is not null then", "when false then"},
	}) {
		t.Run(m.name, func(t *testing.T) {
			url := pgtest.Database(t)
			pool := pgtest.Pool(t, url)
			if err := pgtest.Mutate(t.Context(), pool, m.function, m.sound, m.broken); err != nil {
				t.Fatal(err)
			}
			counts, err := load(t, url, pool, 20000, conditions{}, m.patience)
			if err == nil && len(counts.failures) == 0 {
				t.Error("nothing was seen")
			}
			t.Log(err, counts.failures[:min(1, len(counts.failures))])
		})
	}
}

// load lets producers and workers run until all jobs have ended, a limit is broken, or the time is up, which is an
// error.
func load(t *testing.T, url string, pool *pgxpool.Pool, jobs int64, c conditions,
	patience time.Duration) (*running, error) {
	for _, limit := range setLimits {
		pgtest.Exec(t, pool, limit)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	counts := newRunning()
	var added atomic.Int64
	produced := func() bool { return added.Load() >= jobs }
	counts.failed = cancel

	group, ctx := errgroup.WithContext(ctx)
	var producers errgroup.Group
	for n := range 2 {
		producers.Go(func() error {
			return produce(ctx, pool, rand.New(rand.NewPCG(seed, uint64(n))), &added,
				produced)
		})
	}
	group.Go(producers.Wait)
	working := errgroup.Group{}
	for n := range 6 {
		conn, err := pgx.Connect(t.Context(), url) // ctx has ended if a limit is broken by now
		if err != nil {
			t.Fatal(err)
		}
		w := &worker{name: fmt.Sprintf("w%d", n), url: url, conn: conn,
			rand: rand.New(rand.NewPCG(seed, uint64(100+n))), running: counts, conditions: c}
		working.Go(func() error {
			defer func() { _ = w.conn.Close(context.Background()) }()
			if err := w.run(ctx, produced); err != nil {
				cancel()
				return err
			}
			return nil
		})
	}
	disturbing, calm := context.WithCancel(ctx)
	group.Go(func() error { return disturb(disturbing, pool, rand.New(rand.NewPCG(seed, 1000)), c) })
	err := working.Wait()
	calm()
	if other := group.Wait(); other != nil && !errors.Is(other, context.Canceled) {
		t.Error(other)
	}
	return counts, err
}

// produce adds jobs of all kinds.
func produce(ctx context.Context, pool *pgxpool.Pool, r *rand.Rand, added *atomic.Int64, done func() bool) error {
	for !done() {
		task := []string{"narrow", "wide", "tenant", "paid", "plain"}[r.IntN(5)]
		var queue, key *string
		switch r.IntN(6) {
		case 0:
			name := fmt.Sprintf("q %d", r.IntN(3))
			queue = &name
		case 1:
			name := fmt.Sprintf("other %d", r.IntN(3))
			queue = &name
		}
		if r.IntN(6) == 0 {
			name := fmt.Sprint(r.IntN(20))
			key = &name
		}
		payload := fmt.Sprintf(`{"tenant":%d}`, r.IntN(4))
		var err error
		if r.IntN(3) == 0 {
			_, err = pool.Exec(ctx, `
				select count(*)
				  from graphile_worker.add_jobs(array(
				         select row($1::text, $2::json, $3, now() + (n % 3) * interval '20 ms', null, case when n = 1 then $4 end, n % 3, null)::graphile_worker.job_spec
				           from generate_series(1, 10) as n))`, task, payload, queue, key)
			added.Add(10)
		} else {
			_, err = pool.Exec(ctx, `
				select graphile_worker.add_job($1, $2::json, $3, now() + $5 * interval '1 ms', job_key => $4, priority => $6)`,
				task, payload, queue, key, max(0, r.IntN(60)-30), r.IntN(3))
			added.Add(1)
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("produce: %w", err)
		}
	}
	return nil
}

// disturb kills sessions, changes and pauses limits, and calls sweeps, which count the gates anew.
func disturb(ctx context.Context, pool *pgxpool.Pool, r *rand.Rand, c conditions) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	resume := "select graphile_worker.resume(limit_name => 'tenant')"
	for {
		var statements []string
		switch r.IntN(8) {
		case 0:
			statements = []string{`select pg_terminate_backend(a.pid)
				  from pg_stat_activity as a
				 where a.datname = current_database() and a.query like '%get_job_batch($1%' and a.query not like '%pg_terminate_backend%'
				 order by random() limit 1`}
		case 1:
			statements = []string{"select graphile_worker.set_limit('wide', tasks => '{wide}', max_running => 3)"}
		case 2:
			statements = []string{setWide}
		case 3:
			statements = []string{"select graphile_worker.pause(limit_name => 'tenant', until => clock_timestamp() + interval '100 ms')"}
		case 4:
			statements = []string{resume}
		case 5:
			statements = []string{"select graphile_worker.pause()", "select graphile_worker.resume()"}
		default:
			if c.raw {
				statements = []string{"select graphile_worker._gw_sweep_limits()"}
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, statement := range statements {
			_, err := pool.Exec(ctx, statement)
			var refused *pgconn.PgError
			if errors.As(err, &refused) && refused.Code == "GWLVA" {
				continue // the end of the pause was over before it began: the machine is slow
			}
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
	}
}

// stateOf returns what is left, for the message of a failed test.
func stateOf(t *testing.T, pool *pgxpool.Pool) string {
	var state string
	err := pool.QueryRow(context.Background(), `
		select concat_ws(e'\n',
		         (select string_agg(format('job %s: task %s, queue %s, locked by %s, available %s, run at %s', j.id, j.task_id, j.job_queue_id, j.locked_by, j.is_available, j.run_at), e'\n')
		            from (select * from graphile_worker._private_jobs order by id limit 10) as j),
		         (select string_agg(g::text, e'\n') from (select * from graphile_worker._gw_gates limit 20) as g),
		         (select string_agg(l::text, e'\n') from (select * from graphile_worker._gw_lanes limit 20) as l),
		         (select string_agg(e::text, e'\n') from (select * from graphile_worker._gw_gate_ends limit 20) as e),
		         (select string_agg(p::text, e'\n') from graphile_worker._gw_pauses as p))`).Scan(&state)
	if err != nil {
		t.Error(err)
	}
	return state
}
