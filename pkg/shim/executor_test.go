package shim_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

func TestAJobRunsWithItsDataAndDisappears(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	type greeting struct{ Name string }
	type seen struct {
		greeting greeting
		job      *shim.Job
	}
	calls := make(chan seen, 1)
	shim.Handle(w.Worker, "hello", func(_ context.Context, g greeting, job *shim.Job) error {
		job.Logger().Info("in the handler")
		calls <- seen{g, job}
		return nil
	})
	id := value[int64](q, `select (graphile_worker.add_job('hello', '{"name": "you"}', queue_name => 'front desk',
		max_attempts => 3, job_key => 'k', priority => 7, flags => array['b', 'a'])).id`)
	w.start()

	call := receive(t, calls)
	job := call.job
	if call.greeting.Name != "you" || job.ID != id || job.TaskIdentifier != "hello" || job.QueueName != "front desk" ||
		job.Priority != 7 || job.Attempts != 1 || job.MaxAttempts != 3 || job.Key != "k" || job.Revision != 0 ||
		job.LastError != "" || !slices.Equal(job.Flags, []string{"a", "b"}) || job.Lease == 0 {
		t.Errorf("greeting %+v, job %+v", call.greeting, job)
	}
	if age := time.Since(job.CreatedAt); age < -time.Minute || age > time.Minute || !job.RunAt.Equal(job.CreatedAt) {
		t.Errorf("created at %s, run at %s", job.CreatedAt, job.RunAt)
	}
	q.await(`select not exists (select from graphile_worker.jobs)`)
	w.logs.await(t, "INFO in the handler", "label=job", "worker_id="+w.ID(), "task_identifier=hello",
		fmt.Sprint("job_id=", id))
	w.logs.await(t, "INFO job completed", "label=worker", "worker_id="+w.ID(), "task_identifier=hello",
		fmt.Sprint("job_id=", id), "duration_ms=")
}

func TestJobsStartInOrderOfPriorityRunAtAndId(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	var order []int
	shim.Handle(w.Worker, "note", func(_ context.Context, place int, _ *shim.Job) error {
		order = append(order, place)
		return nil
	})
	q.exec(`
		select graphile_worker.add_job('note', '5', priority => 1, run_at => now() - interval '1 hour'),
		       graphile_worker.add_job('note', '3', run_at => now() - interval '1 minute'),
		       graphile_worker.add_job('note', '4', run_at => now() - interval '1 minute'),
		       graphile_worker.add_job('note', '2', run_at => now() - interval '2 minutes'),
		       graphile_worker.add_job('note', '1', priority => -1)`)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(order, []int{1, 2, 3, 4, 5}) {
		t.Errorf("order is %v", order)
	}
}

func TestAJobThatWasDueForEverRunsFirst(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	var runAts []time.Time
	w.Handle("note", func(_ context.Context, job *shim.Job) error {
		runAts = append(runAts, job.RunAt)
		return nil
	})
	q.exec(`select graphile_worker.add_job('note'), graphile_worker.add_job('note', run_at => '-infinity')`)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(runAts) != 2 || !runAts[0].IsZero() || runAts[1].IsZero() {
		t.Errorf("jobs were due at %v", runAts)
	}
}

func TestAFailedAttemptIsStoredAndTriedAgainLater(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("fail", func(context.Context, *shim.Job) error { return errors.New("no \x00such host \xff") })
	shim.Handle(w.Worker, "decode", func(context.Context, []int, *shim.Job) error { return nil })
	q.exec(`select graphile_worker.add_job('fail'), graphile_worker.add_job('decode', '{}')`)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := value[string](q, `select last_error from graphile_worker.jobs where task_identifier = 'fail'`); got != "no such host \uFFFD" {
		t.Errorf("last error is %q", got)
	}
	if got := value[string](q, `select last_error from graphile_worker.jobs where task_identifier = 'decode'`); !strings.HasPrefix(got, "decode payload: ") {
		t.Errorf("last error is %q", got)
	}
	if n := value[int](q, `select count(*) from graphile_worker.jobs
		where attempts = 1 and locked_at is null and run_at between now() and now() + graphile_worker.backoff(1)`); n != 2 {
		t.Errorf("%d jobs wait for their second attempt", n)
	}
	w.logs.await(t, "WARN job failed", "task_identifier=fail", "attempt=1", "max_attempts=25", "retry_in_ms=2718.28",
		"error=no such host")
}

func TestTheLastFailedAttemptIsCalledPermanent(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("fail", func(context.Context, *shim.Job) error { return errors.New("again") })
	q.exec(`select graphile_worker.add_job('fail', max_attempts => 1)`)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.logs.await(t, "WARN job permanently failed", "attempt=1", "max_attempts=1", "error=again")
	if !value[bool](q, `select attempts = max_attempts and locked_at is null from graphile_worker.jobs`) {
		t.Error("the job is not permanently failed")
	}
}

func TestAPanicFailsTheJobWithItsStackAndTheWorkerGoesOn(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("panic", func(context.Context, *shim.Job) error { panic("spilled") })
	ran := false
	w.Handle("after", func(context.Context, *shim.Job) error { ran = true; return nil })
	q.exec(`select graphile_worker.add_job('panic'), graphile_worker.add_job('after')`)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	lastError := value[string](q, `select last_error from graphile_worker.jobs`)
	if !strings.HasPrefix(lastError, "panic: spilled\n") || !strings.Contains(lastError, "executor_test.go") {
		t.Errorf("last error is %q", lastError)
	}
	if !ran {
		t.Error("the next job did not run")
	}
}

func TestAHandlerThatEndsItsGoroutineFailsItsJob(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("exit", func(context.Context, *shim.Job) error {
		runtime.Goexit()
		return nil
	})
	q.add("exit", 1)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := value[string](q, `select last_error from graphile_worker.jobs`); !strings.HasPrefix(got,
		"handler ended its goroutine") {
		t.Errorf("last error is %q", got)
	}
}

func TestJobsOfTasksWithoutHandlerStayUntouched(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("known", func(context.Context, *shim.Job) error { return nil })
	q.exec(`select graphile_worker.add_job('unknown'), graphile_worker.add_job('known')`)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := value[string](q, `select string_agg(task_identifier || attempts, ' ') from graphile_worker.jobs`); got != "unknown0" {
		t.Errorf("left are %q", got)
	}
}
