package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/internal/terminal"
)

const changeHelp = `

Jobs are selected by their ids, or by conditions, all of which must match. With conditions that may match many jobs
the command shows their number and asks for confirmation; --yes does not ask, and is required without a terminal. Many
jobs are changed in steps of a thousand, each in a transaction of its own; if the command is interrupted, it prints
how many were changed. Jobs that match only after the count are not changed.

The exit code is 1 if a job had to be skipped; the reason is printed on stderr. With --json each job is one object per
line: {"id": 17, "is_done": true}, or false with a "reason".`

// change is a command that changes or removes jobs.
type change struct {
	database
	selection
	json, yes bool
	cobra     cobra.Command
	verb      string // what it does to jobs, such as "retry"
	did       string // what it did, such as "Retried"
	failed    string // the reason why it skips failed jobs; empty if it does not skip them
	// prepare returns the call of an SQL function that returns the changed jobs, and the arguments of the call. In the call
	// IDS stands for an array of ids, BEFORE for the number of jobs in earlier steps, and the arguments are $2 and so on.
	prepare func() (call string, args []any, err error)
}

const (
	changeStep = 1000 // jobs that are changed at once
	mostTold   = 10   // skipped jobs whose reason is printed
)

func (c *change) command(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	cmd := &c.cobra
	cmd.Long += changeHelp
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ids, err := jobIDs(args)
		if err != nil {
			return err
		}
		if len(ids) > 0 && !c.selection.isEmpty() {
			return usageError{errors.New("ids and conditions exclude each other")}
		}
		if len(ids) == 0 && c.selection.isEmpty() {
			return usageError{fmt.Errorf("which jobs to %s? Give ids, or conditions such as --state failed", c.verb)}
		}
		if err := c.complete(getenv); err != nil {
			return usageError{err}
		}
		ctx, _, release := stops.Begin(cmd.Context(), stop.Hangup()...)
		defer release()
		return stop.Explain(ctx, c.run(ctx, cmd, ids))
	}
	c.selection.addFlags(cmd)
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object per line")
	c.database.addFlags(cmd.Flags(), getenv)
	cmd.Flags().SortFlags = false
	return cmd
}

func (c *change) run(ctx context.Context, cmd *cobra.Command, ids []int64) error {
	call, args, err := c.prepare()
	if err != nil {
		return err
	}
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.close()
	if len(ids) == 0 {
		if ids, err = c.find(ctx, db); err != nil {
			return err
		}
		if goOn, err := c.confirm(cmd, len(ids)); err != nil || !goOn {
			return err
		}
	}
	work := &changing{change: c, db: db, call: call, operation: rand.Text(), args: args, out: cmd.OutOrStdout(), errOut: cmd.ErrOrStderr()}
	return work.do(ctx, ids)
}

// confirm asks whether to change this number of jobs. It does not ask about one job that is given by its key.
func (c *change) confirm(cmd *cobra.Command, jobs int) (goOn bool, err error) {
	errOut := cmd.ErrOrStderr()
	switch {
	case jobs == 0 && c.isOne():
		return false, fmt.Errorf("no job matches; is there a job with the key %q?", c.key)
	case jobs == 0:
		_, err := fmt.Fprintln(errOut, "No job matches.")
		return false, err
	case c.yes || c.isOne():
		return true, nil
	}
	question := fmt.Sprintf("%s %s?", strings.ToUpper(c.verb[:1])+c.verb[1:], plural(jobs, "job"))
	if !terminal.Is(cmd.InOrStdin()) {
		return false, fmt.Errorf("%s Without a terminal, --yes is required to confirm", question)
	}
	goOn, err = terminal.Ask(cmd.InOrStdin(), errOut, question)
	if err == nil && !goOn {
		err = errors.New("nothing was changed")
	}
	return goOn, err
}

// plural returns a number with its noun, such as "1 job" or "2 jobs".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// changing is the run of a change.
type changing struct {
	*change
	db          *session
	call        string
	operation   string // of which the steps are one act in the audit
	args        []any
	out, errOut io.Writer
	done, left  int
}

