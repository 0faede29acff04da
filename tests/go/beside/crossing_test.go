package beside

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// gate makes a job wait for an advisory lock while a test holds the lock.
const gate = "perform pg_advisory_xact_lock_shared(1);"

// shut closes the gate; open lets the jobs through.
func (q *queue) shut() (open func()) {
	q.t.Helper()
	conn, err := q.pool.Acquire(q.t.Context())
	if err != nil {
		q.t.Fatal(err)
	}
	if _, err := conn.Exec(q.t.Context(), "select pg_advisory_lock(1)"); err != nil {
		q.t.Fatal(err)
	}
	released := false
	open = func() {
		q.t.Helper()
		if released {
			return
		}
		released = true
		defer conn.Release()
		if _, err := conn.Exec(q.t.Context(), "select pg_advisory_unlock(1)"); err != nil {
			q.t.Error(err)
		}
	}
	return open
}

func (q *queue) awaitRunning(id int64) {
	q.t.Helper()
	q.await("select locked_at is not null from graphile_worker.jobs where id = $1", id)
	q.await("select exists (select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database()))")
}

func TestAJobThatOneSideFailedIsFinishedByTheOther(t *testing.T) {
	eachWay(t, func(q *queue, first, second side) {
		q.job("if attempt < 9 then raise exception 'not yet, says %', side; end if;")
		id := q.add("stubborn", `queue_name => 'q', max_attempts => 9`)
		q.tried(5)
		stop := first.start(q, "stubborn")
		for attempt := 6; attempt < 9; attempt++ {
			q.await(`select attempts = $2 and locked_at is null from graphile_worker.jobs where id = $1`, id, attempt)
			if !value[bool](q, `
				select last_error = 'not yet, says ' || $2
				       and run_at - exp(attempts) * interval '1 second' between now() - interval '1 minute' and now()
				  from graphile_worker.jobs where id = $1`, id, first.name) {
				q.t.Errorf("after attempt %d: wrong run_at or last_error", attempt)
			}
			if attempt < 8 {
				q.exec("select graphile_worker.reschedule_jobs(array[$1::bigint], run_at => now())", id)
			}
		}
		stop()
		second.start(q, "stubborn")
		q.exec("select graphile_worker.reschedule_jobs(array[$1::bigint], run_at => now())", id)
		q.awaitEmpty()
		equal(q.t, "who ran it when", value[string](q, "select side || ' ' || attempt from ran"), second.name+" 9")
		equal(q.t, "the queue is free", value[bool](q, "select is_available from graphile_worker._private_job_queues"),
			true)
	})
}

func TestAJobThatOneSideFailedForGoodIsLeftAloneByTheOther(t *testing.T) {
	eachWay(t, func(q *queue, first, second side) {
		q.job("if task = 'hopeless' then raise exception 'no'; end if;")
		id := q.add("hopeless", `max_attempts => 1`)
		stop := first.start(q, "hopeless", "after")
		q.await("select last_error = 'no' and locked_at is null and attempts = 1 from graphile_worker.jobs where id = $1", id)
		stop()
		q.exec("update graphile_worker._private_jobs set run_at = now() where id = $1", id)
		second.start(q, "hopeless", "after")
		q.add("after", "priority => 1")
		q.await("select count(*) = 1 from ran")
		equal(q.t, "attempts", value[int](q, "select attempts from graphile_worker.jobs where id = $1", id), 1)
	})
}

func TestBothSidesRunJobsInTheSameOrder(t *testing.T) {
	for _, side := range []side{nodeSide, ourSide} {
		t.Run(side.name, func(t *testing.T) {
			t.Parallel()
			q := newQueue(t)
			q.exec(`
				select graphile_worker.add_job('ordered', queue_name => case when n % 3 = 0 then 'q' || n end,
				                               run_at => now() - n % 7 * interval '1 minute', priority => n % 5 - 2)
				  from generate_series(1, 35) as n`)
			want := values[int64](q, "select id from graphile_worker.jobs order by priority, run_at")
			side.start(q, "ordered")
			q.awaitEmpty()
			if got := values[int64](q, "select id from ran order by number"); !slices.Equal(got, want) {
				t.Errorf("the jobs ran as %v, want %v", got, want)
			}
		})
	}
}

