package shim_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/shim"
)

func TestJobsOfEveryTimeAreReadAndAdded(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		for _, at := range []string{
			"infinity", "-infinity", "294276-12-31 23:59:59.999999Z", "9999-12-31 23:59:59Z", "0044-03-15 BC",
			"4714-11-24 BC",
		} {
			id := value[int64](q, `select (graphile_worker.add_job('ok', run_at => $1::text::timestamptz)).id`, at)
			job, err := client.Job(t.Context(), id)
			if err != nil || job.ID != id {
				t.Errorf("a job due at %s is read as %+v, %v", at, job, err)
			}
		}
		for _, at := range []time.Time{
			time.Date(294276, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(12345, 6, 7, 8, 9, 10, 0, time.UTC),
		} {
			job, err := client.Add(t.Context(), "ok", nil, &shim.AddOptions{RunAt: at})
			if err != nil || !job.RunAt.Equal(at) {
				t.Errorf("a job added for %s is %+v, %v", at, job, err)
			}
		}
		if job, err := client.Add(t.Context(), "ok", nil,
			&shim.AddOptions{RunAt: time.Date(294277, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
			t.Errorf("a job added for a year that there is not is %+v", job)
		}
	})
}

func TestAWorkerRunsWhatIsDueSinceEver(t *testing.T) {
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec,
		pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			q := newQueue(t)
			q.exec(`select graphile_worker.add_job('ok', run_at => at::timestamptz)
			          from unnest('{-infinity,4714-11-24 BC,0044-03-15 BC,0001-01-01}'::text[]) as at`)
			w := q.workerOn(q.poolInMode(mode), shim.Config{})
			w.Handle("ok", func(_ context.Context, job *shim.Job) error {
				_ = job.Latency()
				return nil
			})
			w.start()
			q.await(`select not exists (select from graphile_worker.jobs)`)
			w.stop()
		})
	}
}
