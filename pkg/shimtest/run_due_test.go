package shimtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
	"github.com/gwsql/gw/pkg/shimtest"
)

func TestEverythingThatIsDueRuns(t *testing.T) {
	pool := newPool(t)
	w := newWorker(t, pool)
	w.Handle("first", func(ctx context.Context, job *shim.Job) error {
		_, err := job.Client().Add(ctx, "second", nil, nil)
		return err
	})
	w.Handle("second", func(context.Context, *shim.Job) error { return nil })
	add(t, pool, "first", nil, nil)
	add(t, pool, "second", nil, &shim.AddOptions{RunIn: time.Hour})
	add(t, pool, "somebody else's", nil, nil)
	reports := shimtest.RunDue(t, w)
	var ran []string
	for _, r := range reports {
		ran = append(ran, r.Job.TaskIdentifier+" "+string(r.Outcome))
	}
	if got := strings.Join(ran, ", "); got != "first completed, second completed" {
		t.Errorf("it ran %s", got)
	}
	if left := pgtest.Value[int](t, pool, `select count(*) from graphile_worker.jobs`); left != 2 {
		t.Errorf("%d jobs are left, want two", left)
	}
	if again := shimtest.RunDue(t, w); len(again) != 0 {
		t.Errorf("then it ran %v", again)
	}
}

func TestAFailedJobFailsTheTestUnlessToldOtherwise(t *testing.T) {
	pool := newPool(t)
	w := newWorker(t, pool)
	w.Handle("bad", func(_ context.Context, job *shim.Job) error {
		if string(job.Payload) == "1" {
			return errors.New("no such host")
		}
		return shim.Discard(errors.New("no such user"))
	})
	w.Handle("early", func(context.Context, *shim.Job) error { return shim.Snooze(time.Hour) })
	addAll := func() {
		add(t, pool, "bad", 1, nil)
		add(t, pool, "bad", 2, nil)
		add(t, pool, "early", nil, nil)
	}
	addAll()
	r := &recorder{}
	shimtest.RunDue(r, w)
	for _, part := range []string{
		"jobs failed:", `job 1 of task "bad", payload 1: failed: no such host`, "permanently_failed: no such user",
	} {
		if !strings.Contains(r.failure, part) {
			t.Errorf("it said %q, which lacks %q", r.failure, part)
		}
	}
	if strings.Contains(r.failure, "early") {
		t.Errorf("it said %q, but a job that snoozes did not fail", r.failure)
	}

	addAll()
	if reports := shimtest.RunDue(t, w, shimtest.AllowErrors()); len(reports) != 3 {
		t.Errorf("it ran %v", reports)
	}
}

func TestAWorkerThatCannotRunFailsTheTest(t *testing.T) {
	r := &recorder{}
	shimtest.RunDue(r, newWorker(t, newPool(t)))
	if !strings.Contains(r.failure, "no handler is registered") {
		t.Errorf("it said %q", r.failure)
	}
}
