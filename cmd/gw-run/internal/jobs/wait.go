package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/terminal"
)

const waitHelp = `Waits until jobs have ended, and prints the end of each. A job has completed, was removed, or has failed permanently,
with its last error. A failed job that has attempts left has not ended. A job that completed has a result if its worker
reported one, and if the task keeps results or somebody had asked for it before, as this command does. A job is gone if
it no longer exists and nobody had asked for its end.

With --json an end is one object per line, with the column names of job_results().

The exit code is 1 if a job failed permanently, or has not ended within --timeout.`

const waitExamples = `  gw-run wait 17
  gw-run wait --timeout 5m 17 18 19
  gw-run wait --json 17 | jq .result
  gw-run wait $(gw-run add --json export '{"customer":7}' | jq .id)`

// The pause between two queries for the jobs grows between these bounds. The notification of an end cuts it short.
const (
	shortWaitPause = 20 * time.Millisecond
	longWaitPause  = time.Second
)

type wait struct {
	cli.Printing
	timeout time.Duration
}

func newWaitCommand(env cli.Env) *cobra.Command {
	w := &wait{}
	cmd := &cobra.Command{
		Use: "wait ID...", Short: "Wait until jobs have ended", Long: waitHelp, Example: waitExamples,
		Args: cli.Arguments(1, cli.Many, "which jobs? Give their ids, as gw-run add prints them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			if w.timeout < 0 {
				return cli.Usagef("--timeout must be positive")
			}
			return w.With(cmd, env, func(ctx context.Context, db *cli.Session) error {
				return w.run(ctx, db, cmd.OutOrStdout(), ids)
			})
		},
	}
	cmd.Flags().DurationVar(&w.timeout, "timeout", 0, "`time` after which to give up, such as 30s or 5m (default: never)")
	w.AddFlags(cmd, env.Getenv)
	return cmd
}

// jobEnd is a row of job_results.
type jobEnd struct {
	ID     int64           `json:"id"`
	State  string          `json:"state"`
	Error  string          `json:"error"`
	Result json.RawMessage `json:"result"`
}

// hasFailed reports whether the job has failed permanently.
func (e jobEnd) hasFailed() bool { return e.State == "permanently_failed" }

// String returns how the job has ended, as a line.
func (e jobEnd) String() string {
	switch {
	case e.hasFailed() && e.Error == "":
		return fmt.Sprintf("Job %d has failed.", e.ID)
	case e.hasFailed():
		line, _, _ := strings.Cut(e.Error, "\n")
		return fmt.Sprintf("Job %d has failed: %s", e.ID, line)
	case len(e.Result) > 0 && string(e.Result) != "null":
		return fmt.Sprintf("Job %d has completed: %s", e.ID, e.Result)
	case e.State == "completed":
		return fmt.Sprintf("Job %d has completed.", e.ID)
	case e.State == "gone":
		return fmt.Sprintf("Job %d is gone: it has completed, was removed, or never existed; nobody had asked for its end.", e.ID)
	}
	return fmt.Sprintf("Job %d no longer exists: it was %s.", e.ID, e.State)
}

func (w *wait) run(ctx context.Context, db *cli.Session, out io.Writer, ids []int64) error {
	waiting := ctx
	if w.timeout > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	awaitEnds(ctx, db, ids)
	failed := 0
	for pause := shortWaitPause; ; pause = min(pause*3/2, longWaitPause) {
		ends, found, err := cli.Rows[jobEnd](db.Ask(ctx, `select r.id, r.state, r.error, r.result, r.ended_at from S.job_results($1::bigint[]) as r`, ids))
		if err != nil {
			return fmt.Errorf("wait: %w", err)
		}
		err = cli.PrintLines(out, found, w.JSON, func(end jobEnd, _ time.Time) string { return terminal.Printable(end.String()) })
		if err != nil {
			return err
		}
		for _, end := range ends {
			ids = slices.DeleteFunc(ids, func(id int64) bool { return id == end.ID })
			if end.hasFailed() {
				failed++
			}
		}
		switch {
		case len(ids) == 0 && failed > 0:
			return fmt.Errorf("%d of the jobs failed", failed)
		case len(ids) == 0:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case waiting.Err() != nil:
			return fmt.Errorf("job %d has not ended within %s; gw-run why %[1]d shows what it waits for", ids[0], w.timeout)
		}
		awaitEnd(waiting, db, pause, ids)
	}
}

// awaitEnds asks for the ends of jobs and for notifications of them. Without the privilege, on a standby, or behind a pooler in
// transaction mode there are none; the pauses are short enough without.
func awaitEnds(ctx context.Context, db *cli.Session, ids []int64) {
	if _, err := db.Conn.Exec(ctx, `listen "jobs:end"`); err == nil {
		_, _ = db.Ask(ctx, `select S.await_jobs($1::bigint[])`, ids)
	}
}

// awaitEnd waits for the notified end of one of these jobs, or for the time pause.
func awaitEnd(ctx context.Context, db *cli.Session, pause time.Duration, ids []int64) {
	ctx, cancel := context.WithTimeout(ctx, pause)
	defer cancel()
	for {
		told, err := db.Conn.WaitForNotification(ctx)
		if err != nil {
			<-ctx.Done() // a lost connection is opened again after the pause
			return
		}
		if id, err := strconv.ParseInt(told.Payload, 10, 64); err == nil && slices.Contains(ids, id) {
			return
		}
	}
}
