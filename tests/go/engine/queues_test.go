package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// The first jobs of many queues cannot be taken: a queue whose job can is found, and so is a plain job.
func TestAQueueBehindOthersWhoseJobsCannotBeTakenIsFound(t *testing.T) {
	const blocked = "select gw.add_job('a', '\"blocked\"', 'q' || n, run_at => now() - interval '1 hour', flags => '{no}') from generate_series(1, 60) as n"
	for name, holder := range map[string]string{
		"their jobs are locked by an open update":         "update gw._private_jobs set priority = priority where payload::text = '\"blocked\"'",
		"their queues are locked by an open statement":    "select from gw._private_job_queues for update",
		"their first claims are open":                     "select gw.get_job_batch('open', batch_size => 30) from generate_series(1, 3)",
		"their jobs are locked by a statement for update": "select from gw._private_jobs for update",
		"their jobs are locked to be kept":                "select from gw._private_jobs for key share",
	} {
		for _, free := range []string{"gw.add_job('a', '\"free\"', 'f')", "gw.add_job('a', '\"free\"')"} {
			t.Run(name+", "+free, func(t *testing.T) {
				p := newPlay(t, blocked)
				p.begin(pgx.TxOptions{}, holder)
				p.do("select " + free)
				got := ofPayload(p.claim("w", 1), "free")
				if name == "their jobs are locked to be kept" {
					return // they can be taken
				}
				p.count("the free job", got, 1)
			})
		}
	}
}

func TestAQueueBehindForbiddenJobsIsFound(t *testing.T) {
	p := newPlay(t, "select gw.add_job('a', '\"blocked\"', 'q' || n, run_at => now() - interval '1 hour', flags => '{no}') from generate_series(1, 2000) as n",
		"select gw.add_job('a', '\"behind\"', 'q' || n, run_at => now() - interval '1 minute') from generate_series(1, 2) as n", "select gw.add_job('a', '\"free\"', 'f')")
	var got []string
	for range 5 {
		rows, err := p.pool.Query(t.Context(),
			schema("select payload::text from gw.get_job_batch('w', null, 1, '{no}')"))
		if err != nil {
			t.Fatal(err)
		}
		more, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, more...)
	}
	free := 0
	for _, payload := range got {
		if payload == `"free"` {
			free++
		} else if payload == `"blocked"` {
			t.Error("a forbidden job starts")
		}
	}
	if free != 1 {
		t.Errorf("claimed are %q", got)
	}
}

// Many queues are locked by open claims: free ones are found by each of the others.
func TestFreeQueuesBehindThoseOfOpenClaimsAreFound(t *testing.T) {
	p := newPlay(t, "select gw.add_job('a', to_json(n), 'q' || n, run_at => now() - interval '1 hour' + n * interval '1 s') from generate_series(1, 40) as n",
		"select gw.add_job('a', '\"more\"', 'q' || n) from generate_series(1, 40) as n")
	for n := range 30 {
		p.begin(pgx.TxOptions{}, fmt.Sprintf("select gw.get_job_batch('open %d')", n))
	}
	got := 0
	for range 12 {
		got += len(p.one("w", 1))
	}
	if got != 10 {
		t.Errorf("of ten free queues %d are found", got)
	}
}

// A job of a queue that is due starts although one of higher priority is to come.
func TestADueJobBehindALaterOneOfHigherPriorityRuns(t *testing.T) {
	p := newPlay(t, "select gw.add_job('a', '\"later\"', 'q', run_at => now() + interval '1 hour', priority => -5)",
		"select gw.add_job('a', '\"now\"', 'q')",
		"select gw.add_job('a', '\"much later\"', 'q', run_at => now() + interval '2 hours', priority => -9)",
		"select gw.add_job('b', '\"other\"', 'q')")
	p.wants("what is due", p.drain("w"), `"now"`, `"other"`)
}

