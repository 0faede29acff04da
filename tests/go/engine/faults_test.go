package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

const (
	limitOfBoth  = "select gw.set_limit('both', tasks => '{a,b}', max_running => 2)"
	fiveOfEach   = "select gw.add_job(t, to_json(t || n)) from unnest('{a,b}'::text[]) as t, generate_series(1, 5) as n"
	laterTimes   = "update gw._private_jobs set run_at = now() - interval '1 minute' where locked_at is null"
	limitByField = "select gw.set_limit('both', tasks => '{a,b}', by => 'payload:c', max_running => 2)"
	fiveOfKeys   = `select gw.add_job(t, json_build_object('t', t, 'c', n % 2, 'n', n)) from unnest('{a,b}'::text[]) as t, generate_series(1, 5) as n`
)

// Whatever an operator does while jobs wait, each of them runs afterwards.
func TestNoActOfAnOperatorLosesJobs(t *testing.T) {
	for name, acts := range map[string][]string{
		"a pause of one of two tasks of a limit": {
			limitOfBoth, fiveOfEach, "select gw.pause('b')", "select gw.resume('b')",
		},
		"a pause of one of two tasks of a limit by key": {
			limitByField, fiveOfKeys, "select gw.pause('b')", "select gw.resume('b')",
		},
		"a second limit for one of two tasks": {
			limitOfBoth, fiveOfEach, "select gw.set_limit('b', tasks => '{b}', max_running => 1)",
		},
		"a second limit for one of two tasks that is dropped": {
			limitOfBoth, fiveOfEach, "select gw.set_limit('b', tasks => '{b}', max_running => 1)",
			"select gw.drop_limit('b')",
		},
		"a dropped limit": {limitOfBoth, fiveOfEach, "select gw.drop_limit('both')"},
		"a limit that applies to one task less": {
			limitOfBoth, fiveOfEach, "select gw.set_limit('both', tasks => '{a}', max_running => 2)",
		},
		"a limit that applies to another task": {
			limitOfBoth, fiveOfEach, "select gw.set_limit('both', tasks => '{b,c}', max_running => 2)",
		},
		"a limit that has keys from now on": {
			limitOfBoth, fiveOfKeys, limitByField,
		},
		"a limit that has no keys from now on": {
			limitByField, fiveOfKeys, limitOfBoth,
		},
		"a limit that has other keys": {
			limitByField, fiveOfKeys, "select gw.set_limit('both', tasks => '{a,b}', by => 'payload:n', max_running => 1)",
		},
		"a limit for all tasks and a pause": {
			"select gw.set_limit('all', max_running => 2)", fiveOfEach, "select gw.pause('b')", "select gw.resume('b')",
		},
		"a limit for all tasks that is set later": {
			limitOfBoth, fiveOfEach, "select gw.set_limit('all', max_running => 1)",
		},
		"a limit for all tasks that is dropped": {
			limitOfBoth, "select gw.set_limit('all', max_running => 1)", fiveOfEach, "select gw.drop_limit('all')",
		},
		"a pause of everything": {limitOfBoth, fiveOfEach, "select gw.pause()", "select gw.resume()"},
		"a pause of the limit": {
			limitOfBoth, fiveOfEach, "select gw.pause(limit_name => 'both')", "select gw.resume(limit_name => 'both')",
		},
		"a pause of a key": {
			limitByField, fiveOfKeys, "select gw.pause(limit_name => 'both', lane => '1')",
			"select gw.resume(limit_name => 'both', lane => '1')",
		},
		"a limit set under jobs that wait": {fiveOfEach, limitOfBoth, "select gw.pause('b')", "select gw.resume('b')"},
		"a raw insert of jobs": {
			limitOfBoth, fiveOfEach, "delete from gw._private_jobs where task_id = (select id from gw._private_tasks where identifier = 'b')",
			`insert into gw._private_jobs (task_id, payload) select t.id, to_json('b' || n)
			   from gw._private_tasks as t, generate_series(1, 5) as n where t.identifier = 'b'`,
			"select gw.pause('b')", "select gw.resume('b')",
		},
		"other times and places of jobs, set by hand": {
			limitByField, fiveOfKeys, laterTimes, "update gw._private_jobs set priority = -id",
			"select gw.heartbeat('nobody')",
		},
	} {
		for _, claimed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, claims before each act %t", name, claimed), func(t *testing.T) {
				p := newPlay(t)
				var running []job
				for n, act := range acts {
					if claimed && n > 1 {
						running = append(running, p.one("w1", 1, "a")...)
						running = append(running, p.one("w2", 2)...)
					}
					p.do(act)
				}
				p.complete(running...)
				p.count("after all", append(running, p.drain("w")...), 10)
			})
		}
	}
}

