package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// Whatever lets a waiting job start notifies the workers.
func TestWhatLetsAJobStartNotifiesWorkers(t *testing.T) {
	const (
		oneRuns   = "select gw.get_job_batch('w')"
		ofRunning = "(select id from gw._private_jobs where locked_by = 'w' order by id limit 1)"
		keeper    = "create or replace function gw._gw_serving_since() returns timestamptz language sql as $$ select '-infinity'::timestamptz $$"
	)
	plain := []string{"select gw.add_job('a', '1')", oneRuns}
	inQueue := []string{"select gw.add_job('a', to_json(n), 'q') from generate_series(1, 2) as n", oneRuns}
	limited := []string{"select gw.set_limit('l', tasks => '{a}', max_running => 1)",
		"select gw.add_job('a', to_json(n)) from generate_series(1, 2) as n", oneRuns}
	keys := []string{
		"select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1)",
		`select gw.add_job('a', '{"c":1}') from generate_series(1, 3) as n`, oneRuns,
		"select gw.get_job_batch('v')",
	}
	fails := func(more string) string { return fmt.Sprintf("select gw.fail_job('w', %s, 'x'%s)", ofRunning, more) }
	failsBatch := fmt.Sprintf("select gw.fail_job_batch('w', json_build_array(json_build_object('id', %s, 'message', 'm', 'retry_in', 0)))", ofRunning)
	for _, c := range []struct {
		name   string
		before []string
		act    string
	}{
		{"a failure that is retried at once", plain, fails(", retry_in => interval '0'")},
		{"one of a batch", plain, failsBatch},
		{"a returned job", plain, "select gw.return_job('w', " + ofRunning + ")"},
		{"a returned batch", plain, "select gw.return_job_batch('w', array[" + ofRunning + "])"},
		{"unknown jobs", plain, "select gw.return_unknown_jobs('w', '{}')"},
		{"unlocked workers", plain, "select gw.force_unlock_workers('{w}')"},
		{"stale locks", append(plain[:2:2], "update gw._private_jobs set locked_at = now() - interval '5 hours'"),
			"select gw.reset_stale_locks()"},
		{"a dead worker", append([]string{"select gw.set_setting('dead_after', '1 minute')", keeper,
			"select gw.register_worker(w) from unnest('{w,keeper}'::text[]) as w"},
			append(plain[:2:2], "update gw._gw_workers set last_seen_at = clock_timestamp() - interval '2 minutes' where id = 'w'",
				"update gw._private_jobs set locked_at = locked_at - interval '2 minutes'",
				"update gw._gw_workers set beating_since = clock_timestamp() - interval '2 minutes' where id = 'keeper'")...), "select gw.heartbeat('keeper')"},
		{"a completed job of a queue", inQueue, "select gw.complete_job('w', " + ofRunning + ")"},
		{"a completed batch of a queue", inQueue, "select gw.complete_job_batch('w', array[" + ofRunning + "])"},
		{"a failed job of a queue", inQueue, fails("")},
		{"a completed job of a limit", limited, "select gw.complete_job('w', " + ofRunning + ")"},
		{"a failed job of a limit", limited, fails("")},
		{"a completed job of a key", keys, "select gw.complete_job('w', " + ofRunning + ")"},
		{"a completed batch of a key", keys, "select gw.complete_job_batch('w', array[" + ofRunning + "])"},
		{"a failed batch of a key", keys, failsBatch},
		{"a higher limit", limited, "select gw.set_limit('l', tasks => '{a}', max_running => 2)"},
		{"a dropped limit", limited, "select gw.drop_limit('l')"},
		{"a higher limit of a key", keys, "select gw.override_lane('l', '1', max_running => 2)"},
		{"the end of a pause of a task", []string{"select gw.add_job('a')", "select gw.pause('a')"},
			"select gw.resume('a')"},
		{"the end of a pause of a queue", []string{"select gw.add_job('a', '1', 'q')", "select gw.pause(queue => 'q')"},
			"select gw.resume(queue => 'q')"},
		{"the end of all pauses", []string{"select gw.add_job('a')", "select gw.pause()"}, "select gw.resume()"},
		{"the end of a pause of a limit", append(limited[:2:2], "select gw.pause(limit_name => 'l')"),
			"select gw.resume(limit_name => 'l')"},
		{"an opened lane", append(keys[:3:3], "select gw.rate_limited('w', "+ofRunning+", null, interval '1 hour')",
			"select gw.get_job_batch('v')"), "select gw.open_lane('l')"},
		{"a lane that was lost", append(keys[:4:4], "delete from gw._gw_lanes", "select gw.register_worker('keeper')"),
			"select gw.heartbeat('keeper')"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlay(t, c.before...)
			listener, err := pgx.Connect(t.Context(), p.conn.Config().ConnString())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = listener.Close(context.WithoutCancel(t.Context())) }()
			if _, err := listener.Exec(t.Context(), `listen "jobs:insert"`); err != nil {
				t.Fatal(err)
			}
			p.do(c.act)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if _, err := listener.WaitForNotification(ctx); err != nil {
				t.Errorf("%s notifies nobody\n%s", c.act, p.left())
			}
		})
	}
}

// A worker that may not take the jobs of an open lane is not told to claim again at once.
func TestALaneOfForbiddenJobsLetsAWorkerIdle(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', by => 'payload:c', fair => true, max_running => 1)",
		`select gw.add_job('a', json_build_object('c', n), flags => '{no}') from generate_series(1, 2) as n`,
		"select gw.get_job_batch('w', batch_size => 1)")
	for range 3 {
		soon := pgtest.Value[*float64](t, p.pool, schema(`select extract(epoch from gw.next_run_at(null) - clock_timestamp())::float8
			from (select count(*) from gw.get_job_batch('v', forbidden_flags => '{no}')) as claim where count = 0`))
		if soon != nil && *soon < 0.1 {
			t.Errorf("a claim that may take no job is followed by another one after %.3f s", *soon)
		}
	}
	p.count("a worker without flags", p.claim("v", 10), 1)
}

// A lane keeps its place among the lanes that wait for a gate, and loses it with the job that had it.
func TestALaneWhoseFirstJobWasDeletedByHandWaitsInItsNewPlace(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('all', tasks => '{a}', max_running => 2)",
		"select gw.set_limit('keys', tasks => '{a}', by => 'payload:c', max_running => 1)",
		`select gw.add_job('a', json_build_object('c', 'x', 'n', 'first'))`, "select gw.get_job_batch('w')",
		`select gw.add_job('a', json_build_object('c', c, 'n', n)) from (values (0, 'u', 'second'), (1, 'y', 'deleted'), (2, 'z', 'earlier'), (3, 'y', 'later')) as j (i, c, n) order by i`,
		"select gw.get_job_batch('v', batch_size => 10)",
		"delete from gw._private_jobs where payload ->> 'n' = 'deleted'")
	p.beats(2)
	p.do("select gw.complete_job_batch('w', array(select id from gw._private_jobs where locked_by = 'w'))")
	p.wants("the next one", p.claim("v", 1), `{"c" : "z", "n" : "earlier"}`)
}
