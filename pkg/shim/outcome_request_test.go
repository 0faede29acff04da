package shim_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// failing runs one job of max_attempts = 3 whose handler returns err, and returns its row: whether it runs again, its
// attempts, its last_error, and in how many seconds from the report it runs at the earliest.
func failing(q *queue, err error, options ...shim.TaskOption) (available bool, attempts int, lastError string,
	runIn float64) {
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
				t.Errorf("available %t, %d attempts, last error %q, runs in %f s", available, attempts, lastError,
					runIn)
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
	if got := value[string](q, `select last_error from graphile_worker.jobs`); got != "retry in 0s" {
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
				t.Errorf("available %t, %d attempts, last error %q, runs in %f s", available, attempts, lastError,
					runIn)
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

// A job that is replaced or removed while it runs stays failed, whatever its handler asks for, and is reported as
// failed.
func TestNeitherSnoozeNorRetryRevivesAReplacedJob(t *testing.T) {
	again := errors.New("again")
	for name, c := range map[string]struct {
		meanwhile string
		returned  error
		waiting   int // jobs that wait after that
	}{
		"a replaced job snoozes": {`add_job('task', job_key => 'k', run_at => now() + interval '1 hour')`,
			shim.Snooze(0), 1},
		"a replaced job retries": {`add_job('task', job_key => 'k', run_at => now() + interval '1 hour')`,
			shim.RetryIn(0, again), 1},
		"a replaced job fails": {`add_job('task', job_key => 'k', run_at => now() + interval '1 hour')`,
			again, 1},
		"a removed job snoozes": {`remove_job('k')`, shim.Snooze(0), 0},
		"a replaced job is rate limited": {`add_job('task', job_key => 'k', run_at => now() + interval '1 hour')`,
			shim.RateLimited(1), 1},
		"a removed job fails": {`remove_job('k')`, again, 0},
		"a canceled job's snooze": {`cancel_jobs(array(select id from graphile_worker.jobs))`, shim.Snooze(0),
			0},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			w := q.worker(shim.Config{})
			events := record(w)
			calls := 0
			w.Handle("task", func(context.Context, *shim.Job) error {
				calls++
				q.exec(`select graphile_worker.` + c.meanwhile)
				return c.returned
			})
			q.exec(`select graphile_worker.add_job('task', job_key => 'k', max_attempts => 7)`)
			runOnce(t, w)
			if n := value[int](q, `select count(*) from graphile_worker._private_jobs where is_available`); n != c.waiting || calls != 1 {
				t.Errorf("%d jobs are available after %d calls", n, calls)
			}

			all := events()
			if reported := ends(all); len(reported) != 1 || reported[0].Outcome != shim.OutcomePermanentlyFailed ||
				reported[0].RetryIn != 0 || reported[0].Attempts != 7 || reported[0].Err != c.returned {
				t.Errorf("reported %+v", reported)
			}
			if failed := only[shim.JobFailed](all); len(failed) != 1 || failed[0].Err != c.returned {
				t.Errorf("failed %+v", failed)
			}
			w.logs.await(t, "WARN job permanently failed", "attempt=1", "max_attempts=7", "attempts=7")
			for _, other := range []string{"job failed", "job snoozed"} {
				if lines, _ := w.logs.find(other); lines != nil {
					t.Errorf("logged %q", lines)
				}
			}
		})
	}
}

// A job that is replaced while it waits in the worker, or before its handler is interrupted, is returned and stays
// failed.
func TestAReturnedJobThatWasReplacedIsReportedAsFailed(t *testing.T) {
	q := newQueue(t)
	for range 10 {
		if q.replacesWaitingJobs() {
			return
		}
		q.exec(`delete from graphile_worker._private_jobs`)
	}
	t.Error("the jobs that waited were always returned before they were replaced")
}

// replacesWaitingJobs replaces 200 jobs, of which 99 have completed, one runs and others wait in the worker, and stops
// the worker. It returns false if a slow machine returned those that waited before they were replaced.
func (q *queue) replacesWaitingJobs() bool {
	q.t.Helper()
	w := q.worker(shim.Config{Grace: time.Hour})
	events := record(w)
	blocked, ran := make(chan struct{}), 0
	w.Handle("short", func(ctx context.Context, _ *shim.Job) error {
		if ran++; ran < 100 {
			return nil
		}
		close(blocked)
		<-ctx.Done()
		return ctx.Err()
	})
	q.exec(`select graphile_worker.add_job('short', job_key => n::text) from generate_series(1, 200) as n`)
	w.start()
	receive(q.t, blocked)
	q.exec(`select graphile_worker.add_job('short', job_key => key, run_at => now() + interval '1 hour')
	          from (select j.key from graphile_worker.jobs as j order by j.id) as j`) // in the order in which outcomes lock jobs
	w.Kill()
	if err := w.wait(); !errors.Is(err, shim.ErrInterrupted) {
		q.t.Errorf("Run returned %v", err)
	}
	all := events()
	claimed := 0
	for _, claim := range only[shim.ClaimSucceeded](all) {
		claimed += claim.Jobs
	}
	if lines, _ := w.logs.find("jobs that had not started returned to the queue"); lines != nil {
		if q.jobs() < claimed+2 { // a job that is replaced while it is claimed stays, beside the one that replaces it
			return false
		}
		q.t.Errorf("logged %q", lines)
	}
	started := make(map[bool]int)
	for _, reported := range only[shim.JobReported](all) {
		if reported.Outcome == shim.OutcomePermanentlyFailed {
			started[reported.Started]++
		} else if reported.Outcome != shim.OutcomeCompleted {
			q.t.Errorf("reported %+v", reported)
		}
	}
	if started[true] != 1 || started[false] != claimed-100 || claimed == 100 {
		q.t.Errorf("of %d claimed jobs, %d that started and %d others are reported as failed", claimed, started[true],
			started[false])
	}
	return true
}

// The time until a job runs may be longer than a time.Duration can hold.
func TestAJobThatIsPutOffForEverIsReportedWithTheLongestDelay(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	events := record(w)
	w.Handle("task", func(context.Context, *shim.Job) error { return errors.New("no luck") })
	q.exec(`create function put_off() returns trigger language plpgsql as $$ begin new.run_at = 'infinity'; return new; end $$;
	        create trigger put_off before update on graphile_worker._private_jobs
	          for each row when (new.last_error is not null) execute function put_off()`)
	q.add("task", 1)
	runOnce(t, w)
	if reported := ends(events()); len(reported) != 1 || reported[0].Outcome != shim.OutcomeFailed ||
		reported[0].RetryIn != math.MaxInt64 {
		t.Errorf("reported %+v", reported)
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
		"limited": {err: shim.RateLimited(time.Hour), snoozed: true},
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
		"retry in 1m0s":              shim.RetryIn(time.Minute, nil),
		"snoozed for 1m0s":           shim.Snooze(time.Minute),
		"rate limited for 1m0s":      shim.RateLimited(time.Minute),
		"rate limited for 1ms":       shim.RateLimited(-time.Minute),
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

// The worker polls only once an hour: it knows the time of the next due job.
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