// A transaction that began before a limit or a pause may add jobs after it.
func TestJobsOfOlderTransactionsRun(t *testing.T) {
	for name, acts := range map[string][]string{
		"a limit":          {limitOfBoth},
		"a pause":          {"select gw.pause('b')", "select gw.resume('b')"},
		"a changed limit":  {limitOfBoth, "select gw.set_limit('both', tasks => '{b}', max_running => 1)"},
		"a dropped limit":  {limitOfBoth, "select gw.drop_limit('both')"},
		"a limit for all":  {"select gw.set_limit('all', max_running => 1)"},
		"a second limit":   {limitOfBoth, "select gw.set_limit('b', tasks => '{b}', max_running => 1)"},
		"a limit for keys": {limitOfBoth, "select gw.set_limit('both', tasks => '{a,b}', by => 'payload:c', max_running => 1)"},
	} {
		for _, isolation := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead} {
			for early := range len(acts) {
				t.Run(fmt.Sprintf("%s, %s, before act %d", name, isolation, early+1), func(t *testing.T) {
					p := newPlay(t, "select gw.add_job(t, '0') from unnest('{a,b}'::text[]) as t")
					p.do(acts[:early]...)
					tx := p.begin(pgx.TxOptions{IsoLevel: isolation},
						"select gw.add_job('a', '1'), gw.add_job('b', '2', 'q')")
					p.do(acts[early:]...)
					p.beats(1)
					if _, err := tx.Exec(t.Context(),
						schema("select gw.add_job('a', '3'), gw.add_job('b', '4', job_key => 'k')")); err != nil {
						t.Fatal(err)
					}
					p.commit(tx)
					p.wants("all", p.drain("w"), "0", "0", "1", "2", "3", "4")
				})
			}
		}
	}
}

// Node's worker fails and completes jobs by statements of its own.
func TestJobsThatNodeGivesBackRun(t *testing.T) {
	const fail = `update gw._private_jobs set last_error = 'broken', run_at = now(), locked_by = null, locked_at = null where locked_by = 'node'`
	for name, acts := range map[string][]string{
		"a limit":          {limitOfBoth, fail},
		"before a limit":   {fail, limitOfBoth},
		"a pause":          {"select gw.pause('b')", fail, "select gw.resume('b')"},
		"a dropped limit":  {limitOfBoth, fail, "select gw.drop_limit('both')"},
		"a limit for keys": {limitByField, fail},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, fiveOfKeys,
				"update gw._private_jobs set locked_by = 'node', locked_at = now(), attempts = 1 where payload ->> 'n' in ('1', '2')")
			p.do(acts...)
			p.count("all", p.drain("w"), 10)
		})
	}
}

