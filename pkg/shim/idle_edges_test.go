package shim_test

import (
	"context"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// Each state of the queue has nothing to do for a worker of the task ok that forbids the flag forbidden, though it
// polls but once an hour.
var idleStates = map[string]string{
	"jobs that are never due": `
		select graphile_worker.add_job('ok', run_at => 'infinity', queue_name => queue) from unnest(array['q', null]) as queue`,
	"a job at the end of year 9999": `
		select graphile_worker.add_job('ok', run_at => '9999-12-31')`,
	"a job in the last year": `
		select graphile_worker.add_job('ok', run_at => '294276-12-31', queue_name => 'q')`,
	"due jobs of other tasks": `
		select graphile_worker.add_job('other', run_at => now() - n * interval '1 second') from generate_series(1, 200) as n`,
	"jobs of other tasks due since ever": `
		select graphile_worker.add_job('other', run_at => '-infinity') from generate_series(1, 100)`,
	"due jobs with a forbidden flag": `
		select graphile_worker.add_job('ok', flags => '{forbidden}') from generate_series(1, 100)`,
	"due jobs behind a locked queue": `
		select graphile_worker.add_job('ok', queue_name => 'busy') from generate_series(1, 100);
		update graphile_worker._private_job_queues set locked_at = now(), locked_by = 'somebody'`,
	"suspects of other tasks": `
		select graphile_worker.add_job('other') from generate_series(1, 10);
		insert into graphile_worker._gw_suspects (job_id) select j.id from graphile_worker.jobs as j;
		update graphile_worker._private_jobs set job_queue_id = -2`,
	"failed jobs": `
		select graphile_worker.add_job('ok', job_key => 'failed' || n) from generate_series(1, 10) as n;
		update graphile_worker._private_jobs set attempts = max_attempts`,
	"jobs of a worker that is not registered": `
		select graphile_worker.add_job('ok') from generate_series(1, 10);
		update graphile_worker._private_jobs set locked_at = now(), locked_by = 'stranger'`,
}

func TestWhateverIsInTheTableAnIdleWorkerAsksForJobsNoMore(t *testing.T) {
	pgtest.OnOneVersion(t)
	server := pgtest.Server(t, nil)
	for name, state := range idleStates {
		t.Run(name, func(t *testing.T) {
			q := newQueueOn(t, server)
			q.exec(`select graphile_worker.set_setting('beat_every', '100 milliseconds')`)
			q.exec(state)
			calls := &counter{beats: make(chan struct{}, 1000)}
			config := q.pool.Config()
			config.ConnConfig.Tracer = calls
			pool := q.poolOf(config)
			w := q.workerOn(pool, shim.Config{Concurrency: 4, ForbiddenFlags: []string{"forbidden"}})
			w.Handle("ok", func(context.Context, *shim.Job) error { return nil })
			w.start()
			for range 5 { // the start
				receive(t, calls.beats)
			}
			for try := 1; ; try++ { // while the databases of the other states are made, the worker asks whether that has ended
				calls.takeCounts()
				began := time.Now()
				for range 10 {
					receive(t, calls.beats)
				}
				claims, ticks, others := calls.takeCounts()
				minutes := int(time.Since(began)/time.Minute) + 1
				if claims <= 1 && ticks <= minutes &&
					len(others) <= 2*minutes { // a sweep a minute looks at the schema, too
					break
				}
				if try == 10 {
					t.Fatalf("during ten beats there were %d claims, %d cron ticks, and %q", claims, ticks, others)
				}
			}
			w.stop()
		})
	}
}
