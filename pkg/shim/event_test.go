package shim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// record subscribes to a worker; what is returned closes the subscription and gives all events so far.
func record(w *worker) func() []shim.Event {
	sub := w.Subscribe(10000)
	return func() (events []shim.Event) {
		sub.Close()
		for event := range sub.Events() {
			events = append(events, event)
		}
		return events
	}
}

// kinds returns the names of events without those that begin with one of the prefixes.
func kinds(events []shim.Event, without ...string) (names []string) {
	for _, event := range events {
		name := strings.TrimPrefix(fmt.Sprintf("%T", event), "shim.")
		if !slices.ContainsFunc(without, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			names = append(names, name)
		}
	}
	return names
}

// only returns the events of one type.
func only[E shim.Event](events []shim.Event) (found []E) {
	for _, event := range events {
		if e, ok := event.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

// ends returns the reported outcomes but those of jobs that returned unstarted: on a slow machine a job may wait too
// long for its handler, and is claimed again.
func ends(events []shim.Event) []shim.JobReported {
	return slices.DeleteFunc(only[shim.JobReported](events), func(e shim.JobReported) bool {
		return e.Outcome == shim.OutcomeReturned && !e.Started
	})
}

// next reads events until one is of type E.
func next[E shim.Event](t *testing.T, sub *shim.Subscription) E {
	t.Helper()
	for {
		if e, ok := receive(t, sub.Events()).(E); ok {
			return e
		}
	}
}

func runOnce(t *testing.T, w *worker) {
	t.Helper()
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestARunTellsWhatItDoesInOrder(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	events := record(w)
	w.Handle("good", func(context.Context, *shim.Job) error { return nil })
	q.add("good", 1)
	runOnce(t, w)

	got := kinds(events(), "Sweep", "Claim")
	want := []string{
		"WorkerStarted", "ExecutorStarted", "JobStarted", "JobSucceeded", "JobReported", "ShutdownStarted",
		"ExecutorReleased", "ExecutorStopped", "WorkerStopped",
	}
	// The loops do not wait for each other.
	slices.Sort(got[5:8])
	slices.Sort(want[5:8])
	if !slices.Equal(got, want) {
		t.Errorf("events are\n%q, want\n%q", got, want)
	}
}

func TestEachEndOfAJobHasItsEvents(t *testing.T) {
	failure := errors.New("no such host")
	for name, c := range map[string]struct {
		returned error
		attempts int
		events   []string
		reported shim.JobReported
	}{
		"success": {nil, 3, []string{"JobStarted", "JobSucceeded", "JobReported"},
			shim.JobReported{Outcome: shim.OutcomeCompleted}},
		"failure": {shim.RetryIn(time.Hour, failure), 3, []string{"JobStarted", "JobErrored", "JobReported"},
			shim.JobReported{Outcome: shim.OutcomeFailed, RetryIn: time.Hour}},
		"back-off": {failure, 3, []string{"JobStarted", "JobErrored", "JobReported"},
			shim.JobReported{Outcome: shim.OutcomeFailed, RetryIn: 2718282 * time.Microsecond}},
		"last attempt": {shim.RetryIn(time.Hour, failure), 1, []string{"JobStarted", "JobErrored", "JobFailed",
			"JobReported"},
			shim.JobReported{Outcome: shim.OutcomePermanentlyFailed}},
		"discard": {shim.Discard(failure), 3, []string{"JobStarted", "JobErrored", "JobFailed", "JobReported"},
			shim.JobReported{Outcome: shim.OutcomePermanentlyFailed}},
		"snooze": {shim.Snooze(time.Minute), 1, []string{"JobStarted", "JobSnoozed", "JobReported"},
			shim.JobReported{Outcome: shim.OutcomeSnoozed, RetryIn: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			w := q.worker(shim.Config{})
			events := record(w)
			w.Handle("task", func(context.Context, *shim.Job) error { return c.returned })
			q.exec(`select graphile_worker.add_job('task', max_attempts => $1)`, c.attempts)
			runOnce(t, w)

			all := events()
			if got := kinds(all, "Sweep", "Claim", "Worker", "Executor", "Shutdown"); !slices.Equal(got, c.events) {
				t.Errorf("events are %q, want %q", got, c.events)
			}
			reported := only[shim.JobReported](all)[0]
			if reported.Outcome != c.reported.Outcome ||
				reported.RetryIn.Truncate(time.Microsecond) != c.reported.RetryIn ||
				!reported.Started || reported.Err != c.returned || reported.Duration <= 0 ||
				reported.Job.TaskIdentifier != "task" {
				t.Errorf("reported %+v, want %+v", reported, c.reported)
			}
			if got := shim.OutcomeOf(reported.Job, c.returned); got != c.reported.Outcome {
				t.Errorf("OutcomeOf says %s", got)
			}
			for _, failed := range only[shim.JobFailed](all) {
				if failed.Err != c.returned || failed.Job != reported.Job || failed.Duration != reported.Duration {
					t.Errorf("failed %+v", failed)
				}
			}
		})
	}
}

func TestAnInterruptedJobAndOneThatNeverStartedAreReportedAsReturned(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Grace: time.Hour})
	events := record(w)
	blocked := make(chan struct{})
	ran := 0
	w.Handle("short", func(ctx context.Context, _ *shim.Job) error {
		if ran++; ran < 100 {
			return nil
		}
		close(blocked)
		<-ctx.Done()
		return ctx.Err()
	})
	q.add("short", 200)
	w.start()
	receive(t, blocked)
	w.Kill()
	if err := w.wait(); !errors.Is(err, shim.ErrInterrupted) {
		t.Errorf("Run returned %v", err)
	}

	all := events()
	outcomes := make(map[shim.Outcome]int)
	started := 0
	for _, reported := range only[shim.JobReported](all) {
		outcomes[reported.Outcome]++
		if reported.Started {
			started++
		}
	}
	claimed := 0
	for _, claim := range only[shim.ClaimSucceeded](all) {
		claimed += claim.Jobs
	}
	if outcomes[shim.OutcomeCompleted] != 99 || outcomes[shim.OutcomeReturned] != claimed-99 || started != 100 ||
		claimed == 100 {
		t.Errorf("of %d claimed jobs %d started, outcomes are %v", claimed, started, outcomes)
	}
	interrupted := only[shim.JobInterrupted](all)
	if len(interrupted) != 1 || !errors.Is(interrupted[0].Err, context.Canceled) {
		t.Errorf("interrupted: %+v", interrupted)
	}
	got := kinds(all, "Sweep", "Claim", "Executor", "Listen", "Job", "Cron")
	want := []string{"WorkerStarted", "StopRequested", "ShutdownStarted", "ShutdownForced", "ShutdownFailed",
		"WorkerStopped"}
	if !slices.Equal(got, want) {
		t.Errorf("events are %q, want %q", got, want)
	}
	stopped := only[shim.WorkerStopped](all)[0]
	if stopped.WorkerID != w.ID() || stopped.Err != w.err {
		t.Errorf("stopped %+v, Run returned %v", stopped, w.err)
	}
}

func TestALostLeaseIsReportedAsOne(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	events := record(w)
	w.Handle("task", func(context.Context, *shim.Job) error {
		q.exec(`select graphile_worker.force_unlock_workers(array[$1])`, w.ID())
		q.exec(`select graphile_worker.permanently_fail_jobs(array(select id from graphile_worker.jobs))`)
		return nil
	})
	q.add("task", 1)
	runOnce(t, w)
	reported := only[shim.JobReported](events())
	if len(reported) != 1 || reported[0].Outcome != shim.OutcomeLeaseLost {
		t.Errorf("reported %+v", reported)
	}
}

func TestClaimsTellWhatTheyFound(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 5})
	events := record(w)
	w.Handle("task", func(context.Context, *shim.Job) error { return nil })
	q.add("task", 3)
	runOnce(t, w)

	all := events()
	started := only[shim.ClaimStarted](all)
	succeeded, empty := only[shim.ClaimSucceeded](all), only[shim.ClaimEmpty](all)
	if len(started) != len(succeeded)+len(empty) || len(empty) == 0 || started[0].Limit != 5 {
		t.Errorf("started %+v, succeeded %+v, empty %+v", started, succeeded, empty)
	}
	if len(succeeded) != 1 || succeeded[0].Jobs != 3 || succeeded[0].Duration <= 0 || empty[0].Duration <= 0 {
		t.Errorf("succeeded %+v, empty %+v", succeeded, empty)
	}
	if sweeps := only[shim.SweepSucceeded](all); len(sweeps) > 0 && sweeps[0].Duration <= 0 {
		t.Errorf("swept %+v", sweeps)
	}
}