// A claim that is open while a limit changes knows the limit as it was.
func TestALimitMayChangeWhileAClaimIsOpen(t *testing.T) {
	for name, act := range map[string]string{
		"dropped":    "select gw.drop_limit('both')",
		"set":        "select gw.set_limit('more', tasks => '{b}', max_running => 1)",
		"other keys": "select gw.set_limit('both', tasks => '{a,b}', by => 'payload:n', max_running => 1)",
		"paused":     "select gw.pause('b')",
	} {
		for _, rolled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, rolled back %t", name, rolled), func(t *testing.T) {
				p := newPlay(t, limitByField, fiveOfKeys)
				tx := p.begin(pgx.TxOptions{})
				if _, err := tx.Exec(t.Context(),
					schema("select gw.get_job_batch('open', batch_size => 2)")); err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() { // waits for the claim, if it must
					_, err := p.pool.Exec(t.Context(), schema(act))
					done <- err
				}()
				select {
				case err := <-done:
					if err != nil {
						t.Fatal(err)
					}
					done <- nil
				case <-time.After(200 * time.Millisecond): // a moment in which it may go wrong
				}
				if rolled {
					if err := tx.Rollback(t.Context()); err != nil {
						t.Fatal(err)
					}
				} else {
					p.commit(tx)
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				want := 10
				if !rolled {
					want = 8
				}
				p.do("select gw.complete_job('open', id) from gw.jobs where locked_by = 'open'")
				p.do("select gw.resume('b')")
				p.count("all", p.drain("w"), want)
			})
		}
	}
}

// A named queue runs one job at a time, in order, whatever is paused, resumed or limited meanwhile.
func TestANamedQueueIsSerialThroughPausesAndLimits(t *testing.T) {
	const threeInAQueue = "select gw.add_job(t, to_json(n), 'q', run_at => now() - interval '1 hour' + n * interval '1 s') from unnest('{a,b,a}'::text[]) with ordinality as u (t, n)"
	for name, acts := range map[string][]string{
		"a pause of the queue":      {"select gw.pause(queue => 'q')", "select gw.resume(queue => 'q')"},
		"a pause of a task":         {"select gw.pause('a')", "select gw.resume('a')"},
		"a pause of the other task": {"select gw.pause('b')", "select gw.resume('b')"},
		"both pauses": {"select gw.pause(queue => 'q')", "select gw.pause('b')",
			"select gw.resume(queue => 'q')", "select gw.resume('b')"},
		"a pause of everything": {"select gw.pause()", "select gw.resume()"},
		"a limit":               {"select gw.set_limit('l', tasks => '{a}', max_running => 5)"},
		"a limit that is dropped": {"select gw.set_limit('l', tasks => '{a,b}', max_running => 5)",
			"select gw.drop_limit('l')"},
		"a limit for all that is dropped": {"select gw.set_limit('l', max_running => 5)", "select gw.drop_limit('l')"},
		"a limit with keys that change":   {"select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 5)", "select gw.set_limit('l', tasks => '{b}', max_running => 5)"},
		"a pause of the queue, then again": {"select gw.pause(queue => 'q')",
			"select gw.pause(queue => 'q', reason => 'again')", "select gw.resume(queue => 'q')"},
	} {
		for _, running := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, while a job runs %t", name, running), func(t *testing.T) {
				p := newPlay(t, threeInAQueue)
				var now []job
				if running {
					now = p.one("first", 1)
					p.wants("first", now, "1")
				}
				for _, act := range acts {
					p.do(act)
					more := p.claim("next", 5)
					if len(now)+len(more) > 1 {
						t.Errorf("after %s run %q", act, payloadsOf(append(now, more...)))
					}
					now = append(now, more...)
				}
				var order []string
				for range 4 {
					order = append(order, payloadsOf(now)...)
					p.complete(now...)
					now = p.claim("next", 5)
					if len(now) > 1 {
						t.Errorf("%d run at once", len(now))
					}
				}
				overtaken := name == "a pause of a task" && !running // as documented: jobs of other tasks go on
				if got := fmt.Sprint(order); got != "[1 2 3]" && !(overtaken && got == "[2 1 3]") {
					t.Errorf("order %q\n%s", order, p.left())
				}
			})
		}
	}
}

