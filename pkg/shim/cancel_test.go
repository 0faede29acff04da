package shim_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// beatQuickly makes workers send ten heartbeats a second.
func (q *queue) beatQuickly() {
	q.t.Helper()
	q.exec(`select graphile_worker.set_setting('beat_every', '100 milliseconds')`)
}

// awaitBeats waits until a worker has sent a heartbeat after now and got its answer.
func (q *queue) awaitBeats() {
	q.t.Helper()
	for range 2 { // the second begins after the answer to the first
		now := value[time.Time](q, `select clock_timestamp()`)
		q.await(`select bool_and(last_seen_at > $1) from graphile_worker._gw_workers`, now)
	}
}

// Calls of administrators for a running job: most skip it; a heartbeat reports the others to the handler.
func TestWhatAnAdministratorDoesToAJobThatRuns(t *testing.T) {
	shared := newQueue(t)
	shared.beatQuickly()
	for statement, want := range map[string]struct {
		cause error // of the handler's context, nil for none
		left  string
	}{
		"select graphile_worker.complete_jobs('{1}')":                  {nil, "running 1/25, k"},
		"select graphile_worker.permanently_fail_jobs('{1}')":          {nil, "running 1/25, k"},
		"select graphile_worker.reschedule_jobs('{1}', attempts => 0)": {nil, "running 1/25, k"},
		"select graphile_worker.retry_jobs('{1}')":                     {nil, "running 1/25, k"},
		"select graphile_worker.remove_job('k')":                       {nil, "running 26/25, no key"},
		"select graphile_worker.cancel_jobs('{1}')":                    {shim.ErrCanceled, "failed 25/25, k"},
		"select graphile_worker.force_unlock_workers('{gw-one}')":      {shim.ErrLeaseLost, "running 2/25, k"},
		"delete from graphile_worker._private_jobs":                    {shim.ErrLeaseLost, "none"},
	} {
		t.Run(statement, func(t *testing.T) {
			q := &queue{t: t, pool: shared.pool, url: shared.url}
			q.exec(`truncate graphile_worker._private_jobs restart identity`)
			q.exec(`select graphile_worker.add_job('long', job_key => 'k')`)
			w := q.worker(shim.Config{WorkerID: "gw-one"})
			started, ended, goOn := make(chan struct{}, 2), make(chan error, 2), make(chan struct{})
			w.Handle("long", func(ctx context.Context, job *shim.Job) error {
				started <- struct{}{}
				select {
				case <-ctx.Done():
					ended <- context.Cause(ctx)
					return context.Cause(ctx)
				case <-goOn:
					return nil
				}
			})
			w.start()
			receive(t, started)
			q.exec(statement)
			if want.cause != nil {
				if cause := receive(t, ended); !errors.Is(cause, want.cause) {
					t.Errorf("the handler was ended by: %v", cause)
				}
			} else {
				q.awaitBeats()
			}
			q.await(`
				select coalesce(string_agg(format('%s %s/%s, %s', j.state, j.attempts, j.max_attempts, coalesce(j.key, 'no key')), ''), 'none') = $1
				  from graphile_worker.list_jobs() as j`, want.left)
			if len(ended) > 0 {
				t.Errorf("the handler was ended by: %v", <-ended)
			}
			close(goOn)
			w.stop()
		})
	}
}

