package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/internal/terminal"
)

const waitHelp = `Waits until jobs have ended, and prints the end of each: it was completed or removed, in which case it no longer exists, or
it failed permanently, with its last error. A failed job that has attempts left has not ended.

The exit code is 1 if a job failed permanently, or has not ended within --timeout.`

const waitExamples = `  gw-run wait 17
  gw-run wait --timeout 5m 17 18 19
  gw-run wait $(gw-run add --json export '{"customer":7}' | jq .id)`

// waitPause is the pause between two queries for the jobs.
const waitPause = 250 * time.Millisecond

type wait struct {
	database
	timeout time.Duration
}

func newWaitCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	w := &wait{}
	cmd := &cobra.Command{
		Use: "wait ID...", Short: "Wait until jobs have ended", Long: waitHelp, Example: waitExamples,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("which jobs? Give their ids, as gw-run add prints them")}
			}
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			if w.timeout < 0 {
				return usageError{errors.New("--timeout must be positive")}
			}
			if err := w.complete(getenv); err != nil {
				return usageError{err}
			}
			ctx, _, release := stops.Begin(cmd.Context(), stop.Hangup()...)
			defer release()
			return stop.Explain(ctx, w.run(ctx, cmd.OutOrStdout(), ids))
		},
	}
	cmd.Flags().DurationVar(&w.timeout, "timeout", 0, "`time` after which to give up, such as 30s or 5m (default: never)")
	w.addFlags(cmd.Flags(), getenv)
	cmd.Flags().SortFlags = false
	return cmd
}

// jobEnd is a row of job_ends.
type jobEnd struct {
	ID    int64  `json:"id"`
	State string `json:"state"`
}

func (w *wait) run(ctx context.Context, out io.Writer, ids []int64) error {
	db, err := w.open(ctx)
	if err != nil {
		return err
	}
	defer db.close()
	var late <-chan time.Time
	if w.timeout > 0 {
		late = time.After(w.timeout)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	failed := 0
	for {
		found, err := db.ask(ctx, `select e.id, e.state from S.job_ends($1::bigint[]) as e`, ids)
		if err != nil {
			return fmt.Errorf("wait: %w", err)
		}
		ends, err := inspect.Decode[jobEnd](found.Rows)
		if err != nil {
			return err
		}
		for _, end := range ends {
			ids = slices.DeleteFunc(ids, func(id int64) bool { return id == end.ID })
			if end.State == "failed" {
				failed++
			}
			if _, err := fmt.Fprintln(out, terminal.Printable(db.tell(ctx, end))); err != nil {
				return err
			}
		}
		switch {
		case len(ids) == 0 && failed > 0:
			return fmt.Errorf("%d of the jobs failed", failed)
		case len(ids) == 0:
			return nil
		}
		select {
		case <-time.After(waitPause):
		case <-late:
			return fmt.Errorf("job %d has not ended within %s; gw-run why %[1]d shows what it waits for", ids[0], w.timeout)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tell returns how a job has ended, as a line.
func (s *session) tell(ctx context.Context, end jobEnd) string {
	if end.State != "failed" {
		return fmt.Sprintf("Job %d is gone: it has completed or was removed.", end.ID)
	}
	found, err := s.ask(ctx, `select l.last_error from S.list_jobs(job_ids => array[$1::bigint]) as l`, end.ID)
	if err == nil {
		jobs, err := inspect.Decode[struct {
			LastError string `json:"last_error"`
		}](found.Rows)
		if err == nil && len(jobs) == 1 && jobs[0].LastError != "" {
			line, _, _ := strings.Cut(jobs[0].LastError, "\n")
			return fmt.Sprintf("Job %d has failed: %s", end.ID, line)
		}
	}
	return fmt.Sprintf("Job %d has failed.", end.ID) // the role may not read its error, or the job no longer exists
}