// A pause of a queue ends by itself while a job of the queue runs, or before the next claim.
func TestAQueueIsSerialWhenItsPauseEndsByItself(t *testing.T) {
	for _, paused := range []string{"queue => 'q'", "task => 'a'"} {
		for _, running := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, running %t", paused, running), func(t *testing.T) {
				p := newPlay(t, "select gw.add_job('a', to_json(n), 'q', run_at => now() - interval '1 hour' + n * interval '1 s') from generate_series(1, 3) as n")
				var now []job
				if running {
					now = p.one("first", 1)
				}
				p.do("select gw.pause(" + paused + ", until => clock_timestamp() + interval '1 s')")
				const ended = "select not exists (select from graphile_worker._gw_pauses where until > clock_timestamp())"
				more := p.one("next", 5)
				if len(more) > 0 && !pgtest.Value[bool](t, p.pool, ended) {
					t.Errorf("while paused run %q", payloadsOf(more))
				}
				pgtest.Await(t, p.pool, ended)
				more = append(more, p.claim("next", 5)...)
				if len(now)+len(more) != 1 {
					t.Errorf("after the pause run %q", payloadsOf(append(now, more...)))
				}
				p.complete(append(now, more...)...)
				rest := p.drain("next")
				p.count("the rest", rest, 2)
			})
		}
	}
}

// A job of a paused queue that ends leaves the queue to the pause, and Node cannot take it either.
func TestAPausedQueueIsNotFreeWhenItsJobEnds(t *testing.T) {
	for name, end := range map[string]string{
		"complete":            "select gw.complete_job($1, $2, $3)",
		"fail":                "select gw.fail_job($1, $2, 'x', $3, retry_in => interval '0')",
		"return":              "select gw.return_job($1, $2, $3)",
		"complete in a batch": "select gw.complete_job_batch($1, array[$2::bigint], array[$3::bigint])",
		"force_unlock":        "select gw.force_unlock_workers(array[$1]) from (select $2::bigint, $3::bigint) as u",
		"as unknown":          "select gw.return_unknown_jobs($1, '{}') from (select $2::bigint, $3::bigint) as u",
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, "select gw.add_job('a', to_json(n), 'q') from generate_series(1, 3) as n")
			now := p.one("w", 1)
			p.do("select gw.pause(queue => 'q')")
			p.end(end, now...)
			if more := p.claim("w", 5); len(more) > 0 {
				t.Errorf("in a paused queue start %q", payloadsOf(more))
			}
			if pgtest.Value[bool](t, p.pool, schema(`
				select exists (select from gw._private_job_queues as q join gw._private_jobs as j on j.job_queue_id = q.id where q.is_available and j.is_available)`)) {
				t.Error("Node sees jobs of the queue")
			}
			p.do("select gw.resume(queue => 'q')")
			if len(p.drain("w")) < 2 {
				t.Errorf("after the pause\n%s", p.left())
			}
		})
	}
}

// A pause of a queue may come before the queue's first job, and after Node has removed the row of an empty queue.
func TestAQueueMayBePausedBeforeItHasJobs(t *testing.T) {
	p := newPlay(t, "select gw.pause(queue => 'q')", "select gw.cleanup('{GC_JOB_QUEUES}')",
		"select gw.add_job('a', '1', 'q')", "select gw.add_job('a', '2', 'r')")
	p.wants("beside the pause", p.drain("w"), "2")
	p.do("select gw.resume(queue => 'q')")
	p.wants("after it", p.drain("w"), "1")
}

// A rate that was changed is the one that counts, at once.
func TestANewRateCountsAtOnce(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', rate => 1, per => '1 hour')",
		"select gw.add_job('a', to_json(n)) from generate_series(1, 5) as n")
	p.count("the first burst", p.claim("w", 5), 1)
	p.count("before the change", p.claim("w", 5), 0)
	p.do("select gw.set_limit('l', tasks => '{a}', rate => 100, per => '1 s')")
	p.count("after the change", p.drain("w"), 4) // one each 10 ms: the share of the burst that was used stays used
}

