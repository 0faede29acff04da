package gotest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
)

// A claim skips rows that another session has locked, without waiting. It takes no job of a queue whose head is locked, because
// the next job must not overtake it. After the other session has ended, the skipped jobs can be claimed.
func TestClaimsNeverWait(t *testing.T) {
	const byKey = " from graphile_worker.jobs where key = '%s'"
	db := newDatabase(t)
	claimer := db.session()
	claimer.exec("set lock_timeout = '1s'") // The other session waits for the claim; so a wait would not end before.
	everything := []string{"plain", "head", "other"}
	for _, c := range []struct {
		name      string
		isolation string
		open      string
		claimed   []string // while the transaction is open
		left      []string // once it is rolled back
	}{
		{"a locked job", readCommitted, "select from graphile_worker._private_jobs where key = 'plain' for update",
			[]string{"head", "other"}, []string{"plain"}},
		{"a locked head of a queue", readCommitted,
			"select from graphile_worker._private_jobs where key = 'head' for update", []string{"plain", "other"},
			[]string{"head"}},
		{"a locked queue", readCommitted, "select from graphile_worker._private_job_queues where queue_name = 'queue' for update", []string{"plain", "other"}, []string{"head"}},
		{"a replaced job", readCommitted, "select graphile_worker.add_job('task', job_key => 'plain')",
			[]string{"head", "other"}, []string{"plain"}},
		{"a replaced head", readCommitted, "select graphile_worker.add_job('task', job_key => 'head')",
			[]string{"plain", "other"}, []string{"head"}},
		{"a deduplicated head", readCommitted,
			"select graphile_worker.add_job('task', job_key => 'head', job_key_mode => 'unsafe_dedupe')",
			[]string{"plain", "other"}, []string{"head"}},
		{"a removed head", readCommitted, "select graphile_worker.remove_job('head')", []string{"plain", "other"},
			[]string{"head"}},
		{"a rescheduled head", readCommitted, "select graphile_worker.reschedule_jobs(array[id], run_at => 'infinity')" + fmt.Sprintf(byKey, "head"), []string{"plain", "other"}, []string{"head"}},
		{"a completed head", readCommitted, "select graphile_worker.complete_jobs(array[id])" +
			fmt.Sprintf(byKey, "head"), []string{"plain", "other"}, []string{"head"}},
		{"a failed head", readCommitted, "select graphile_worker.permanently_fail_jobs(array[id])" +
			fmt.Sprintf(byKey, "head"), []string{"plain", "other"}, []string{"head"}},
		{"another claim", readCommitted, "select graphile_worker.get_job_batch('first', batch_size => 2)",
			[]string{"other"}, []string{"plain", "head"}},
		{"an added job", readCommitted, "select graphile_worker.add_job('new', queue_name => 'new')", everything, nil},
		{"an added job in a queue", readCommitted,
			"select graphile_worker.add_job('task', queue_name => 'queue', priority => -1)", everything, nil},
		{"a locked task", readCommitted, "select from graphile_worker._private_tasks for update", everything, nil},
		{"a cleanup", readCommitted, "select graphile_worker.cleanup(array['GC_TASK_IDENTIFIERS', 'GC_JOB_QUEUES'])",
			everything, nil},
		{"all names held", readCommitted, "select pg_advisory_xact_lock(graphile_worker._gw_name_lock(kind, name::text)) from unnest(array['task', 'queue']) as kind, generate_series(1, 1000) as name", everything, nil},
		{"a sweep", readCommitted, "select graphile_worker.stale_sweep()", everything, nil},
		{"a registration", readCommitted, "select graphile_worker.register_worker('worker')", everything, nil},
		{"an added job above READ COMMITTED", repeatableRead,
			"select graphile_worker.add_job('task', queue_name => 'queue', priority => -1)", everything, nil},
		{"a replaced head above READ COMMITTED", repeatableRead,
			"select graphile_worker.add_job('task', job_key => 'head', queue_name => 'other')",
			[]string{"plain", "other"}, []string{"head"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			opener, claimer := db.in(t).sessionAt(c.isolation), claimer.in(t)
			makeUnusedNames(opener, "unused")
			opener.exec("select graphile_worker.add_job('task', job_key => 'plain')")
			opener.exec("select graphile_worker.add_job('task', job_key => 'head', queue_name => 'queue')")
			opener.exec("select graphile_worker.add_job('task', job_key => 'second', queue_name => 'queue')")
			opener.exec("select graphile_worker.add_job('task', job_key => 'other', queue_name => 'other')")
			opener.exec("update graphile_worker._gw_turns set last_at = '-infinity'")
			opener.exec("begin")
			opener.exec(c.open)

			if keys := claimKeys(claimer); !slices.Equal(keys, c.claimed) {
				t.Errorf("claimed %v, want %v", keys, c.claimed)
			}
			if jobs := claimer.claim("worker", 10); len(jobs) != 0 {
				t.Errorf("claimed %v, want nothing more", jobs)
			}
			if ids := all[int64](claimer, "select id from graphile_worker.get_job('worker', job_expiry => '1 day')"); len(ids) != 0 {
				t.Errorf("get_job claimed jobs %v, want nothing more", ids)
			}
			opener.exec("rollback")
			if keys := claimKeys(claimer); !slices.Equal(keys, c.left) {
				t.Errorf("then claimed %v, want %v", keys, c.left)
			}
			opener.exec("delete from graphile_worker._private_jobs")
			opener.exec("delete from graphile_worker._private_job_queues")
		})
	}
}

