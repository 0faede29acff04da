package shim_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

func TestProgressIsSentWithHeartbeats(t *testing.T) {
	q := newQueue(t)
	pgtest.Hurry(t, q.pool)
	w := q.worker(shim.Config{Concurrency: 3})
	let, done := make(chan struct{}), make(chan struct{})
	w.Handle("task", func(ctx context.Context, job *shim.Job) error {
		for percent := range 51 {
			if err := job.Progress(float64(percent), "halfway\x00"); err != nil {
				t.Error(err)
			}
		}
		receive(t, let)
		if err := shim.SetProgress(ctx, -1, ""); err != nil {
			t.Error(err)
		}
		receive(t, done)
		return nil
	})
	w.Handle("silent", func(context.Context, *shim.Job) error {
		receive(t, done)
		return nil
	})
	id, silent := q.add("task", 1), q.add("silent", 1)
	w.start()
	const shown = `select exists (select from graphile_worker.show_jobs(array[$1::bigint]) as s where `
	q.await(shown+`s.progress = 50 and s.progress_note = 'halfway')`, id)
	close(let)
	q.await(shown+`s.progress is null and s.progress_note is null and s.progress_at is not null)`, id)
	if n := value[int](q, `select count(*) from graphile_worker._gw_progress where job_id = $1`, silent); n != 0 {
		t.Error("a job without progress has some")
	}
	close(done)
	w.stop()
}

// A role without the right, for example, costs the progress but not the heartbeat.
func TestHeartbeatsContinueIfProgressCannotBeStored(t *testing.T) {
	q := newQueue(t)
	pgtest.Hurry(t, q.pool)
	q.exec(`drop function graphile_worker._gw_set_progress`)
	w := q.worker(shim.Config{})
	done := make(chan struct{})
	w.Handle("task", func(_ context.Context, job *shim.Job) error {
		if err := job.Progress(1, ""); err != nil {
			t.Error(err)
		}
		receive(t, done)
		return nil
	})
	q.add("task", 1)
	w.start()
	w.logs.await(t, "progress of jobs cannot be stored")
	q.await(`select last_seen_at > $1::timestamptz from graphile_worker._gw_workers`,
		value[string](q, `select now()::text`))
	close(done)
	w.stop()
}

func TestInvalidProgressIsRefused(t *testing.T) {
	job := &shim.Job{ID: 7}
	for _, percent := range []float64{-0.5, 100.5, math.NaN(), math.Inf(1)} {
		if err := job.Progress(percent, ""); err == nil || !strings.Contains(err.Error(), "must be between 0 and 100") {
			t.Errorf("%v: %v", percent, err)
		}
	}
	if err := job.Progress(100, strings.Repeat("ä", 1001)); err == nil ||
		!strings.Contains(err.Error(), "1001 characters") {
		t.Errorf("a long note: %v", err)
	}
	if err := shim.SetProgress(t.Context(), 1, ""); err == nil || !strings.Contains(err.Error(), "no job") {
		t.Errorf("outside of a handler: %v", err)
	}
	if err := job.Progress(100, strings.Repeat("ä", 1000)); err != nil {
		t.Error(err)
	}
}