func TestNoChangeOfALimitGivesABurstTwice(t *testing.T) {
	for name, acts := range map[string][]string{
		"the same again":    {"select gw.set_limit('l', tasks => '{a}', rate => 3, per => '1 hour')"},
		"another task more": {"select gw.set_limit('l', tasks => '{a,b}', rate => 3, per => '1 hour')"},
		"all tasks":         {"select gw.set_limit('l', rate => 3, per => '1 hour')"},
		"a maximum, too":    {"select gw.set_limit('l', tasks => '{a}', max_running => 9, rate => 3, per => '1 hour')"},
		"longer":            {"select gw.set_limit('l', tasks => '{a}', rate => 3, per => '2 hours')"},
		"back and forth": {"select gw.set_limit('l', tasks => '{a}', rate => 3, per => '2 hours')",
			"select gw.set_limit('l', tasks => '{a}', rate => 3, per => '1 hour')"},
		"a pause":             {"select gw.pause(limit_name => 'l')", "select gw.resume(limit_name => 'l')"},
		"a pause of the task": {"select gw.pause('a')", "select gw.resume('a')"},
		"a second limit":      {"select gw.set_limit('m', tasks => '{a}', max_running => 9)"},
		"beats": {"select gw.register_worker('k')", "select gw.heartbeat('k')",
			"select gw.heartbeat('k')"},
		"fewer": {"select gw.set_limit('l', tasks => '{a}', rate => 1, per => '1 hour')",
			"select gw.set_limit('l', tasks => '{a}', rate => 3, per => '1 hour')"},
	} {
		for _, end := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, ended %t", name, end), func(t *testing.T) {
				p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', rate => 3, per => '1 hour')",
					"select gw.add_job('a', to_json(n)) from generate_series(1, 9) as n")
				first := p.all("w")
				p.count("the burst", first, 3)
				if end {
					p.complete(first...)
				}
				p.do(acts...)
				p.count("after the change", p.all("w"), 0)
			})
		}
	}
}

// A claimed job that goes back has not started.
func TestAReturnedJobGivesItsStartBack(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', rate => 2, per => '1 hour')",
		"select gw.add_job('a', to_json(n)) from generate_series(1, 3) as n")
	first := p.all("w")
	p.count("the burst", first, 2)
	p.end("select gw.return_job($1, $2, $3)", first[0])
	p.count("after the return", p.all("w"), 1)
	p.count("and no more", p.all("w"), 0)
}

// What an operator has set for a key, and what a worker has closed, outlives a change of the tasks and of the numbers.
func TestOverridesAndClosedKeysOutliveAChangeOfTasks(t *testing.T) {
	for name, act := range map[string]string{
		"tasks":   "select gw.set_limit('l', tasks => '{a,b}', by => 'payload:c', max_running => 1)",
		"all":     "select gw.set_limit('l', by => 'payload:c', max_running => 1)",
		"numbers": "select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1, total_running => 50)",
		"fair":    "select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1, fair => true)",
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1)",
				"select gw.override_lane('l', 'x', max_running => 3)",
				`select gw.add_job('a', '{"c":"y"}')`)
			closing := p.one("w", 1)
			p.end("select gw.rate_limited_batch($1, array[$2::bigint], array[$3::bigint], '1 hour')", closing...)
			p.do(act, `select gw.add_job('a', json_build_object('c', c)) from unnest('{x,y,z}'::text[]) as c, generate_series(1, 5) as n`)
			p.wants("after the change", p.all("w"), `{"c" : "x"}`, `{"c" : "x"}`, `{"c" : "x"}`, `{"c" : "z"}`)
			p.do("select gw.open_lane('l', 'y')")
			p.count("after open_lane", p.all("w"), 1)
		})
	}
}

// A failure may replace the payload, and so the key of a job.
func TestAFailureWithAnotherPayloadDoesNotLetTwoJobsRun(t *testing.T) {
	for replacement, starts := range map[string]int{`{"c":"y"}`: 0, `{}`: 1, `{"c":"x"}`: 1, `{"c":null}`: 1} {
		t.Run(replacement, func(t *testing.T) {
			p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1)",
				`select gw.add_job('a', '{"c":"x"}')`, `select gw.add_job('a', '{"c":"y"}')`,
				`select gw.add_job('a', '{"c":"y"}')`)
			now := p.all("w")
			p.count("one of each key", now, 2)
			p.end(`select gw.fail_job_batch($1, json_build_array(json_build_object('id', $2::bigint, 'lease', $3::bigint, 'message', 'm', 'payload', '`+
				replacement+`'::json, 'retry_in', 0)))`, now[0])
			more := p.all("w")
			p.count("beside the job of y", more, starts)
			p.complete(append(more, now[1])...)
			p.count("the rest", p.drain("w"), 2-starts)
		})
	}
}