func claimKeys(s *session) []string {
	s.t.Helper()
	return all[string](s, "select key from graphile_worker.get_job_batch('worker', batch_size => 10)")
}

// A head that changes after a claim has read it, and before the claim locks it, is claimed only if it still may be claimed.
func TestClaimsGoByWhatTheHeadHasBecome(t *testing.T) {
	const claimSQL = "select key from graphile_worker.get_job_batch('worker', array['task'], 10, array['flag'])"
	db := newDatabase(t)
	changer := db.session()
	// Stops a claim that has its snapshot and has not locked the head yet.
	changer.mutate("_gw_lock_queued_jobs", "end) as n) as c\n",
		"end) as n) as c where (select count(*) from pg_advisory_xact_lock_shared(1)) = 1\n")
	for _, c := range []struct{ name, change string }{
		{"put off", "select graphile_worker.add_job('task', job_key => 'key', queue_name => 'queue', run_at => 'infinity')"},
		{"moved to a busy queue", "select graphile_worker.add_job('task', job_key => 'key', queue_name => 'busy')"},
		{"given to another task", "select graphile_worker.add_job('other', job_key => 'key', queue_name => 'queue')"},
		{"flagged", "select graphile_worker.add_job('task', job_key => 'key', queue_name => 'queue', flags => array['flag'])"},
		{"failed for good", "select graphile_worker.permanently_fail_jobs(array[id]) from graphile_worker.jobs where key = 'key'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changer, claimer := changer.in(t), db.in(t).session()
			changer.exec("select graphile_worker.add_job('task', job_key => 'first', queue_name => 'busy')")
			if keys := all[string](claimer, claimSQL); !slices.Equal(keys, []string{"first"}) {
				t.Fatalf("claimed %v, want [first]", keys)
			}
			changer.exec("select graphile_worker.add_job('task', job_key => 'key', queue_name => 'queue')")

			changer.exec("begin")
			changer.exec("select pg_advisory_xact_lock(1)")
			claim := start[string](claimer, claimSQL)
			claim.awaitBlocked(changer)
			changer.exec(c.change)
			changer.exec("commit")
			if keys, err := claim.end(); len(keys) != 0 || err != nil {
				t.Errorf("claimed %v, error %v; want nothing", keys, err)
			}
			changer.exec("delete from graphile_worker._private_jobs")
			changer.exec("update graphile_worker._private_job_queues set locked_at = null, locked_by = null")
		})
	}
}