func TestACanceledJobEndsAsItsHandlerSays(t *testing.T) {
	shared := newQueue(t)
	shared.beatQuickly()
	reason := errors.New("half done")
	for name, c := range map[string]struct {
		returns func(ctx context.Context) error
		outcome shim.Outcome
		left    string // last_error and payload of the job
	}{
		"done":      {func(context.Context) error { return nil }, shim.OutcomeCompleted, "none"},
		"the cause": {context.Cause, shim.OutcomePermanentlyFailed, "job canceled: wrong customer; [1,2]"},
		"another error": {func(context.Context) error { return reason }, shim.OutcomePermanentlyFailed,
			"job canceled: wrong customer: half done; [1,2]"},
		"a snooze": {func(context.Context) error { return shim.Snooze(time.Hour) }, shim.OutcomePermanentlyFailed,
			"job canceled: wrong customer: snoozed for 1h0m0s; [1,2]"},
		"a retry": {func(context.Context) error { return shim.RetryIn(0, reason) }, shim.OutcomePermanentlyFailed,
			"job canceled: wrong customer: half done; [1,2]"},
		"a part": {func(context.Context) error { return shim.Batch([]error{nil, reason}) },
			shim.OutcomePermanentlyFailed,
			"job canceled: wrong customer: Batch failures:\nhalf done; [2]"},
	} {
		t.Run(name, func(t *testing.T) {
			q := &queue{t: t, pool: shared.pool, url: shared.url}
			q.exec(`truncate graphile_worker._private_jobs`)
			w := q.worker(shim.Config{})
			events := record(w)
			started := make(chan struct{}, 2)
			w.Handle("long", func(ctx context.Context, _ *shim.Job) error {
				started <- struct{}{}
				<-ctx.Done()
				return c.returns(ctx)
			}, shim.Timeout(time.Hour))
			w.start()
			job := one(t)(q.client().Add(t.Context(), "long", []int{1, 2}, nil))
			receive(t, started)
			if canceled := many(t)(q.client().Cancel(t.Context(), "wrong customer", job.ID, 99)); len(canceled) != 1 ||
				canceled[0].ID != job.ID || canceled[0].LastError != "wrong customer" ||
				canceled[0].TaskIdentifier != "long" {
				t.Errorf("canceled %+v", canceled)
			}
			q.await(`select not exists (select from graphile_worker.jobs where locked_at is not null)`)
			w.stop()

			got := value[string](q, `
				select coalesce(string_agg(j.last_error || '; ' || j.payload::text, ''), 'none')
				  from graphile_worker.show_jobs(array[$1::bigint]) as j where j.state = 'failed'`, job.ID)
			if got != c.left {
				t.Errorf("left is %q, want %q", got, c.left)
			}
			w.logs.await(t, "WARN job canceled, handler context canceled", fmt.Sprintf("job_id=%d", job.ID),
				"reason=wrong customer")
			all := events()
			canceled, reported := only[shim.JobCanceled](all), only[shim.JobReported](all)
			if len(canceled) != 1 || canceled[0].Job.ID != job.ID || canceled[0].Reason != "wrong customer" {
				t.Errorf("the events are %+v", canceled)
			}
			if len(reported) != 1 || reported[0].Outcome != c.outcome {
				t.Errorf("reported %+v, want %s", reported, c.outcome)
			}
			if n := len(started); n > 0 {
				t.Errorf("it ran %d times more", n)
			}
		})
	}
}

// A handler that ignores its context runs to its end; the job does not run again.
func TestAHandlerThatDoesNotMindIsNotWaitedFor(t *testing.T) {
	q := newQueue(t)
	q.beatQuickly()
	w := q.worker(shim.Config{})
	started, goOn := make(chan struct{}, 2), make(chan struct{})
	w.Handle("long", func(context.Context, *shim.Job) error {
		started <- struct{}{}
		<-goOn
		return errors.New("it went wrong")
	})
	w.start()
	id := q.add("long", 1)
	receive(t, started)
	many(t)(q.client().Cancel(t.Context(), "", id))
	w.logs.await(t, "job canceled, handler context canceled")
	q.awaitBeats() // is told once
	close(goOn)
	q.await(`select state = 'failed' and last_error = 'job canceled: it went wrong' from graphile_worker.list_jobs()`)
	if lines, _ := w.logs.find("job canceled, handler context canceled"); len(lines) != 1 {
		t.Errorf("it is told %d times", len(lines))
	}
	w.stop()
}
