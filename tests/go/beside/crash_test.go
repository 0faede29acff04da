package beside

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// age makes the locks of a job and of its queue older, up to or beyond four hours.
func (q *queue) age(id int64, age string) {
	q.t.Helper()
	q.exec("update graphile_worker._private_jobs set locked_at = now() - $2::interval where id = $1", id, age)
	q.exec(`
		update graphile_worker._private_job_queues
		   set locked_at = now() - $2::interval
		 where id = (select job_queue_id from graphile_worker._private_jobs where id = $1)`, id, age)
}

func TestJobsOfACrashedNodeWorkerComeToUsAfterFourHours(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	q.job("if side = 'node' then " + gate + " end if;")
	young, old := q.add("crash", "queue_name => 'young'"), q.add("crash", "queue_name => 'old'")
	open := q.shut()
	defer open()
	worker := q.node(nodegw.Options{Concurrency: 2}, "crash")
	q.await("select count(*) = 2 from graphile_worker.jobs where locked_by like 'pool-%'")
	worker.Kill()
	q.age(young, "3 hours 50 minutes")
	q.age(old, "4 hours 1 second")
	next := q.add("crash", "queue_name => 'old'")

	q.ours(shim.Config{}, "crash")
	q.await("select count(*) = 2 from ran")
	q.wantRuns("gw", map[int64]int{old: 2, next: 1})
	equal(t, "the younger lock is the dead worker's still", value[bool](q,
		"select locked_by like 'pool-%' and attempts = 1 from graphile_worker.jobs where id = $1", young), true)
}

func TestJobsOfOurCrashedWorkerComeToNodeAfterFourHours(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	young, old := q.add("crash", "queue_name => 'young'"), q.add("crash", "queue_name => 'old'")
	next := q.add("crash", "queue_name => 'old'")
	q.runAndKill()
	q.age(young, "3 hours 50 minutes")
	q.age(old, "4 hours 1 second")

	q.node(nodegw.Options{Preset: map[string]any{"minResetLockedInterval": 1, "maxResetLockedInterval": 100}}, "crash")
	q.await("select count(*) = 2 from ran")
	q.wantRuns("node", map[int64]int{old: 2, next: 1})
	equal(t, "the younger lock is the dead worker's still", value[bool](q,
		"select locked_by like 'gw-%' and attempts = 1 from graphile_worker.jobs where id = $1", young), true)
}

// Node frees every lock that is older than four hours; a worker of gw with longer jobs has renewed its locks before that.
func TestALeaseThatWasRenewedSurvivesNodesSweep(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	held, forgotten := q.add("crash", "queue_name => 'held'"), q.add("crash", "queue_name => 'forgotten'")
	q.exec("select graphile_worker.get_job_batch('worker', batch_size => 2)")
	q.age(held, "4 hours 1 second")
	q.age(forgotten, "4 hours 1 second")
	next := q.add("crash", "queue_name => 'held'")
	lease := value[int64](q, `
		select r.lease
		  from graphile_worker.jobs as j,
		       graphile_worker.renew_leases('worker', array[j.id], array[(extract(epoch from j.locked_at) * 1000000)::bigint]) as r
		 where j.id = $1`, held)

	q.node(nodegw.Options{Preset: map[string]any{"minResetLockedInterval": 1, "maxResetLockedInterval": 100}}, "crash")
	q.await("select count(*) = 1 from ran")
	q.wantRuns("node", map[int64]int{forgotten: 2})
	equal(t, "complete_job with the renewed lease",
		value[bool](q, "select graphile_worker.complete_job('worker', $1, $2)", held, lease), true)
	q.awaitEmpty()
	q.wantRuns("node", map[int64]int{next: 1})
	equal(t, "runs", value[int](q, "select count(*) from ran"), 2)
}

// wantRuns checks that these jobs, by their ids, ran in these attempts on one side. A freed job is due again, so that a job which
// waited after it in its queue may run first.
func (q *queue) wantRuns(side string, attempts map[int64]int) {
	q.t.Helper()
	for id, attempt := range attempts {
		if !value[bool](q, "select exists (select from ran where (side, id, attempt) = ($1, $2, $3))", side, id,
			attempt) {
			q.t.Errorf("attempt %d of job %d did not run on %s", attempt, id, side)
		}
	}
}

// runAndKill lets a gw-run claim two jobs of the task crash and kills it while they run.
func (q *queue) runAndKill() {
	q.t.Helper()
	tasks := q.t.TempDir()
	if err := os.WriteFile(filepath.Join(tasks, "crash"), []byte("#!/bin/sh\nexec sleep 600\n"), 0o755); err != nil {
		q.t.Fatal(err)
	}
	cmd := exec.Command(pgtest.Program(q.t, "gw-run"), "-c", q.url, "--tasks", tasks, "--jobs", "2")
	cmd.Stderr = q.t.Output()
	if err := cmd.Start(); err != nil {
		q.t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	q.await("select count(*) = 2 from graphile_worker.jobs where locked_by like 'gw-%'")
}
