package limits

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/storable"
	"github.com/gwsql/gw/internal/terminal"
)

const pauseHelp = `Keeps jobs from starting: those of a task, of a named queue, of a limit or one of its lanes, or all jobs with --all.
Running jobs continue. Jobs can be added, and wait. A pause survives restarts of the workers and of the database; it
ends at --until or after --for, otherwise with gw-run resume. A second pause of the same changes the reason and the end.

Workers of Graphile Worker for Node.js do not see the jobs of a paused queue, nor those of a paused task outside of queues.
They do not obey --all.

A time is any text that PostgreSQL accepts, in UTC if it has no time zone: '2026-12-24 18:00+01', tomorrow.`

const pauseExamples = `  gw-run pause --task send_email --reason 'provider is down' --for 30m
  gw-run pause --limit exports --lane tenant-42
  gw-run pause --all --reason migration`

const resumeHelp = `Ends a pause. Give the flags that created the pause. Due jobs start at once. The exit code is 1 if there is no such
pause; gw-run pauses lists them.`

const resumeExamples = `  gw-run resume --task send_email
  gw-run resume --all`

const pausesHelp = `Prints the pauses in force, the oldest first: what is paused, since when, by which role, why, and until when.`

func newPauseCommand(env cli.Env) *cobra.Command {
	var (
		t             target
		reason, until string
		last          cli.Span
	)
	o := &cli.Order{Cobra: cobra.Command{
		Use: "pause", Short: "Keep jobs from starting, of a task, a queue, a limit or all", Long: pauseHelp, Example: pauseExamples, Args: cli.NoArguments,
	}}
	t.addFlags(o.Cobra.Flags())
	o.Cobra.Flags().StringVar(&reason, "reason", "", "`text` that gw-run pauses and gw-run why print")
	o.Cobra.Flags().StringVar(&until, "until", "", "`time` at which the pause ends")
	o.Cobra.Flags().Var(&last, "for", "`time` from now at which the pause ends, such as 30m or 2h")
	o.Cobra.PreRunE = func(*cobra.Command, []string) error {
		if until != "" && last != "" {
			return cli.Usagef("--until and --for exclude each other")
		}
		return t.check()
	}
	o.Call = func(ctx context.Context, db *cli.Session, _ []string) (string, error) {
		_, err := db.Act(ctx, `
			select S.pause($1::text, $2::text, $3::text, $4::text, $5::text,
			               coalesce($6::text::timestamptz, pg_catalog.now() operator(pg_catalog.+) $7::text::interval))`,
			append(t.arguments(), storable.Text(reason), statement.OrNull(until), statement.OrNull(last))...)
		return t.what() + " is paused.", err
	}
	return o.Command(env)
}

func newResumeCommand(env cli.Env) *cobra.Command {
	var t target
	o := &cli.Order{Cobra: cobra.Command{
		Use: "resume", Short: "End a pause", Long: resumeHelp, Example: resumeExamples, Args: cli.NoArguments,
	}}
	t.addFlags(o.Cobra.Flags())
	o.Cobra.PreRunE = func(*cobra.Command, []string) error { return t.check() }
	o.Call = func(ctx context.Context, db *cli.Session, _ []string) (string, error) {
		wasPaused, err := cli.ActOnce[bool](ctx, db, `select S.resume($1::text, $2::text, $3::text, $4::text) as value`,
			t.arguments()...)
		if err == nil && !wasPaused {
			err = fmt.Errorf("%s is not paused; gw-run pauses lists the pauses", t.what())
		}
		return t.what() + " is resumed.", err
	}
	return o.Command(env)
}

// pauseRow is a row of list_pauses().
type pauseRow struct {
	Task     string         `json:"task"`
	Queue    string         `json:"queue"`
	Limit    string         `json:"limit_name"`
	Lane     string         `json:"lane"`
	Reason   string         `json:"reason"`
	Author   string         `json:"author"`
	PausedAt inspect.Moment `json:"paused_at"`
	Until    inspect.Moment `json:"until"`
}

// what returns the target of the pause.
func (p pauseRow) what() string {
	switch {
	case p.Task != "":
		return "task " + p.Task
	case p.Queue != "":
		return "queue " + p.Queue
	case p.Lane != "":
		return "lane " + p.Lane + " of limit " + p.Limit
	case p.Limit != "":
		return "limit " + p.Limit
	}
	return "everything"
}

var pauseColumns = []terminal.Column[pauseRow]{
	{Title: "PAUSED", Cell: func(p pauseRow, _ time.Time) string { return p.what() }},
	{Title: "SINCE", Cell: func(p pauseRow, now time.Time) string { return cli.Ago(p.PausedAt, now) }},
	{Title: "BY", Cell: func(p pauseRow, _ time.Time) string { return p.Author }},
	{Title: "UNTIL", Cell: func(p pauseRow, now time.Time) string { return cli.Ago(p.Until, now) }},
	{Title: "REASON", Cell: func(p pauseRow, _ time.Time) string { return terminal.Short(p.Reason, 60) }},
}

func newPausesCommand(env cli.Env) *cobra.Command {
	return cli.WholeList[pauseRow]{
		Cobra: cobra.Command{
			Use: "pauses", Short: "List the pauses", Long: pausesHelp, Example: "  gw-run pauses\n  gw-run pauses --json | jq -r .reason",
		},
		Rows:    "pauses",
		Query:   `select l.* from S.list_pauses() as l`,
		Columns: pauseColumns,
	}.Command(env)
}
