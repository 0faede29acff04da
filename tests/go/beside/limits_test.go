package beside

import (
	"testing"

	"github.com/gwsql/gw/pkg/shim"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// No worker of ours runs. Node frees the queue while it is paused, adds jobs to it, and unlocks workers and sweeps.
func TestNodeRunsNoJobOfAPausedQueue(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	q.job("if payload ->> 'gate' is not null then " + gate + " end if;")
	open := q.shut()
	running := q.add("work", `'{"gate":1}', queue_name => 'reports'`)
	waiting := q.add("work", `queue_name => 'reports'`)
	q.node(nodegw.Options{}, "work")
	q.awaitRunning(running)
	worker := value[string](q, "select locked_by from graphile_worker.jobs where id = $1", running)

	q.exec("select graphile_worker.pause(queue => 'reports', reason => 'a migration')")
	last := q.addFromNode("work", map[string]any{}, map[string]any{"queueName": "reports"})
	open()
	q.awaitRan(running)
	// A Node worker that runs this job would have run those of the queue before it.
	q.awaitRan(q.add("work", "priority => 10"))
	nodegw.Utils(t, nodegw.V18, q.url, "", nodegw.Call{"forceUnlockWorkers", []string{worker}})
	q.exec("select graphile_worker.stale_sweep()")
	q.awaitRan(q.add("work", "priority => 10"))
	equal(t, "jobs of the queue that ran", value[int](q, "select count(*) from ran where id between $1 and $2", running,
		last), 1)
	equal(t, "why a job waits", value[string](q, "select string_agg(reason, ', ') from graphile_worker.why($1)",
		waiting), "paused")

	q.exec("select graphile_worker.resume(queue => 'reports')")
	q.awaitEmpty()
	equal(t, "jobs that Node ran", value[int](q, "select count(*) from ran where side = 'node'"), 5)
}

// Node sees jobs of a paused task that have queue names.
func TestNodeRunsNoJobOfAPausedTaskWithoutAQueue(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	q.add("work", "")
	q.add("work", "")
	q.exec("select graphile_worker.pause(task => 'work')")
	q.node(nodegw.Options{}, "work", "other")
	q.addFromNode("work", map[string]any{}, map[string]any{})
	q.awaitRan(q.add("other", "priority => 10"))
	q.exec("select graphile_worker.resume(task => 'work')")
	q.awaitEmpty()
	equal(t, "the jobs in their order", value[string](q, "select string_agg(task, ' ' order by number) from ran"),
		"other work work work")
}

// Node does not see the jobs to which a limit applies, those that it has added itself and, once claims have met them, those that waited
// before.
func TestJobsThatNodeAddsAreLimited(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	q.job("perform pg_sleep(0.01);")
	q.exec("select graphile_worker.add_job('export', json_build_object('tenant', n % 2)) from generate_series(1, 20) as n")
	q.exec("select graphile_worker.set_limit('exports', tasks => '{export}', by => 'payload:tenant', max_running => 2)")
	calls := make([]nodegw.Call, 20)
	for n := range calls {
		calls[n] = nodegw.Call{"addJob", "export", map[string]any{"tenant": n % 2}}
	}
	q.ours(shim.Config{Concurrency: 10}, "export")
	q.await("select not exists (select from graphile_worker._private_jobs where is_available and job_queue_id is null)")
	q.node(nodegw.Options{Concurrency: 10}, "export", "other")
	nodegw.Utils(t, nodegw.V18, q.url, "", calls...)
	q.awaitRan(q.add("other", "priority => 10"))
	q.awaitEmpty()
	equal(t, "exports that ran", value[int](q, "select count(*) from ran where side = 'gw'"), 40)
	equal(t, "exports that Node ran", value[int](q, "select count(*) from ran where side = 'node' and task = 'export'"),
		0)
	equal(t, "exports of a tenant that ran at once", value[int](q, `
		select max(n)
		  from (select count(*) as n
		          from ran as r
		          join ran as o on o.task = r.task and o.payload ->> 'tenant' = r.payload ->> 'tenant' and r.began between o.began and o.ended
		         where r.task = 'export'
		         group by r.id) as r`), 2)
}
