package shim_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gwsql/gw/pkg/shim"
)

func nothing(context.Context, *shim.Job) error { return nil }

func TestTasksMayBeReplacedWhileTheWorkerRuns(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	began, release, ended := make(chan string), make(chan struct{}), make(chan string, 10)
	handler := func(version string) shim.Handler {
		return func(_ context.Context, job *shim.Job) error {
			began <- job.TaskIdentifier + " " + version
			<-release
			ended <- version
			return nil
		}
	}
	w.Handle("kept", handler("old"))
	w.Handle("removed", handler("old"))
	q.add("kept", 2)
	w.start()
	if got := receive(t, began); got != "kept old" {
		t.Errorf("%s began", got)
	}

	err := w.SetTasks(shim.Task{Name: "kept", Handler: handler("new")},
		shim.Task{Name: "added", Handler: handler("new")})
	if err != nil {
		t.Fatal(err)
	}
	q.await(`select tasks = '{added,kept}' from graphile_worker._gw_workers`)
	q.add("removed", 1)
	release <- struct{}{}
	if got := receive(t, ended); got != "old" {
		t.Errorf("the job that ran went on with the %s handler", got)
	}
	if got := receive(t, began); got != "kept new" {
		t.Errorf("%s began", got)
	}
	release <- struct{}{}
	q.add("added", 1)
	if got := receive(t, began); got != "added new" {
		t.Errorf("%s began", got)
	}
	close(release)
	q.await(`select string_agg(task_identifier, ' ') = 'removed' from graphile_worker.jobs`)
	w.stop()
}

// The worker polls only once an hour. At its start it searches a few times, so the tasks change more often than that.
func TestJobsOfANewTaskThatWaitAlreadyAreFoundAtOnce(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("first", nothing)
	names := strings.Split("abcdefghij", "")
	for _, name := range names {
		q.add(name, 1)
	}
	w.start()
	q.awaitListening()
	for _, name := range names {
		if err := w.SetTasks(shim.Task{Name: name, Handler: nothing}); err != nil {
			t.Fatal(err)
		}
		q.await(`select not exists (select from graphile_worker.jobs where task_identifier = $1)`, name)
	}
}

func TestJobsClaimedForATaskThatIsGoneAreReturned(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	const total, last = 300, 150
	began, release := make(chan struct{}), make(chan struct{})
	ran := 0
	w.Handle("short", func(context.Context, *shim.Job) error {
		if ran++; ran == last {
			close(began)
			<-release
		}
		return nil
	})
	q.add("short", total)
	w.start()
	receive(t, began)
	q.await(`select count(*) > 1 from graphile_worker.jobs where locked_at is not null`)
	if err := w.SetTasks(shim.Task{Name: "other", Handler: nothing}); err != nil {
		t.Fatal(err)
	}
	close(release)
	q.await(`select count(*) = $1 from graphile_worker.jobs where attempts = 0 and locked_at is null`, total-last)
	w.stop()
}

func TestTasksThatCannotBeAreRefusedAndThoseBeforeStay(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("a", nothing)
	w.start()
	err := w.SetTasks(
		shim.Task{Name: "b"}, shim.Task{Handler: nothing},
		shim.Task{Name: "c", Handler: nothing, Options: []shim.TaskOption{shim.Concurrency(0)}})
	want := "set tasks: the handler of task \"b\" is nil\na handler has an empty task name\ntask \"c\": concurrency is 0, must be at least 1"
	if err == nil || err.Error() != want {
		t.Errorf("got the error %v, want %s", err, want)
	}
	if err := w.SetTasks(); err == nil || !strings.Contains(err.Error(), "no handler is registered") {
		t.Errorf("of no tasks the error is %v", err)
	}
	q.add("a", 1)
	q.await(`select not exists (select from graphile_worker.jobs)`)
}