// What an operator deletes or changes by hand is mended within two heartbeats.
func TestRawChangesAreMendedWithinTwoBeats(t *testing.T) {
	for name, change := range map[string]string{
		"running jobs are deleted":    "delete from gw._private_jobs where locked_at is not null",
		"running jobs are freed":      "update gw._private_jobs set locked_at = null, locked_by = null where locked_at is not null",
		"all jobs are freed, by Node": "update gw._private_jobs set locked_at = null, locked_by = null, run_at = greatest(run_at, now()) where locked_at < now() + interval '1 day'",
		"waiting jobs are moved":      "update gw._private_jobs set run_at = now() - interval '1 day', priority = -1 where locked_at is null",
		"payloads are replaced":       `update gw._private_jobs set payload = '{"c":"other"}' where locked_at is null`,
		"they lose their number":      "update gw._private_jobs set job_queue_id = null",
		"they get a wrong number":     "update gw._private_jobs set job_queue_id = -77 where locked_at is null",
		"lanes of other tasks":        "update gw._private_jobs set task_id = (select id from gw._private_tasks where identifier = 'b') where locked_at is null",
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, "select gw.add_job('b', '{}')", limitByField,
				`select gw.add_job('a', json_build_object('c', n % 2)) from generate_series(1, 12) as n`)
			now := p.all("w")
			before := pgtest.Value[int](t, p.pool,
				schema("select count(*) from gw._private_jobs where locked_at is null"))
			if before != 8 || len(now) != 5 {
				t.Fatalf("%d wait, %d run", before, len(now))
			}
			p.do(change)
			p.beats(2)
			left := pgtest.Value[int](t, p.pool,
				schema("select count(*) from gw._private_jobs where locked_at is null"))
			p.do("select gw.complete_job('w', id) from gw.jobs where locked_by = 'w'")
			p.count("all", p.drain("v"), left)
		})
	}
}

// No job that a limit forbids starts, in whichever order limit and jobs come.
func TestALimitCountsWhatRunsWhenItIsSet(t *testing.T) {
	p := newPlay(t, "select gw.register_worker('w')", fiveOfEach)
	now := p.one("w", 2)
	p.do("select gw.set_limit('both', tasks => '{a,b}', max_running => 3)")
	p.count("beside two that run", p.all("w"), 1)
	p.complete(now...)
	p.count("after they have ended", p.all("w"), 2)
}

// A limited job in a named queue runs in order, and counts at the limit.
func TestAJobOfANamedQueueObeysALimit(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', max_running => 1)",
		"select gw.add_job('a', to_json('q' || n), 'q', run_at => now() - interval '1 hour' + n * interval '1 s') from generate_series(1, 2) as n",
		"select gw.add_job('a', to_json('r' || n), 'r', run_at => now() - interval '50 min' + n * interval '1 s') from generate_series(1, 2) as n",
		"select gw.add_job('a', to_json('p' || n), run_at => now() - interval '40 min' + n * interval '1 s') from generate_series(1, 2) as n")
	var order []string
	for range 7 {
		now := p.claim("w", 5)
		if len(now) > 1 {
			t.Errorf("run at once: %q", payloadsOf(now))
		}
		order = append(order, payloadsOf(now)...)
		p.count("beside it", p.claim("v", 5), 0)
		p.complete(now...)
	}
	slices.Sort(order)
	if fmt.Sprint(order) != `["p1" "p2" "q1" "q2" "r1" "r2"]` {
		t.Errorf("order %q\n%s", order, p.left())
	}
}