// A task may be created while a claim runs. Its jobs must not be given the name of another task, whose handler would run them.
func TestAJobOfATaskThatIsCreatedDuringAClaimHasItsName(t *testing.T) {
	const claimSQL = "select task_identifier from graphile_worker.get_job_batch('worker', array['first', 'task', 'last'], 30)"
	for queue, add := range map[string]string{
		"without a queue": "select graphile_worker.add_job('task')",
	} {
		t.Run(queue, func(t *testing.T) {
			db := newDatabase(t)
			adder, claimer := db.session(), db.session()
			adder.exec("select graphile_worker.add_job('first'), graphile_worker.add_job('last')")
			if names := all[string](claimer, claimSQL); !slices.Equal(names, []string{"first", "last"}) {
				t.Fatalf("claimed %v, want [first last]", names)
			}

			adder.exec("begin")
			adder.exec("lock graphile_worker._gw_suspects") // which a claim reads in the statement that locks jobs
			claim := start[string](claimer, claimSQL)
			claim.awaitBlocked(adder)
			adder.exec(add)
			adder.exec("commit")
			if name := claim.value(); name != "task" {
				t.Errorf("the claimed job is of %s, want task", name)
			}
		})
	}
}

func TestQueuesAreSerialAndInOrderAndNoJobRunsTwice(t *testing.T) {
	queueRace{isolation: readCommitted, jobs: 2000, queues: 5, claimers: 8}.run(t)
}

// queueRace has claimers work on jobs of which every sixth or so has no queue.
type queueRace struct {
	isolation              string
	jobs, queues, claimers int
}

// execution is one run of a job, between two ticks of a clock that all claimers share.
type execution struct {
	id         int64
	start, end int64
}

func (r queueRace) run(t *testing.T) {
	db := newDatabase(t)
	db.watcher.exec(`
		select graphile_worker.add_jobs(array_agg(('task', null, 'queue ' || nullif(n % $2, 0), now(), null, null, null, null)::graphile_worker.job_spec order by n))
		  from generate_series(1, $1::integer) as n`, r.jobs, r.queues+1)
	var (
		clock, left atomic.Int64
		mu          sync.Mutex
		executions  = map[string][]execution{} // by queue
	)
	left.Store(int64(r.jobs))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	claiming, ctx := errgroup.WithContext(ctx)
	for c := range r.claimers {
		conn := db.sessionAt(r.isolation).conn
		claiming.Go(func() error {
			worker := fmt.Sprint("worker ", c)
			for left.Load() > 0 && ctx.Err() == nil {
				jobs, err := insist(r.isolation,
					func() ([]claimedJob, error) { return claim(ctx, conn, worker, 1+rand.IntN(5)) })
				if err != nil {
					return err
				}
				start := clock.Add(1)
				for _, job := range jobs {
					mu.Lock()
					executions[job.Queue] = append(executions[job.Queue], execution{job.ID, start, clock.Add(1)})
					mu.Unlock()
					if err := report(ctx, conn, r.isolation, "select graphile_worker.complete_job($1, $2, $3)", worker,
						job.ID, job.Lease); err != nil {
						return err
					}
					left.Add(-1)
				}
			}
			return nil
		})
	}
	if err := claiming.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := left.Load(); n != 0 {
		t.Errorf("%d jobs did not run within %v", n, patience)
	}
	checkExecutions(t, executions, r.jobs)
	if rows := one[int](db.watcher, "select count(*) from graphile_worker._private_jobs"); rows != 0 {
		t.Errorf("%d jobs are left", rows)
	}
	busy := one[int](db.watcher, "select count(*) from graphile_worker._private_job_queues where not is_available")
	if busy != 0 {
		t.Errorf("%d queues are still busy", busy)
	}
}

// checkExecutions reports jobs that ran twice or not at all, and jobs of a queue that ran at once or out of order.
func checkExecutions(t *testing.T, executions map[string][]execution, jobs int) {
	t.Helper()
	seen := map[int64]bool{}
	for queue, runs := range executions {
		for _, run := range runs {
			if seen[run.id] {
				t.Errorf("job %d ran twice", run.id)
			}
			seen[run.id] = true
		}
		if queue == "" {
			continue
		}
		slices.SortFunc(runs, func(a, b execution) int { return int(a.start - b.start) })
		for i, run := range runs[1:] {
			if before := runs[i]; run.start < before.end || run.id < before.id {
				t.Errorf("in %s, job %d ran from %d to %d, job %d from %d to %d",
					queue, before.id, before.start, before.end, run.id, run.start, run.end)
			}
		}
	}
	if len(seen) != jobs {
		t.Errorf("%d jobs ran, want %d", len(seen), jobs)
	}
}
