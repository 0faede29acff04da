package shim_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// An error may have any bytes, and a payload may have escapes that stand for no text. For each kind of failure, all
// that can be stored is stored, and one job does not delay the outcome of another.
func TestAnErrorOfAnyBytesIsStoredHoweverTheJobFails(t *testing.T) {
	q := newQueue(t)
	const (
		strange = "a\x00b\xffc\xed\xa0\x80d" // the last three bytes are how half a surrogate pair would be encoded
		stored  = "ab\uFFFDc\uFFFDd"
		payload = `["\u0000", "\ud800", "\ud83d\ude00"]`
	)
	errStrange := errors.New(strange)
	w := q.worker(shim.Config{Concurrency: 8})
	w.Handle("error", func(context.Context, *shim.Job) error { return errStrange })
	w.Handle("panic", func(context.Context, *shim.Job) error { panic(strange) })
	w.Handle("discard", func(context.Context, *shim.Job) error { return shim.Discard(errStrange) })
	w.Handle("retry", func(context.Context, *shim.Job) error { return shim.RetryIn(time.Hour, errStrange) })
	w.Handle("batch", func(context.Context, *shim.Job) error {
		return shim.Batch([]error{errStrange, errStrange,
			nil})
	})
	w.HandleMany("many", 2, func(_ context.Context, jobs []*shim.Job) []error {
		return []error{errStrange,
			errStrange}[:len(jobs)]
	})
	shim.HandleEach(w.Worker, "each", func(context.Context, string, *shim.Job) error { return errStrange })
	tasks := []string{"error", "panic", "discard", "retry", "batch", "many", "each"}
	q.exec(`select graphile_worker.add_job(task, $2::text::json) from unnest($1::text[]) as task`, tasks, payload)
	runOnce(t, w)

	for _, task := range tasks {
		got := value[string](q, `
			select coalesce(last_error, '') from graphile_worker.jobs where task_identifier = $1 and attempts > 0 and locked_at is null`, task)
		if !strings.Contains(got, stored) {
			t.Errorf("%s: the last error is %q", task, got)
		}
	}
	rest := value[string](q, `
		select p.payload::text from graphile_worker._private_jobs as p join graphile_worker.jobs as j using (id) where j.task_identifier = 'batch'`)
	if rest != `["\u0000","\ud800"]` {
		t.Errorf("what is left of the batch is %s", rest)
	}

	id := value[int64](q, `select id from graphile_worker.jobs where task_identifier = 'error'`)
	failed, err := shim.NewClient(q.pool, shim.ClientConfig{}).PermanentlyFail(t.Context(), strange, id)
	if err != nil || len(failed) != 1 || failed[0].LastError != stored {
		t.Errorf("failed for good: %+v, %v", failed, err)
	}
}
