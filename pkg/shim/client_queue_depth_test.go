package shim_test

import (
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

func TestAClientCountsTheJobs(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		q.exec(`select graphile_worker.add_job('a', run_at => now() - interval '1 hour')`)
		q.exec(`select graphile_worker.add_job('a', run_at => now() + interval '1 hour') from generate_series(1, 2)`)
		q.exec(`select graphile_worker.add_job('b') from generate_series(1, 3)`)
		q.exec(`select graphile_worker.get_job_batch('w', '{b}', 3)`)
		q.exec(`select graphile_worker.add_job('c') from generate_series(1, 4)`)
		q.exec(`update graphile_worker._private_jobs set attempts = max_attempts where id in (select id from graphile_worker.jobs where task_identifier = 'c')`)
		depth, err := client.QueueDepth(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if depth.OldestReady < time.Hour || depth.OldestReady > 2*time.Hour {
			t.Errorf("the oldest waits for %s", depth.OldestReady)
		}
		depth.OldestReady = 0
		if want := (shim.QueueDepth{Ready: 1, Scheduled: 2, Running: 3, Failed: 4}); depth != want {
			t.Errorf("there are %+v, want %+v", depth, want)
		}
	})
}
