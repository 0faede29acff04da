package shimtest

import (
	"context"
	"fmt"
	"strings"

	"github.com/gwsql/gw/pkg/shim"
)

// RunDue has a worker run everything that is due, as [shim.Worker.RunOnce] does, and returns what became of each claim,
// in the order in which the database was told. The jobs must be committed. What a job adds is run, too; what is due later
// is left, retries among it.
//
// It fails the test if the worker cannot run, and if a job failed, unless it is given [AllowErrors].
func RunDue(tb TB, w *shim.Worker, options ...RunOption) []shim.JobReported {
	tb.Helper()
	var set runSettings
	for _, option := range options {
		option(&set)
	}
	var reports []shim.JobReported
	hook := shim.On(w, func(e shim.JobReported) { reports = append(reports, e) })
	defer hook.Close()
	ctx, cancel := limited()
	defer cancel()
	err := w.RunOnce(ctx)
	switch {
	case err != nil:
		tb.Fatalf("run what is due: %v", err)
	case ctx.Err() != nil:
		tb.Fatalf("run what is due: %v", context.Cause(ctx))
	case hook.Dropped() > 0:
		tb.Fatalf("run what is due: too many jobs to follow, %d got lost", hook.Dropped())
	}
	if failures := describeFailures(reports); failures != "" && !set.allowErrors {
		tb.Fatalf("jobs failed:%s", failures)
	}
	return reports
}

// RunOption changes what [RunDue] does.
type RunOption func(*runSettings)

type runSettings struct{ allowErrors bool }

// AllowErrors lets a test go on though a job failed.
func AllowErrors() RunOption { return func(s *runSettings) { s.allowErrors = true } }

func describeFailures(reports []shim.JobReported) string {
	var b strings.Builder
	for _, r := range reports {
		switch r.Outcome {
		case shim.OutcomeFailed, shim.OutcomePermanentlyFailed, shim.OutcomeLeaseLost:
			fmt.Fprintf(&b, "\n  job %d of task %q, payload %s: %s: %v", r.Job.ID, r.Job.TaskIdentifier, r.Job.Payload, r.Outcome, r.Err)
		}
	}
	return b.String()
}
