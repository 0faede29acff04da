package jobs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/operate"
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
	cli.Printing
	selection
	yes     bool
	cobra   cobra.Command
	prepare func() (operate.Act, error)

	operate.Change
	out, errOut io.Writer
	done, left  int
}

const mostTold = 10 // skipped jobs whose reason is printed

func (c *change) command(env cli.Env) *cobra.Command {
	cmd := &c.cobra
	cmd.Long += changeHelp
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ids, err := c.orIDs(args)
		if err != nil {
			return err
		}
		if len(ids) == 0 && c.selection.IsEmpty() {
			return cli.Usagef("which jobs to %s? Give ids, or conditions such as --state failed", cmd.Name())
		}
		if c.Act, err = c.prepare(); err != nil {
			return err
		}
		return c.With(cmd, env, func(ctx context.Context, db *cli.Session) error { return c.run(ctx, db, cmd, ids) })
	}
	c.selection.addFlags(cmd)
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask for confirmation")
	c.Printing.AddFlags(cmd, env.Getenv)
	return cmd
}

// run selects the jobs, asks for confirmation, changes them step by step and prints the outcomes.
func (c *change) run(ctx context.Context, db *cli.Session, cmd *cobra.Command, ids []int64) (err error) {
	if len(ids) == 0 {
		c.Change.Selection = &c.selection.Selection
		if ids, err = c.find(ctx, db); err != nil {
			return err
		}
		switch {
		case len(ids) == 0 && c.isOne():
			return fmt.Errorf("no job matches; is there a job with the key %q?", c.Key)
		case len(ids) == 0:
			_, err := fmt.Fprintln(cmd.ErrOrStderr(), "No job matches.")
			return err
		case !c.yes && !c.isOne():
			question := fmt.Sprintf("%s %s?", strings.ToUpper(cmd.Name()[:1])+cmd.Name()[1:], cli.Plural(len(ids), "job"))
			if err := cli.Confirm(cmd, question, question+" Without a terminal, --yes is required to confirm"); err != nil {
				return err
			}
		}
	}
	audit := operate.Audit{Actor: cli.Operator(), Selection: c.selection.String(), Operation: rand.Text()}
	c.out, c.errOut = cmd.OutOrStdout(), cmd.ErrOrStderr()
	bar := terminal.NewProgress(c.errOut, len(ids))
	defer bar.Clear()
	for step := range slices.Chunk(ids, operate.StepJobs) {
		if err := c.step(ctx, db, audit, bar, step); err != nil {
			bar.Clear()
			return fmt.Errorf("%s jobs, %d of %d done: %w", cmd.Name(), c.done, len(ids), err)
		}
	}
	bar.Clear()
	return c.sum(len(ids))
}

// sum prints how many jobs of all were changed, and returns an error if some were not.
func (c *change) sum(all int) error {
	if !c.JSON {
		if _, err := fmt.Fprintf(c.out, "%s %s.\n", c.Act.Did, cli.Plural(c.done, "job")); err != nil {
			return err
		}
	}
	if c.left > mostTold && !c.JSON {
		fmt.Fprintf(c.errOut, "and %d more\n", c.left-mostTold)
	}
	if c.left > 0 {
		return fmt.Errorf("not changed: %s of %d", cli.Plural(c.left, "job"), all)
	}
	return nil
}

// step changes some jobs and prints their outcomes.
func (c *change) step(ctx context.Context, db *cli.Session, audit operate.Audit, bar terminal.Progress, ids []int64) error {
	var outcomes []operate.Outcome
	err := db.In(ctx, audit, func(conn *pgx.Conn) (err error) {
		outcomes, err = c.Step(ctx, conn, pgx.Identifier{c.Schema}.Sanitize(), ids, c.done+c.left)
		return cli.Explain(err)
	})
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		if o.IsDone {
			c.done++
		}
	}
	bar.Add(len(ids))
	for _, o := range outcomes {
		if err := c.tell(bar, o); err != nil {
			return err
		}
	}
	return nil
}

// tell prints the outcome of a job: with --json always, otherwise only the reason why it was skipped.
func (c *change) tell(bar terminal.Progress, o operate.Outcome) error {
	if !o.IsDone {
		c.left++
	}
	if c.JSON {
		return json.NewEncoder(c.out).Encode(o)
	}
	if o.IsDone || c.left > mostTold {
		return nil
	}
	bar.Clear()
	_, err := fmt.Fprintf(c.errOut, "job %d: %s\n", o.ID, o.Reason)
	return err
}