// Node runs jobs with the same priority and run_at in the order of their rows in the table, where one that was returned comes
// last.
func TestOnlyOurSideRunsJobsOfTheSameTimeInTheOrderOfTheirIDs(t *testing.T) {
	for _, c := range []struct {
		side side
		want []int64
	}{
		{nodeSide, []int64{2, 3, 1}},
		{ourSide, []int64{1, 2, 3}},
	} {
		t.Run(c.side.name, func(t *testing.T) {
			t.Parallel()
			q := newQueue(t)
			q.exec(`
				select graphile_worker.add_jobs(array_fill(
				  row('same', '{}', 'queue', null, null, null, null, null)::graphile_worker.job_spec, array[3]))`)
			equal(t, "the job that is returned",
				value[int64](q, "select id from graphile_worker.get_job_batch('gone', batch_size => 1)"), 1)
			q.exec("select from graphile_worker.return_job_batch('gone', array[1])")
			c.side.start(q, "same")
			q.awaitEmpty()
			if got := values[int64](q, "select id from ran order by number"); !slices.Equal(got, c.want) {
				t.Errorf("the jobs ran as %v, want %v", got, c.want)
			}
		})
	}
}

func TestFlagsThatEitherSideGivesHoldOnTheOther(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	slow := q.add("a", `flags => array['slow', 'big']`)
	big := q.addFromNode("a", nil, map[string]any{"flags": []string{"big"}})
	q.node(nodegw.Options{ForbiddenFlags: []string{"slow"}}, "a")
	q.await("select count(*) = 1 from ran")
	equal(t, "the job that Node ran", value[int64](q, "select id from ran"), big)
	q.await("select count(*) = 1 from graphile_worker.jobs")

	big = q.addFromNode("b", nil, map[string]any{"flags": []string{"big"}})
	claimed := `select coalesce(min(id), 0) from graphile_worker.get_job('worker', forbidden_flags => $1)`
	equal(t, "the job without the flag slow", value[int64](q, claimed, []string{"slow"}), big)
	equal(t, "the job without the flag big", value[int64](q, claimed, []string{"big"}), 0)
	equal(t, "the job without the flag small", value[int64](q, claimed, []string{"small"}), slow)
}