// do changes the jobs step by step and prints the outcomes.
func (c *changing) do(ctx context.Context, ids []int64) error {
	bar := terminal.NewProgress(c.errOut, len(ids))
	defer bar.Clear()
	for rest := ids; len(rest) > 0; {
		step := rest[:min(changeStep, len(rest))]
		rest = rest[len(step):]
		if err := c.step(ctx, bar, step); err != nil {
			bar.Clear()
			return fmt.Errorf("%s jobs, %d of %d done: %w", c.verb, c.done, len(ids), err)
		}
	}
	bar.Clear()
	if !c.json {
		if _, err := fmt.Fprintf(c.out, "%s %s.\n", c.did, plural(c.done, "job")); err != nil {
			return err
		}
	}
	if c.left > mostTold && !c.json {
		fmt.Fprintf(c.errOut, "and %d more\n", c.left-mostTold)
	}
	if c.left > 0 {
		return fmt.Errorf("not changed: %s of %d", plural(c.left, "job"), len(ids))
	}
	return nil
}

// outcome is whether a job was changed, and otherwise the reason.
type outcome struct {
	ID     int64  `json:"id"`
	IsDone bool   `json:"is_done"`
	Reason string `json:"reason,omitempty"`
}

// step changes some jobs in one statement. Jobs that were selected by conditions must still match them: those that no longer
// do are neither changed nor reported as skipped.
func (c *changing) step(ctx context.Context, bar terminal.Progress, ids []int64) error {
	wanted, args := `select w.id from pg_catalog.unnest($1::bigint[]) as w (id)`, append([]any{ids}, c.args...)
	if !c.selection.isEmpty() {
		wanted = `select m.id from S.matching_job_ids(` + conditions(len(args)+1) + `, job_ids => $1::bigint[], max_rows => null) as m (id)`
		args = append(args, c.arguments()...)
	}
	found, err := c.db.act(ctx, c.selection.String(), c.operation, `
		with wanted as materialized (`+wanted+`),
		     changed as materialized (select j.id from `+statement.CallOf(c.call, c.done+c.left)+` as j)
		select w.id, c.id is not null as is_done
		  from (select distinct w.id from wanted as w) as w
		  left join changed as c on c.id operator(pg_catalog.=) w.id
		 order by w.id`, args...)
	if err != nil {
		return err
	}
	outcomes, err := inspect.Decode[outcome](found.Rows)
	if err != nil {
		return err
	}
	var untouched []int64
	for _, o := range outcomes {
		if o.IsDone {
			c.done++
		} else {
			untouched = append(untouched, o.ID)
		}
	}
	bar.Add(len(ids))
	reasons, err := c.reasons(ctx, untouched)
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		o.Reason = reasons[o.ID]
		if err := c.tell(bar, o); err != nil {
			return err
		}
	}
	return nil
}

// tell prints the outcome of a job: with --json always, otherwise only the reason why it was skipped.
func (c *changing) tell(bar terminal.Progress, o outcome) error {
	if !o.IsDone {
		c.left++
	}
	if c.json {
		return json.NewEncoder(c.out).Encode(o)
	}
	if o.IsDone || c.left > mostTold {
		return nil
	}
	bar.Clear()
	_, err := fmt.Fprintf(c.errOut, "job %d: %s\n", o.ID, o.Reason)
	return err
}

// reasons returns why these jobs were skipped.
func (c *changing) reasons(ctx context.Context, ids []int64) (map[int64]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := c.db.ask(ctx, `select s.* from S.skip_reasons($1::bigint[]) as s`, ids)
	if err != nil {
		return nil, err
	}
	skipped, err := inspect.Decode[skippedJob](found.Rows)
	if err != nil {
		return nil, err
	}
	reasons := make(map[int64]string, len(skipped))
	for _, s := range skipped {
		reasons[s.ID] = c.explainSkip(s)
	}
	return reasons, nil
}

// skippedJob is a row of skip_reasons().
type skippedJob struct {
	ID       int64  `json:"id"`
	Reason   string `json:"reason"`
	LockedBy string `json:"locked_by"`
}

// explainSkip returns the reason in words.
func (c *change) explainSkip(s skippedJob) string {
	switch s.Reason {
	case "gone":
		return "does not exist (any more)"
	case "running":
		return "is being run by " + terminal.Printable(s.LockedBy)
	case "failed", "replaced":
		if c.failed != "" {
			return c.failed
		}
	}
	if s.Reason == "replaced" {
		return "was replaced or removed while it ran; gw-run reschedule --attempts 0 makes it run again anyway"
	}
	return "was locked by another transaction"
}
