package shimtest

import (
	"context"
	"fmt"
	"strings"

	"github.com/gwsql/gw/pkg/shim"
)

// RunDue makes a worker run all due jobs, as [shim.Worker.RunOnce] does, and returns the outcomes of the claims in the
// order in which they were reported. The jobs must be committed. Jobs added by these jobs are run, too; jobs due later,
// retries among them, are left.
//
// It fails the test if the worker cannot run, and if a job failed, unless [AllowErrors] is given.
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
		tb.Fatalf("run due jobs: %v", err)
	case ctx.Err() != nil:
		tb.Fatalf("run due jobs: %v", context.Cause(ctx))
	case hook.Dropped() > 0:
		tb.Fatalf("run due jobs: too many jobs, %d events were dropped", hook.Dropped())
	}
	if failures := describeFailures(reports); failures != "" && !set.allowErrors {
		tb.Fatalf("jobs failed:%s", failures)
	}
	return reports
}

// RunOption is an option of [RunDue].
type RunOption func(*runSettings)

type runSettings struct{ allowErrors bool }

// AllowErrors lets the test continue if a job failed.
func AllowErrors() RunOption { return func(s *runSettings) { s.allowErrors = true } }

func describeFailures(reports []shim.JobReported) string {
	var b strings.Builder
	for _, r := range reports {
		switch r.Outcome {
		case shim.OutcomeFailed, shim.OutcomePermanentlyFailed, shim.OutcomeLeaseLost:
			fmt.Fprintf(&b, "\n  job %d of task %q, payload %s: %s: %v", r.Job.ID, r.Job.TaskIdentifier, r.Job.Payload,
				r.Outcome, r.Err)
		}
	}
	return b.String()
}
