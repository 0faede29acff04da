package shim_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

func TestAHandlerWhoseTimeIsOverIsToldSoAndFails(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	events := record(w)
	var cause error
	w.Handle("slow", func(ctx context.Context, _ *shim.Job) error {
		<-ctx.Done()
		cause = context.Cause(ctx)
		return ctx.Err()
	}, shim.Timeout(time.Millisecond))
	w.Handle("unhurried", func(ctx context.Context, _ *shim.Job) error {
		if _, limited := ctx.Deadline(); limited {
			t.Error("the option of one task holds for another")
		}
		return nil
	})
	q.exec(`select graphile_worker.add_job('slow'), graphile_worker.add_job('unhurried')`)
	runOnce(t, w)
	timeout, ok := errors.AsType[*shim.TimeoutError](cause)
	if !ok || timeout.After != time.Millisecond {
		t.Errorf("the cause is %v", cause)
	}
	if got := value[string](q, `select last_error from graphile_worker.jobs`); got != "timed out after 1ms: context deadline exceeded" {
		t.Errorf("last error is %q", got)
	}
	if n := len(only[shim.JobErrored](events())); n != 1 {
		t.Errorf("%d errors", n)
	}
}

func TestAHandlerThatNamesTheTimeoutItselfIsNotToldTwice(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("slow", func(ctx context.Context, _ *shim.Job) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}, shim.Timeout(time.Millisecond))
	q.add("slow", 1)
	runOnce(t, w)
	if got := value[string](q, `select last_error from graphile_worker.jobs`); got != "timed out after 1ms" {
		t.Errorf("last error is %q", got)
	}
}

func TestAJobThatEndsWellAfterItsTimeIsCompleted(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("slow", func(ctx context.Context, _ *shim.Job) error {
		<-ctx.Done()
		return nil
	}, shim.Timeout(time.Millisecond))
	q.add("slow", 1)
	runOnce(t, w)
	if n := q.jobs(); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}

func TestATaskHasABackOffOfItsOwn(t *testing.T) {
	hours := func(attempt int) time.Duration { return time.Duration(attempt) * time.Hour }
	for name, c := range map[string]struct {
		option   shim.TaskOption
		err      error
		from, to float64
	}{
		"its own":   {shim.Backoff(hours), errors.New("busy"), 3600, 3660},
		"a request": {shim.Backoff(hours), shim.RetryIn(2*time.Hour, errors.New("busy")), 7200, 7260},
		"a panic":   {shim.Backoff(func(int) time.Duration { panic("no idea") }), errors.New("busy"), 2.7, 60},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			available, attempts, lastError, runIn := failing(q, c.err, c.option)
			if !available || attempts != 1 || lastError != "busy" || runIn < c.from || runIn > c.to {
				t.Errorf("available %t, %d attempts, last error %q, runs in %f s", available, attempts, lastError,
					runIn)
			}
		})
	}
}

func TestABackOffIsAskedWithTheAttemptThatFailed(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	var asked []int
	w.Handle("task", func(context.Context, *shim.Job) error { return errors.New("busy") },
		shim.Backoff(func(attempt int) time.Duration {
			asked = append(asked, attempt)
			return -time.Hour
		}))
	q.exec(`select graphile_worker.add_job('task', max_attempts => 3)`)
	runOnce(t, w)
	if len(asked) < 2 || asked[0] != 1 || asked[1] != 2 {
		t.Errorf("asked for the back-off after attempts %v", asked)
	}
}

func TestOptionsThatCannotBeAreSaid(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Middleware: []shim.Middleware{func(next shim.Handler) shim.Handler { return next }}})
	handler := func(context.Context, *shim.Job) error { return nil }
	w.Handle("a", handler, shim.Timeout(0))
	w.Handle("b", handler, shim.Timeout(time.Second), shim.Backoff(nil))
	shim.HandleEach[int](w.Worker, "c", nil)
	w.Handle("d", handler, shim.ForbiddenFlagsFunc(nil))
	none := func(context.Context) ([]string, error) { return nil, nil }
	w.Handle("e", handler, shim.ForbiddenFlags("a"), shim.ForbiddenFlagsFunc(none))
	w.Handle("f", handler, shim.ForbiddenFlagsFunc(none), shim.ForbiddenFlags("a"))
	err := w.Run(t.Context())
	want := "task \"a\": timeout is 0s, must be positive\ntask \"b\": back-off is nil\nthe handler of task \"c\" is nil\n" +
		"task \"d\": the function for forbidden flags is nil\n" +
		"task \"e\": a list of forbidden flags and a function for them exclude each other\n" +
		"task \"f\": a list of forbidden flags and a function for them exclude each other"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want it to contain %q", err, want)
	}
}