func TestTheListenerTellsOfItsConnections(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	sub := w.Subscribe(1000)
	w.Handle("task", func(context.Context, *shim.Job) error { return nil })
	w.start()
	if connecting := next[shim.ListenConnecting](t, sub); connecting.Attempt != 1 {
		t.Errorf("attempt is %d", connecting.Attempt)
	}
	next[shim.ListenConnected](t, sub)
	q.exec(`select pg_terminate_backend($1)`, q.awaitListening())
	if failed := next[shim.ListenFailed](t, sub); failed.Err == nil {
		t.Error("there is no reason")
	}
	if connecting := next[shim.ListenConnecting](t, sub); connecting.Attempt != 2 {
		t.Errorf("attempt is %d", connecting.Attempt)
	}
	next[shim.ListenConnected](t, sub)
}

func TestAWorkerThatCannotGoOnSaysSo(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	sub := w.Subscribe(1000)
	w.Handle("task", func(context.Context, *shim.Job) error { return nil })
	w.start()
	next[shim.ClaimEmpty](t, sub)
	q.exec(`alter function graphile_worker.get_job_batch rename to gone`)
	q.exec(`notify "jobs:insert"`)
	claim := next[shim.ClaimFailed](t, sub)
	failed := next[shim.WorkerFailed](t, sub)
	if claim.Err == nil || !errors.Is(failed.Err, claim.Err) {
		t.Errorf("the claim failed by %v, the worker by %v", claim.Err, failed.Err)
	}
	if stopped := next[shim.WorkerStopped](t, sub); stopped.Err == nil || w.wait() == nil {
		t.Errorf("stopped by %v", stopped.Err)
	}
}

func TestAWorkerThatCannotStartTellsOnlyThatItStopped(t *testing.T) {
	q := newQueue(t)
	q.exec(`drop schema graphile_worker cascade`)
	w := q.worker(shim.Config{})
	events := record(w)
	w.Handle("task", func(context.Context, *shim.Job) error { return nil })
	if err := w.Run(t.Context()); err == nil {
		t.Error("it ran")
	}
	all := events()
	if got := kinds(all); !slices.Equal(got, []string{"WorkerStopped"}) || only[shim.WorkerStopped](all)[0].Err == nil {
		t.Errorf("events are %+v", all)
	}
}

func TestAPanicComesWithItsStack(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	events := record(w)
	w.Handle("panic", func(context.Context, *shim.Job) error { panic("spilled") })
	q.add("panic", 1)
	runOnce(t, w)
	errored := only[shim.JobErrored](events())
	if len(errored) != 1 || !strings.HasPrefix(errored[0].Err.Error(), "panic: spilled\n") ||
		!strings.Contains(errored[0].Err.Error(), "event_test.go") {
		t.Errorf("errored %+v", errored)
	}
}
