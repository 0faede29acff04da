package shim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// failing runs one job of max_attempts = 3 whose handler returns err, and returns its row: whether it runs again, its
// attempts, its last_error, and in how many seconds from the report it runs at the earliest.
func failing(q *queue, err error, options ...shim.TaskOption) (available bool, attempts int, lastError string, runIn float64) {
	q.t.Helper()
	w := q.worker(shim.Config{})
	w.Handle("task", func(context.Context, *shim.Job) error {
		// What run_at says later is then due to the outcome alone.
		q.exec(`create table reported as select clock_timestamp() as at`)
		return err
	}, options...)
	q.exec(`select graphile_worker.add_job('task', max_attempts => 3, run_at => now() - interval '1 day')`)
	runOnce(q.t, w)
	const row = `from graphile_worker._private_jobs`
	return value[bool](q, `select is_available `+row), value[int](q, `select attempts `+row),
		value[string](q, `select coalesce(last_error, '') `+row),
		value[float64](q, `select extract(epoch from run_at - (select at from reported))::float8 `+row)
}

func TestADiscardedJobFailsForGoodAtOnce(t *testing.T) {
	for name, err := range map[string]error{
		"plain":   shim.Discard(errors.New("no such customer")),
		"wrapped": fmt.Errorf("no such %w", shim.Discard(errors.New("customer"))),
		"outside": shim.Discard(shim.RetryIn(time.Hour, errors.New("no such customer"))),
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			available, attempts, lastError, _ := failing(q, err)
			if available || attempts != 3 || lastError != "no such customer" {
				t.Errorf("available %t, %d attempts, last error %q", available, attempts, lastError)
			}
		})
	}
}

func TestARetryComesWhenTheHandlerSays(t *testing.T) {
	for name, err := range map[string]error{
		"plain":   shim.RetryIn(time.Hour, errors.New("busy")),
		"wrapped": fmt.Errorf("%w", shim.RetryIn(time.Hour, errors.New("busy"))),
		"outside": shim.RetryIn(time.Hour, shim.Discard(errors.New("busy"))),
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			available, attempts, lastError, runIn := failing(q, err)
			if !available || attempts != 1 || lastError != "busy" || runIn < 3600 || runIn > 3660 {
				t.Errorf("available %t, %d attempts, last error %q, runs in %f s", available, attempts, lastError, runIn)
			}
		})
	}
}

func TestARetryMayComeAtOnceButNotAfterTheLastAttempt(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	var attempts []int
	w.Handle("task", func(_ context.Context, job *shim.Job) error {
		attempts = append(attempts, job.Attempts)
		return shim.RetryIn(-time.Hour, nil)
	})
	q.exec(`select graphile_worker.add_job('task', max_attempts => 3)`)
	runOnce(t, w)
	if !slices.Equal(attempts, []int{1, 2, 3}) {
		t.Errorf("attempts were %v", attempts)
	}
	if got := value[string](q, `select last_error from graphile_worker.jobs`); got != "to be tried again in 0s" {
		t.Errorf("last error is %q", got)
	}
}

func TestASnoozedJobWaitsWithoutHavingBeenTried(t *testing.T) {
	for name, err := range map[string]error{
		"plain":   shim.Snooze(time.Hour),
		"wrapped": fmt.Errorf("not yet: %w", shim.Snooze(time.Hour)),
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			available, attempts, lastError, runIn := failing(q, err)
			if !available || attempts != 0 || lastError != "" || runIn < 3600 || runIn > 3660 {
				t.Errorf("available %t, %d attempts, last error %q, runs in %f s", available, attempts, lastError, runIn)
			}
		})
	}
}

func TestJobsSnoozeForAsLongAsEachSays(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 10})
	shim.Handle(w.Worker, "task", func(_ context.Context, hours int, _ *shim.Job) error {
		return shim.Snooze(time.Duration(hours) * time.Hour)
	})
	q.exec(`select graphile_worker.add_job('task', to_json(1 + n % 3)) from generate_series(0, 29) as n`)
	runOnce(t, w)
	const wrong = `select count(*)
		from graphile_worker._private_jobs as j
		where round(extract(epoch from j.run_at - now()) / 3600) <> j.payload::text::integer or j.attempts <> 0 or j.locked_at is not null`
	if n := value[int](q, wrong); n != 0 || q.jobs() != 30 {
		t.Errorf("%d of %d jobs do not wait for as long as they said", n, q.jobs())
	}
}

