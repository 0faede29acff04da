package beside

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// A later Node migration may replace our functions by Node's own, and users may write to the tables.
func TestEveryJobIsClaimedInOrderWithNodesOwnFunctionsAndAfterRawWrites(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	q.installNodesOwnFunctions()

	q.exec(`
		select graphile_worker.add_job('raw', queue_name => case when n % 2 = 0 then 'q' || n % 4 end, priority => n % 3,
		                               run_at => now() - n % 5 * interval '1 second', job_key => case when n % 7 = 0 then 'k' || n end)
		  from generate_series(1, 40) as n`)
	q.exec(`
		select graphile_worker.add_jobs(array_agg(
		         row('raw', '{}', case when n % 3 = 0 then 'q0' end, null, null, 'k' || n, n % 2, null)::graphile_worker.job_spec))
		  from generate_series(1, 40) as n`)
	q.wantAllClaimedInOrder("Node's own add_job and add_jobs", 75)

	q.exec(`select graphile_worker.add_job('raw', queue_name => 'q' || n % 3, priority => n) from generate_series(1, 12) as n`)
	q.exec(`insert into graphile_worker._private_job_queues (queue_name) values ('raw')`)
	q.exec(`
		insert into graphile_worker._private_jobs (task_id, job_queue_id, priority)
		select t.id, q.id, n % 5
		  from graphile_worker._private_tasks as t, graphile_worker._private_job_queues as q, generate_series(1, 10) as n
		 where q.queue_name = 'raw'`)
	q.wantAllClaimedInOrder("INSERT", 22)

	q.exec(`select graphile_worker.add_job('raw', queue_name => 'q' || n % 3, priority => n, run_at => '2100-01-01') from generate_series(1, 30) as n`)
	q.exec(`update graphile_worker._private_jobs set run_at = now() - id * interval '1 second', priority = id % 4`)
	q.exec(`update graphile_worker._private_jobs set job_queue_id = null where id % 5 = 0`)
	q.exec(`
		update graphile_worker._private_jobs as j set job_queue_id = r.id
		  from graphile_worker._private_job_queues as r where r.queue_name = 'raw' and j.id % 7 = 0`)
	q.wantAllClaimedInOrder("UPDATE", 30)

	q.exec(`select graphile_worker.add_job('raw', queue_name => 'q' || n % 3, priority => n) from generate_series(1, 30) as n`)
	q.exec(`update graphile_worker._private_job_queues set locked_at = now(), locked_by = 'somebody' where queue_name = 'q1'`)
	q.exec(`delete from graphile_worker._private_jobs as j where j.priority % 2 = 0`)
	q.exec(`update graphile_worker._private_job_queues set locked_at = null, locked_by = null where queue_name = 'q1'`)
	q.wantAllClaimedInOrder("DELETE", 15)

	q.exec(`select graphile_worker.add_job('raw', queue_name => 'q' || n % 3) from generate_series(1, 30) as n`)
	q.exec(`truncate graphile_worker._private_jobs, graphile_worker._private_job_queues`)
	q.exec(`select graphile_worker.add_job('raw', queue_name => case when n % 2 = 0 then 'q' || n % 3 end, priority => -n) from generate_series(1, 30) as n`)
	q.wantAllClaimedInOrder("TRUNCATE", 30)
}

// installNodesOwnFunctions replaces add_job and add_jobs by those of a schema that Node installed.
func (q *queue) installNodesOwnFunctions() {
	q.t.Helper()
	installed := pgtest.EmptyDatabase(q.t)
	nodegw.Migrate(q.t, nodegw.V18, installed, "")
	theirs := &queue{t: q.t, url: installed, pool: pgtest.Pool(q.t, installed)}
	const bodies = `
		select p.prosrc from pg_proc as p
		 where p.pronamespace = 'graphile_worker'::regnamespace and p.proname in ('add_job', 'add_jobs') order by p.proname`
	for _, definition := range values[string](theirs, `
		select pg_get_functiondef(p.oid) from pg_proc as p
		 where p.pronamespace = 'graphile_worker'::regnamespace and p.proname in ('add_job', 'add_jobs')`) {
		q.exec(definition)
	}
	if got := values[string](q, bodies); len(got) != 2 || !slices.Equal(got, values[string](theirs, bodies)) {
		q.t.Fatal("Node's functions have not replaced ours")
	}
}

// wantAllClaimedInOrder claims and completes all jobs one by one, and checks that there are n, in the order of priority, run_at and id,
// with and without a queue.
func (q *queue) wantAllClaimedInOrder(after string, n int) {
	q.t.Helper()
	want := values[int64](q, `select id from graphile_worker.jobs order by priority, run_at, id`)
	var got []int64
	for range n + 1 {
		id := value[int64](q, `select coalesce(min(id), 0) from graphile_worker.get_job('worker')`)
		if id == 0 {
			break
		}
		got = append(got, id)
		q.exec("select graphile_worker.complete_job('worker', $1)", id)
	}
	equal(q.t, fmt.Sprintf("jobs after %s", after), len(want), n)
	if !slices.Equal(got, want) {
		q.t.Errorf("after %s: claimed %v, want %v", after, got, want)
	}
}