// Two sessions end two jobs of one streak at once, in either order of their commits.
func TestTwoEndsOfAStreakAtOnceFreeTheQueue(t *testing.T) {
	for _, calls := range [][2]string{
		{"select gw.complete_job($1, $2, $3)", "select gw.complete_job($1, $2, $3)"},
		{"select gw.complete_job($1, $2, $3)", "select gw.fail_job($1, $2, 'x', $3, retry_in => interval '0')"},
		{"select gw.return_job($1, $2, $3)", "select gw.complete_job_batch($1, array[$2::bigint], array[$3::bigint])"},
		{"delete from gw._private_jobs where $1 <> '' and id = $2 and $3::bigint > 0",
			"select gw.complete_job($1, $2, $3)"},
	} {
		for _, order := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s and %s, first commits first %t", calls[0], calls[1], order), func(t *testing.T) {
				p := newPlay(t, "select gw.add_job('a', to_json(n), 'q') from generate_series(1, 3) as n")
				rows, err := p.pool.Query(t.Context(),
					schema("select id, 'w', task_identifier, payload::text, queue_name, lease, flags::text, attempts from gw.get_job_batch('w', batch_size => 2, queue_batch => 2)"))
				if err != nil {
					t.Fatal(err)
				}
				streak, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (j job, err error) {
					return j, row.Scan(&j.id, &j.worker, &j.task, &j.payload, &j.queue, &j.lease, &j.flags, &j.attempts)
				})
				if err != nil || len(streak) != 2 {
					t.Fatalf("%d jobs: %v", len(streak), err)
				}
				first := p.begin(pgx.TxOptions{})
				if _, err := first.Exec(t.Context(), schema(calls[0]), "w", streak[0].id, streak[0].lease); err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() {
					_, err := p.pool.Exec(t.Context(), schema(calls[1]), "w", streak[1].id, streak[1].lease)
					done <- err
				}()
				if order {
					select {
					case err := <-done:
						done <- err
					case <-time.After(100 * time.Millisecond):
					}
				}
				p.commit(first)
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				if calls[0][:6] == "delete" {
					p.do("select gw.reset_stale_locks()",
						"update gw._private_job_queues set locked_at = locked_at - interval '5 hours' where is_available = false", "select gw.reset_stale_locks()")
				}
				left := pgtest.Value[int](t, p.pool, schema("select count(*) from gw._private_jobs"))
				p.count("what is left", p.drain("w"), left)
			})
		}
	}
}

// Node's cleanup of queues removes rows of queues without jobs, and so does ours, also while a transaction is open that
// uses one.
func TestTheCleanupOfQueuesLosesNoJob(t *testing.T) {
	for name, acts := range map[string][]string{
		"a job is added": {"select gw.add_job('a', '1', 'q')"},
		"a keyed job moves": {"select gw.add_job('a', '1', 'p', job_key => 'k')",
			"select gw.add_job('a', '1', 'q', job_key => 'k')"},
		"a queue is paused": {"select gw.pause(queue => 'q')", "select gw.resume(queue => 'q')",
			"select gw.add_job('a', '1', 'q')"},
		"a job of a queue runs": {"select gw.add_job('a', '1', 'q')", "select gw.get_job('w')",
			"select gw.return_job('w', 1)"},
		"a limited job of a queue": {"select gw.set_limit('l', tasks => '{a}', max_running => 1)",
			"select gw.add_job('a', '1', 'q')"},
		"a job of a paused task": {"select gw.pause('a')", "select gw.add_job('a', '1', 'q')",
			"select gw.resume('a')"},
		"a job of a restored queue": {"select gw.add_job('a', '0', 'q')", "select gw.remove_job('none')",
			"select gw.complete_job('w', id, lease) from gw.get_job('w')", "select gw.add_job('a', '1', 'q')"},
	} {
		for open := range 2 {
			t.Run(fmt.Sprintf("%s, open transaction %d", name, open), func(t *testing.T) {
				p := newPlay(t, "select gw.add_job('a', '0', 'other')", "select gw.remove_job('x')")
				const nodes = "delete from gw._private_job_queues where locked_at is null and id not in (select job_queue_id from gw._private_jobs where job_queue_id is not null)"
				for _, act := range acts {
					if open == 0 {
						p.do(act, nodes, "select gw.cleanup('{GC_JOB_QUEUES}')")
						continue
					}
					tx := p.begin(pgx.TxOptions{}, act)
					done := make(chan error, 1)
					go func() {
						_, err := p.pool.Exec(t.Context(), schema("select gw.cleanup('{GC_JOB_QUEUES}')"))
						done <- err
					}()
					select {
					case err := <-done:
						done <- err
					case <-time.After(100 * time.Millisecond):
					}
					p.commit(tx)
					if err := <-done; err != nil {
						t.Fatal(err)
					}
				}
				got := p.drain("w")
				if len(got) != 2 {
					t.Errorf("%q are claimed\n%s", payloadsOf(got), p.left())
				}
			})
		}
	}
}