// A job can be snoozed at its last attempt, and for ever.
func TestASnoozeUsesUpNoAttempt(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	calls := 0
	w.Handle("task", func(_ context.Context, job *shim.Job) error {
		if calls++; calls < 10 {
			return shim.Snooze(-time.Second)
		}
		if job.Attempts != 1 {
			t.Errorf("attempt %d", job.Attempts)
		}
		return nil
	})
	q.exec(`select graphile_worker.add_job('task', max_attempts => 1)`)
	runOnce(t, w)
	if n := q.jobs(); n != 0 || calls != 10 {
		t.Errorf("%d jobs are left after %d calls", n, calls)
	}
	w.logs.await(t, "INFO job snoozed", "duration_ms=", "retry_in_ms=0")
}

// A replaced job stays dead, whatever its handler wants.
func TestNeitherSnoozeNorRetryRevivesAReplacedJob(t *testing.T) {
	for name, err := range map[string]error{"snooze": shim.Snooze(0), "retry": shim.RetryIn(0, errors.New("again"))} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			w := q.worker(shim.Config{})
			calls := 0
			w.Handle("task", func(context.Context, *shim.Job) error {
				calls++
				q.exec(`select graphile_worker.add_job('task', job_key => 'k', run_at => now() + interval '1 hour')`)
				return err
			})
			q.exec(`select graphile_worker.add_job('task', job_key => 'k')`)
			runOnce(t, w)
			if n := value[int](q, `select count(*) from graphile_worker._private_jobs where is_available`); n != 1 || calls != 1 {
				t.Errorf("%d jobs are available after %d calls", n, calls)
			}
		})
	}
}

func TestWhatAHandlerWantsGivesWayToAShutdown(t *testing.T) {
	for name, c := range map[string]struct {
		err     error
		snoozed bool
	}{
		"discard": {err: shim.Discard(errors.New("cut"))},
		"retry":   {err: shim.RetryIn(time.Hour, errors.New("cut"))},
		"snooze":  {err: shim.Snooze(time.Hour), snoozed: true},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			w := q.worker(shim.Config{Grace: -1})
			running := make(chan struct{})
			w.Handle("task", func(ctx context.Context, _ *shim.Job) error {
				close(running)
				<-ctx.Done()
				return c.err
			})
			q.add("task", 1)
			w.start()
			receive(t, running)
			w.Kill()
			if err := w.wait(); errors.Is(err, shim.ErrInterrupted) == c.snoozed {
				t.Errorf("Run returned %v", err)
			}
			if !value[bool](q, `select attempts = 0 and locked_at is null and last_error is null and is_available
				and (run_at > now() + interval '59 minutes') = $1 from graphile_worker._private_jobs`, c.snoozed) {
				t.Error("the job was not given back")
			}
		})
	}
}

func TestRequestsUnwrapToWhatTheyWrap(t *testing.T) {
	reason := errors.New("reason")
	for text, err := range map[string]error{
		"discarded":                  shim.Discard(nil),
		"to be tried again in 1m0s":  shim.RetryIn(time.Minute, nil),
		"snoozed for 1m0s":           shim.Snooze(time.Minute),
		"reason":                     shim.Discard(reason),
		"late: reason":               fmt.Errorf("late: %w", shim.RetryIn(time.Minute, reason)),
		"Batch failures:\nreason":    shim.Batch([]error{nil, reason}),
		"Batch failures:\nreason\nx": shim.Batch([]error{reason, nil, errors.New("x")}),
	} {
		if err.Error() != text {
			t.Errorf("text is %q, want %q", err, text)
		}
	}
	if !errors.Is(shim.Discard(reason), reason) || !errors.Is(shim.RetryIn(0, reason), reason) {
		t.Error("the reason is lost")
	}
}

// The worker polls once an hour only: it knows when to look.
func TestAJobThatWasPutOffRunsWhenItsDelayIsOver(t *testing.T) {
	for _, notify := range []string{"always", "idle"} {
		for name, err := range map[string]error{
			"snooze": shim.Snooze(100 * time.Millisecond),
			"retry":  shim.RetryIn(100*time.Millisecond, errors.New("busy")),
		} {
			t.Run(name+" with notify "+notify, func(t *testing.T) {
				q := newQueue(t)
				q.exec(setNotify, notify)
				w := q.worker(shim.Config{})
				runAts := make(chan time.Time, 10)
				first := true
				w.Handle("task", func(_ context.Context, job *shim.Job) error {
					runAts <- job.RunAt
					if !first {
						return nil
					}
					first = false
					return err
				})
				w.start()
				q.awaitListening()
				q.add("task", 1)
				added, putOff := receive(t, runAts), receive(t, runAts)
				if waited := putOff.Sub(added); waited < 100*time.Millisecond {
					t.Errorf("was put off for %s", waited)
				}
				w.stop()
			})
		}
	}
}