func TestABatchThatOneSideFinishedInPartIsFinishedByTheOther(t *testing.T) {
	const failOdd = `return payload.map(async (n) => { if (n % 2) throw new Error("odd " + n); });`
	t.Run("Node first", func(t *testing.T) {
		t.Parallel()
		q := newQueue(t)
		// Arrays with the same key are merged, whichever side adds them.
		id := q.add("batch", `'[1, 2]', job_key => 'k'`)
		equal(t, "the job under the key", q.addFromNode("batch", []int{3, 4}, map[string]any{"jobKey": "k"}), id)
		q.tried(5)
		worker := nodegw.Start(t, nodegw.Options{DatabaseURL: q.url, Tasks: map[string]string{"batch": failOdd}})
		q.await("select locked_at is null and attempts = 6 from graphile_worker.jobs where id = $1", id)
		worker.Stop()
		equal(t, "last_error", value[string](q, "select last_error from graphile_worker.jobs"),
			"Batch failures:\nodd 1\nodd 3")

		q.exec("select graphile_worker.reschedule_jobs(array[$1::bigint], run_at => now())", id)
		q.ours(shim.Config{}, "batch")
		q.awaitEmpty()
		equal(t, "what our worker got", value[string](q, "select side || attempt || payload::jsonb from ran"),
			"gw7[1, 3]")
	})
	t.Run("ours first", func(t *testing.T) {
		t.Parallel()
		q := newQueue(t)
		id := q.addFromNode("batch", []int{2, 3, 4}, map[string]any{})
		worker, err := shim.New(pgtest.Pool(t, q.url), shim.Config{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		shim.HandleEach(worker, "batch", func(_ context.Context, n int, _ *shim.Job) error {
			if n%2 != 0 {
				return fmt.Errorf("odd %d", n)
			}
			return nil
		}, shim.Backoff(func(int) time.Duration { return time.Hour }))
		if err := worker.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "last_error", value[string](q, "select last_error from graphile_worker.jobs"),
			"Batch failures:\nodd 3")
		q.exec("select graphile_worker.reschedule_jobs(array[$1::bigint], run_at => now())", id)
		q.node(nodegw.Options{}, "batch")
		q.awaitEmpty()
		equal(t, "what Node got", value[string](q, "select id || ': ' || side || attempt || payload::jsonb from ran"),
			fmt.Sprintf("%d: node2[3]", id))
	})
}

func TestAWaitingJobIsReplacedThroughItsKeyByEitherSide(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	id := q.add("keyed", `'{"n":1}', job_key => 'k', run_at => '2100-01-01', priority => 3`)
	var job struct {
		ID       int64  `json:",string"`
		RunAt    string `json:"run_at"`
		Revision int
		Priority int
		Payload  struct{ N int }
	}
	for _, step := range []struct {
		spec               map[string]any
		revision, priority int
		n                  int
		runAt              string
	}{
		{map[string]any{"jobKey": "k", "jobKeyMode": "unsafe_dedupe", "priority": 9}, 1, 3, 1,
			"2100-01-01T00:00:00.000Z"},
		{map[string]any{"jobKey": "k", "jobKeyMode": "preserve_run_at", "priority": 4}, 2, 4, 2,
			"2100-01-01T00:00:00.000Z"},
		{map[string]any{"jobKey": "k", "runAt": "2101-01-01T00:00:00Z"}, 3, 0, 2, "2101-01-01T00:00:00.000Z"},
	} {
		result := nodegw.Utils(t, nodegw.V18, q.url, "", nodegw.Call{"addJob", "keyed", map[string]any{"n": 2},
			step.spec})[0]
		if err := json.Unmarshal(result, &job); err != nil {
			t.Fatal(err)
		}
		if job.ID != id || job.Revision != step.revision || job.Priority != step.priority || job.Payload.N != step.n ||
			job.RunAt != step.runAt {
			t.Errorf("addJob with %v returns %s", step.spec, result)
		}
	}
	q.exec(`select graphile_worker.add_job('keyed', '{"n":3}', job_key => 'k')`)
	q.node(nodegw.Options{}, "keyed")
	q.awaitEmpty()
	equal(t, "what ran", value[string](q, "select id || ' ' || (payload ->> 'n') from ran"), fmt.Sprintf("%d 3", id))
}

// The job with the key runs on one side and fails there after it was replaced from the other side.
func TestARunningJobThatIsReplacedNeverRunsAgain(t *testing.T) {
	eachWay(t, func(q *queue, runner, replacer side) {
		q.job("if payload ->> 'by' is null then " + gate + " raise exception 'too late'; end if;")
		old := q.add("keyed", `job_key => 'k', queue_name => 'q'`)
		open := q.shut()
		stop := runner.start(q, "keyed")
		q.awaitRunning(old)
		id := replacer.add(q, "keyed", "k")
		if id == old {
			q.t.Error("the running job was replaced in its place")
		}
		open()
		q.await("select count(*) = 1 from ran")
		equal(q.t, "the job that ran", value[int64](q, "select id from ran"), id)
		q.await("select count(*) = 1 from graphile_worker.jobs where locked_at is null and last_error = 'too late'")
		stop()
		wantDead(q, old)
	})
}

func TestARunningJobThatIsRemovedNeverRunsAgain(t *testing.T) {
	for _, runner := range []side{nodeSide, ourSide} {
		t.Run(runner.name, func(t *testing.T) {
			t.Parallel()
			q := newQueue(t)
			q.job(gate + " raise exception 'too late';")
			id := q.add("keyed", `job_key => 'k', queue_name => 'q'`)
			open := q.shut()
			stop := runner.start(q, "keyed")
			q.awaitRunning(id)
			equal(t, "the job that remove_job returns", value[int64](q, "select (graphile_worker.remove_job('k')).id"),
				id)
			open()
			q.await("select locked_at is null and last_error = 'too late' from graphile_worker.jobs")
			stop()
			wantDead(q, id)
		})
	}
}

func TestAWaitingJobOfEitherSideIsRemovedByItsKey(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	for _, side := range []side{nodeSide, ourSide} {
		id := side.add(q, "keyed", "k")
		equal(t, "the job that remove_job returns", value[int64](q, "select (graphile_worker.remove_job('k')).id"), id)
	}
	equal(t, "jobs left", value[int](q, "select count(*) from graphile_worker.jobs"), 0)
}

// tried sets the attempts of all jobs. The next failure then delays them for minutes, so that they do not run during a slow test.
func (q *queue) tried(attempts int) {
	q.t.Helper()
	q.exec("update graphile_worker._private_jobs set attempts = $1 where max_attempts > $1", attempts)
}

// wantDead checks that neither a worker nor an administrator's retry by time finds the job again.
func wantDead(q *queue, id int64) {
	q.t.Helper()
	q.exec("update graphile_worker._private_jobs set run_at = now() - interval '1 day' where id = $1", id)
	equal(q.t, "jobs that can still be claimed",
		value[int](q, "select count(*) from graphile_worker.get_job('worker')"), 0)
	equal(q.t, "the dead job has no key, no owner and no attempt left", value[bool](q, `
		select key is null and locked_by is null and attempts >= max_attempts from graphile_worker.jobs where id = $1`,
		id), true)
}

// Node's own administrative calls are made for a job that our worker runs.
func TestNodesAdminCallsLeaveOurRunningJobAlone(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	q.job(gate)
	id := q.add("running", "")
	open := q.shut()
	q.ours(shim.Config{}, "running")
	q.awaitRunning(id)
	const row = "select (j.*)::text from graphile_worker.jobs as j"
	before := value[string](q, row)
	ids := []int64{id}
	for i, result := range nodegw.Utils(t, nodegw.V18, q.url, "",
		nodegw.Call{"completeJobs", ids},
		nodegw.Call{"permanentlyFailJobs", ids, "no"},
		nodegw.Call{"rescheduleJobs", ids, map[string]any{"priority": 7, "attempts": 3}},
		nodegw.Call{"cleanup", map[string]any{"tasks": []string{"DELETE_PERMAFAILED_JOBS", "GC_JOB_QUEUES",
			"GC_TASK_IDENTIFIERS"}}}) {
		if i < 3 && string(result) != "[]" {
			t.Errorf("call %d acts on the running job: %s", i, result)
		}
	}
	equal(t, "the running job", value[string](q, row), before)
	open()
	q.awaitEmpty()
}

func TestAnOutcomeOfOursIsRefusedAfterAForcedUnlock(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	q.job("if attempt = 1 then " + gate + " end if;")
	id := q.add("running", "")
	open := q.shut()
	stop := q.ours(shim.Config{WorkerID: "ours"}, "running")
	q.awaitRunning(id)
	nodegw.Utils(t, nodegw.V18, q.url, "", nodegw.Call{"forceUnlockWorkers", []string{"ours"}})
	// The second attempt belongs to Node, and our late outcome of the first must not end it.
	q.exec("update graphile_worker._private_jobs set run_at = now() + interval '1 hour'")
	open()
	stop()
	equal(t, "the job is free, its attempt counted", value[bool](q,
		"select locked_by is null and attempts = 1 and last_error is null from graphile_worker.jobs where id = $1", id),
		true)
	q.node(nodegw.Options{}, "running")
	q.exec("select graphile_worker.reschedule_jobs(array[$1::bigint], run_at => now())", id)
	q.awaitEmpty()
	equal(t, "who ran it last", value[string](q, "select side || attempt from ran order by number desc limit 1"),
		"node2")
}
