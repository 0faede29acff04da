package shim_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// call calls an SQL function whose result is not needed.
func (q *queue) call(sql string, args ...any) {
	q.t.Helper()
	q.exec(`select graphile_worker.`+sql, args...)
}

func TestARateLimitedJobReturnsWithItsAttemptAndClosesItsLane(t *testing.T) {
	for name, err := range map[string]error{
		"plain":   shim.RateLimited(time.Hour),
		"wrapped": fmt.Errorf("answered 429: %w", shim.RateLimited(time.Hour)),
		"outside": fmt.Errorf("%w", shim.RateLimited(time.Hour)),
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			q.call(`set_limit('api', tasks => '{call}', max_running => 2)`)
			w := q.worker(shim.Config{Concurrency: 1})
			events := record(w)
			calls := 0
			w.Handle("call", func(context.Context, *shim.Job) error {
				calls++
				return err
			})
			q.exec(`select graphile_worker.add_job('call', max_attempts => 1) from generate_series(1, 10)`)
			runOnce(t, w)
			if n := value[int](q, `select count(*) from graphile_worker.jobs where attempts = 0 and locked_at is null and last_error is null`); n != 10 {
				t.Errorf("%d of 10 jobs wait as if they had not been tried", n)
			}
			if !value[bool](q, `select reason = 'closed' and until between now() + interval '59 minutes' and now() + interval '1 hour'
				from graphile_worker.list_lanes('api')`) {
				t.Error("the lane is not closed for an hour")
			}
			if calls == 0 || calls > 2 { // a worker may hold a second job when the first one is refused
				t.Errorf("%d calls", calls)
			}
			for _, reported := range only[shim.JobReported](events()) {
				if reported.Outcome == shim.OutcomeReturned {
					continue
				}
				if reported.Outcome != shim.OutcomeRateLimited || reported.RetryIn != time.Hour ||
					reported.Attempts != 0 || !errors.Is(reported.Err, err) {
					t.Errorf("reported %+v", reported)
				}
			}
			w.logs.await(t, "WARN job was rate limited and returned", "retry_in_ms=3.6e+06")
		})
	}
}

// Without limits only the job itself waits, so jobs of other tasks and other jobs of the task run.
func TestARateLimitedJobWithoutLimitsWaitsItself(t *testing.T) {
	q := newQueue(t)
	available, attempts, lastError, runIn := failing(q, shim.RateLimited(time.Hour))
	if !available || attempts != 0 || lastError != "" || runIn < 3600 || runIn > 3660 {
		t.Errorf("available %t, %d attempts, last error %q, runs in %f s", available, attempts, lastError, runIn)
	}
}

// The delays differ, so they are reported by several statements.
func TestJobsAreRateLimitedForAsLongAsEachSays(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 10})
	shim.Handle(w.Worker, "task", func(_ context.Context, hours int, _ *shim.Job) error {
		return shim.RateLimited(time.Duration(hours) * time.Hour)
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

// An idle worker, which polls once an hour, continues when the reason that held its jobs back has ended.
func TestAnIdleWorkerStartsLimitedJobsWhenTheyMayStart(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"a pause of the task is ended": {`pause(task => 'call')`, `resume(task => 'call')`},
		"a pause of all is ended":      {`pause()`, `resume()`},
		"a pause of a limit is ended":  {`pause(limit_name => 'api')`, `resume(limit_name => 'api')`},
		"a pause ends by itself":       {`pause(task => 'call', until => clock_timestamp() + interval '700 ms')`, ``},
		"a pause of all ends by itself": {
			`pause(until => clock_timestamp() + interval '700 ms')`, ``,
		},
		"a lane opens by itself": {
			`rate_limited('other', (select id from graphile_worker.get_job('other')), null, '700 ms')`, ``,
		},
		"a limit is dropped": {`pause(limit_name => 'api')`, `drop_limit('api')`},
		"a job of another worker ends": {
			`get_job_batch('other', batch_size => 2)`,
			`complete_job('other', (select min(id) from graphile_worker.jobs where locked_by = 'other'))`,
		},
		"a limit is widened": {`get_job_batch('other', batch_size => 2)`,
			`set_limit('api', tasks => '{call}', max_running => 3)`},
		"a lane gets more": {`get_job_batch('other', batch_size => 2)`,
			`set_limit('api', tasks => '{call}', total_running => 9)`},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			q.call(`set_limit('api', tasks => '{call}', max_running => 2)`)
			q.add("call", 4)
			q.exec(`select graphile_worker.get_job('other', array['none']) from generate_series(1, 3)`) // moves all jobs
			q.call(c.before)
			w := q.worker(shim.Config{})
			started := make(chan int64, 10)
			w.Handle("call", func(_ context.Context, job *shim.Job) error {
				started <- job.ID
				return nil
			})
			events := record(w)
			w.start()
			if c.after != "" {
				q.awaitListening()
				w.logs.await(t, "worker started")
				q.await(`select exists (select from graphile_worker._gw_workers)`)
				q.call(c.after)
			}
			receive(t, started)
			w.stop()
			if len(only[shim.ClaimFailed](events())) > 0 {
				t.Error("claims failed")
			}
		})
	}
}

