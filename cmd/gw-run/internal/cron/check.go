package cron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/cmd/gw-run/internal/worker"
	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/pkg/crontab"
)

const cronCheckHelp = `Reads a crontab as a worker would, and prints each item with its next five runs, in UTC and in its time zone.

Problems are printed on stderr as FILE:LINE:COLUMN and a message, and the exit code is 1: a worker refuses a crontab
with any problem. There is a warning if the folder tasks or the file gw.yaml beside FILE exists and does not serve the
task of an item, and, with --node or if the database has workers of Graphile Worker for Node.js, for items that these
cannot read.

The database, which must contain the queue, computes the runs; nothing is written to it. Without a database the items
are printed without their runs, and their time zones are not checked.`

// cronCheck is a run of `gw-run cron check`.
type cronCheck struct {
	path        string
	db          *cli.Session // nil without a database
	out, errOut io.Writer
	problems    int
	forNode     bool
	tasks       map[string]config.Task // the served tasks; nil if they are not known
}

func newCronCheckCommand(env cli.Env) *cobra.Command {
	var to cli.Database
	var forNode bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a crontab, and show when its items run next",
		Long:  cronCheckHelp,
		Example: `  gw-run cron check ./crontab
  gw-run cron check --connection postgres:///app ./crontab`,
		Args: cli.OneFile(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := &cronCheck{path: args[0], forNode: forNode, out: cmd.OutOrStdout(), errOut: cmd.ErrOrStderr()}
			return c.run(cmd.Context(), to, env.Getenv)
		},
	}
	to.AddFlags(cmd.Flags(), env.Getenv)
	cmd.Flags().BoolVar(&forNode, "node", false, "warn about items that Graphile Worker for Node.js cannot read")
	return cmd
}

// run checks the file, with the database if one is given.
func (c *cronCheck) run(ctx context.Context, to cli.Database, getenv func(string) string) error {
	text, err := os.ReadFile(c.path)
	if err != nil {
		return fmt.Errorf("read crontab: %w", err)
	}
	err = to.Complete(getenv)
	switch {
	case errors.Is(err, connection.ErrNone):
		fmt.Fprintln(c.errOut, "gw-run: no database given: next runs are not shown, time zones not checked")
	case err != nil:
		return err
	default:
		if c.db, err = to.Open(ctx); err != nil {
			return err
		}
		defer c.db.Close()
	}
	c.tasks = worker.ServedBeside(c.path, getenv)
	c.forNode = c.forNode || c.seesForeignWorkers(ctx)
	return c.check(ctx, string(text))
}

// seesForeignWorkers reports whether workers that are not registered hold jobs. Workers of Graphile Worker do not register.
func (c *cronCheck) seesForeignWorkers(ctx context.Context) bool {
	if c.db == nil {
		return false
	}
	found, err := c.db.Ask(ctx, `select w.worker_id from S.list_workers(max_rows => 1000) as w where not w.is_registered`)
	return err == nil && len(found.Rows) > 0
}

// check prints the items and problems of a crontab. It returns an error if a worker would refuse the crontab.
func (c *cronCheck) check(ctx context.Context, text string) error {
	report := crontab.Check(text)
	for _, item := range report.Items {
		if err := c.show(ctx, item); err != nil {
			return err
		}
	}
	c.warn(report)
	for _, problem := range report.Problems {
		c.complain(problem)
	}
	if c.problems > 0 {
		return fmt.Errorf("problems in %s: %d; a worker refuses all of it", c.path, c.problems)
	}
	_, err := fmt.Fprintf(c.out, "%s is valid: %s.\n", c.path, cli.Plural(len(report.Items), "item"))
	return err
}

// warn prints the warnings: about items that a worker accepts nevertheless.
func (c *cronCheck) warn(report crontab.Report) {
	warnings := report.Warnings
	if !c.forNode {
		warnings = nil
	}
	for _, item := range report.Items {
		if _, served := c.tasks[item.Task]; !served && c.tasks != nil {
			warnings = append(warnings, crontab.Problem{Line: item.Line, Column: 1, Message: fmt.Sprintf(
				"neither the folder of tasks nor the config file beside this crontab serves the task %q.", item.Task)})
		}
	}
	for _, warning := range warnings {
		fmt.Fprintf(c.errOut, "%s:%d:%d: warning: %s\n", c.path, warning.Line, warning.Column, warning.Message)
	}
}

func (c *cronCheck) complain(problem crontab.Problem) {
	c.problems++
	fmt.Fprintf(c.errOut, "%s:%s\n", c.path, problem)
}

// show prints an item and its next runs.
func (c *cronCheck) show(ctx context.Context, item crontab.Item) error {
	if _, err := io.WriteString(c.out, describe(item)); err != nil {
		return err
	}
	if c.db == nil {
		return nil
	}
	runs, err := c.nextRuns(ctx, item)
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(refusal.Code, "GWR") {
		c.complain(crontab.Problem{Line: item.Line, Column: 1, Message: refusal.Message})
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask for the next runs: %w", cli.Explain(err))
	}
	if len(runs) == 0 {
		runs = []string{"never runs"}
	}
	_, err = fmt.Fprintf(c.out, "  %s\n", strings.Join(runs, "\n  "))
	return err
}

// nextRuns returns the next five times that an item runs, as text.
func (c *cronCheck) nextRuns(ctx context.Context, item crontab.Item) ([]string, error) {
	rows, _ := c.db.Conn.Query(ctx, c.db.SQL(`
		with recursive runs (number, run) as (
		  select 1, S.cron_next($1::text, pg_catalog.now(), $2::text)
		  union all
		  select r.number operator(pg_catalog.+) 1, S.cron_next($1::text, r.run, $2::text)
		    from runs as r
		   where r.run is not null and r.number operator(pg_catalog.<) 5
		)
		select pg_catalog.concat(
		         pg_catalog.to_char(r.run at time zone 'UTC', $3::text), ' UTC',
		         case when $2::text operator(pg_catalog.<>) 'UTC'
		              then pg_catalog.concat(', ', pg_catalog.to_char(r.run at time zone $2::text, $3::text), ' ', $2::text) end)
		  from runs as r
		 where r.run is not null
		 order by r.number`), item.Pattern, cmp.Or(item.TimeZone, "UTC"), "Dy YYYY-MM-DD HH24:MI") // the error comes again
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// describe returns the item's line and values as text, without its runs.
func describe(item crontab.Item) string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d: %s %s", item.Line, item.Pattern, item.Task)
	say := func(name string, value any, isGiven bool) {
		if isGiven {
			fmt.Fprintf(&b, " %s=%v", name, value)
		}
	}
	say("id", item.Identifier, item.Identifier != item.Task)
	say("tz", item.TimeZone, item.TimeZone != "")
	say("fill", item.Fill, item.Fill != 0)
	say("max", item.MaxAttempts, item.MaxAttempts != 0)
	say("queue", item.QueueName, item.QueueName != "")
	say("priority", item.Priority, item.Priority != 0)
	say("jobKey", strconv.Quote(item.JobKey), item.JobKey != "")
	say("jobKeyMode", item.JobKeyMode, item.JobKeyMode != "")
	if item.Payload != nil {
		fmt.Fprintf(&b, " %s", item.Payload)
	}
	return b.String() + "\n"
}