// An operator gives attempts back by hand.
func TestAJobWhoseAttemptsAreGivenBackByHandRuns(t *testing.T) {
	p := newPlay(t, "select gw.add_job('a', to_json(n), 'q', max_attempts => 1) from generate_series(1, 2) as n",
		"select gw.add_job('a', '3', max_attempts => 1)",
		"select gw.set_limit('l', tasks => '{b}', max_running => 1)", "select gw.add_job('b', '4', max_attempts => 1)")
	for range 4 {
		p.end("select gw.fail_job($1, $2, 'x', $3)", p.all("w")...)
	}
	p.count("when all have failed", p.claim("w", 5), 0)
	p.do("update gw._private_jobs set attempts = 0, run_at = now()")
	p.wants("with new attempts", p.drain("w"), "1", "2", "3", "4")
	p.do("select gw.add_job('a', '5', 'q', max_attempts => 1)", "select gw.add_job('b', '6', max_attempts => 1)")
	for range 3 {
		p.end("select gw.fail_job($1, $2, 'x', $3)", p.all("w")...)
	}
	p.do("update gw._private_jobs set max_attempts = 5, run_at = now() where attempts > 0")
	p.wants("with more attempts", p.drain("w"), "5", "6")
}

// now of a claim may lie before a job's time, or in the future.
func TestAClaimMayHaveATimeOfItsOwn(t *testing.T) {
	for name, acts := range map[string][]string{
		"plain": {"select gw.add_job('a', '1')",
			"select gw.add_job('a', '2', run_at => now() + interval '1 hour')"},
		"in a queue": {"select gw.add_job('a', '1', 'q')",
			"select gw.add_job('a', '2', 'r', run_at => now() + interval '1 hour')"},
		"limited": {
			"select gw.set_limit('l', tasks => '{a}', max_running => 5)", "select gw.add_job('a', '1')",
			"select gw.add_job('a', '2', run_at => now() + interval '1 hour')",
		},
		"limited, with keys": {
			"select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 5)",
			"select gw.add_job('a', '1')", "select gw.add_job('a', '2', run_at => now() + interval '1 hour')",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, acts...)
			claimAt := func(at string) string {
				t.Helper()
				got := ""
				for range 3 {
					got += pgtest.Value[string](t, p.pool,
						schema("select coalesce(string_agg(b.payload::text, ' ' order by b.id), '') from gw.get_job_batch('w', batch_size => 5, now => "+at+") as b"))
				}
				return got
			}
			if got := claimAt("now() - interval '1 hour'"); got != "" {
				t.Errorf("an hour ago: %q", got)
			}
			if got := claimAt("now()"); got != "1" {
				t.Errorf("now: %q", got)
			}
			if got := claimAt("now() + interval '2 hours'"); got != "2" {
				t.Errorf("in two hours: %q", got)
			}
			p.do("select gw.complete_job('w', id) from gw.jobs where locked_by = 'w'")
			if left := pgtest.Value[int](t, p.pool, schema("select count(*) from gw._private_jobs")); left != 0 {
				t.Errorf("%d are left", left)
			}
		})
	}
}