// A start counts at the claim. So a worker that may have jobs of a rate claims none that its executors cannot start.
func TestAWorkerThatARateAppliesToClaimsNothingAhead(t *testing.T) {
	for name, limit := range map[string]string{
		"a rate of a task":       `set_limit('api', tasks => '{call}', rate => 100000, per => '1 s')`,
		"a rate of all tasks":    `set_limit('all', rate => 100000, per => '1 s')`,
		"a rate of a lane alone": `set_limit('api', tasks => '{call}', by => 'payload:n', max_running => 500), graphile_worker.override_lane('api', '1', rate => 9, per => '1 s')`,
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			q.call(limit)
			const concurrency = 3
			w := q.worker(shim.Config{Concurrency: concurrency})
			w.Handle("call", func(context.Context, *shim.Job) error { return nil })
			q.add("call", 500)
			events := record(w)
			runOnce(t, w)
			for _, claim := range only[shim.ClaimStarted](events()) {
				if claim.Limit > concurrency {
					t.Fatalf("a claim asks for %d jobs, the worker starts %d", claim.Limit, concurrency)
				}
			}
		})
	}
}

func TestSlotsOfALimitAreAllUsedAndNoMore(t *testing.T) {
	q := newQueue(t)
	q.call(`set_limit('api', tasks => '{call}', max_running => 2)`)
	w := q.worker(shim.Config{Concurrency: 8})
	var running, most atomic.Int64
	w.Handle("call", func(context.Context, *shim.Job) error {
		for n := running.Add(1); ; {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		time.Sleep(time.Millisecond)
		running.Add(-1)
		return nil
	})
	q.add("call", 200)
	runOnce(t, w)
	if n := q.jobs(); n != 0 || most.Load() != 2 {
		t.Errorf("%d jobs are left, and at most %d ran at once", n, most.Load())
	}
}

// A claim leaves out a limit that another transaction has locked, and finds nothing. A run does not end for that
// reason.
func TestARunOutlastsAMomentaryLockOfALimit(t *testing.T) {
	q := newQueue(t)
	q.call(`set_limit('api', tasks => '{call}', max_running => 2)`)
	q.add("call", 20)
	tx, err := q.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), `select from graphile_worker._gw_limits for update`); err != nil {
		t.Fatal(err)
	}
	w := q.worker(shim.Config{Concurrency: 4})
	w.Handle("call", func(context.Context, *shim.Job) error { return nil })
	sub := w.Subscribe(1000)
	ended := make(chan error, 1)
	go func() { ended <- w.RunOnce(t.Context()) }()
	for event := range sub.Events() {
		if _, empty := event.(shim.ClaimEmpty); empty {
			break
		}
	}
	sub.Close()
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, ended); err != nil || q.jobs() != 0 {
		t.Errorf("the run ended with %v, %d jobs are left", err, q.jobs())
	}
}
