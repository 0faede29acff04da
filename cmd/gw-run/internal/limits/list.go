package limits

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/terminal"
)

const limitListHelp = `Prints the limits, with the number of their lanes, of their running jobs and of due jobs that wait. FULL counts the lanes
that run their maximum of jobs, CLOSED those that a worker has closed because a service accepts no more requests.`

const limitLanesHelp = `Prints the lanes of a limit: first those that start no job, those in which most jobs wait in front, then the others by
their keys. WAITING is the number of due jobs of the lane that do not run. STATE is open, or why the lane starts no job now:
  full    the maximum of jobs runs
  rate    the maximum of jobs per time has started
  closed  a worker has reported that the service accepts no more requests
  paused  it is paused, see gw-run pauses

A lane is there once a worker has looked at a job of it. The lane (all) stands for all jobs of the limit
together, if --total-running is set.`

const limitLanesExamples = `  gw-run limit lanes exports
  gw-run limit lanes exports --json | jq -r 'select(.reason == "full") | .lane'`

// laneName returns the key of a lane, or what stands for all lanes.
func laneName(l inspect.Lane) string {
	if l.IsTotal {
		return "(all)"
	}
	return orEmpty(l.Key)
}

// orEmpty formats a value that may be absent.
func orEmpty[T any](value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(*value)
}

// rateOf formats a rate, such as "100 per 00:01:00, burst 10".
func rateOf(rate *int64, per string, burst *int64) string {
	if rate == nil {
		return ""
	}
	text := fmt.Sprintf("%d per %s", *rate, per)
	if burst != nil && *burst != *rate {
		text += fmt.Sprintf(", burst %d", *burst)
	}
	return text
}

var limitColumns = []terminal.Column[inspect.Limit]{
	{Title: "LIMIT", Cell: func(l inspect.Limit, _ time.Time) string { return l.Name }},
	{Title: "TASKS", Cell: func(l inspect.Limit, _ time.Time) string { return strings.Join(l.Tasks, ", ") }},
	{Title: "BY", Cell: func(l inspect.Limit, _ time.Time) string { return l.By }},
	{Title: "MAX RUNNING", Numbers: true, Cell: func(l inspect.Limit, _ time.Time) string { return orEmpty(l.MaxRunning) }},
	{Title: "TOTAL", Numbers: true, Cell: func(l inspect.Limit, _ time.Time) string { return orEmpty(l.TotalRunning) }},
	{Title: "RATE", Cell: func(l inspect.Limit, _ time.Time) string { return rateOf(l.Rate, l.Per, l.Burst) }},
	{Title: "FAIR", Cell: func(l inspect.Limit, _ time.Time) string { return cli.Yes(l.Fair) }},
	{Title: "LANES", Numbers: true, Cell: func(l inspect.Limit, _ time.Time) string { return fmt.Sprint(l.Lanes) }},
	{Title: "FULL", Numbers: true, Cell: func(l inspect.Limit, _ time.Time) string { return fmt.Sprint(l.FullLanes) }},
	{Title: "CLOSED", Numbers: true, Cell: func(l inspect.Limit, _ time.Time) string { return fmt.Sprint(l.ClosedLanes) }},
	{Title: "RUNNING", Numbers: true, Cell: func(l inspect.Limit, _ time.Time) string { return fmt.Sprint(l.Running) }},
	{Title: "WAITING", Numbers: true, Cell: func(l inspect.Limit, _ time.Time) string { return waiting(l.Waiting, l.MoreWaiting) }},
}

// waiting formats a number of jobs that may be more.
func waiting(jobs int64, more bool) string {
	if more {
		return fmt.Sprintf(">%d", jobs)
	}
	return fmt.Sprint(jobs)
}

var laneColumns = []terminal.Column[inspect.Lane]{
	{Title: "LANE", Cell: func(l inspect.Lane, _ time.Time) string { return laneName(l) }},
	{Title: "MAX RUNNING", Numbers: true, Cell: func(l inspect.Lane, _ time.Time) string { return orEmpty(l.MaxRunning) }},
	{Title: "RATE", Cell: func(l inspect.Lane, _ time.Time) string { return rateOf(l.Rate, l.Per, l.Burst) }},
	{Title: "RUNNING", Numbers: true, Cell: func(l inspect.Lane, _ time.Time) string { return fmt.Sprint(l.Running) }},
	{Title: "WAITING", Numbers: true, Cell: func(l inspect.Lane, _ time.Time) string { return waiting(l.Waiting, l.MoreWaiting) }},
	{Title: "STATE", Cell: func(l inspect.Lane, _ time.Time) string { return l.State() }},
	{Title: "UNTIL", Cell: func(l inspect.Lane, now time.Time) string { return cli.Ago(l.Until, now) }},
	{Title: "JOBS", Cell: func(l inspect.Lane, _ time.Time) string { return cli.IDs(l.JobIDs) }},
}

func newLimitListCommand(env cli.Env) *cobra.Command {
	return cli.WholeList[inspect.Limit]{
		Cobra: cobra.Command{
			Use: "list", Short: "List the limits", Long: limitListHelp, Example: "  gw-run limit list\n  gw-run limit list --json | jq -r .name",
		},
		Rows:    "limits",
		Query:   `select l.* from S.list_limits() as l order by l.name`,
		Columns: limitColumns,
	}.Command(env)
}

func newLimitLanesCommand(env cli.Env) *cobra.Command {
	var (
		p     cli.Pages
		after string
	)
	cmd := &cobra.Command{
		Use:     "lanes NAME",
		Short:   "List the lanes of a limit",
		Long:    limitLanesHelp,
		Example: limitLanesExamples,
		Args:    cli.Arguments(1, 1, "the lanes of which limit? Give one name, as gw-run limit list shows it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.Run(cmd, env, func(ctx context.Context, db *cli.Session, out, errOut io.Writer) error {
				return listLanes(ctx, db, p, args[0], after, out, errOut)
			})
		},
	}
	p.AddLimit(cmd)
	cmd.Flags().StringVar(&after, "after", "", "only lanes after this `lane`")
	p.AddFlags(cmd, env.Getenv)
	return cmd
}

func listLanes(ctx context.Context, db *cli.Session, p cli.Pages, limit, after string, out, errOut io.Writer) error {
	known, err := db.Ask(ctx, `select from S.list_limits(count_waiting => false) as l where l.name operator(pg_catalog.=) $1::text`, limit)
	if err != nil {
		return fmt.Errorf("list lanes: %w", err)
	}
	if len(known.Rows) == 0 {
		return fmt.Errorf("there is no limit %q", limit)
	}
	var (
		inFront []inspect.Lane // the lanes that start no job
		first   inspect.Answer
	)
	if after == "" {
		inFront, first, err = cli.Rows[inspect.Lane](db.Ask(ctx, `
			select l.* from S.list_lanes($1::text, max_rows => $2::integer, barred => true) as l`, limit, p.Limit/2))
		if err != nil {
			return fmt.Errorf("list lanes: %w", err)
		}
	}
	lanes, found, err := cli.Rows[inspect.Lane](db.Ask(ctx, `
		select l.* from S.list_lanes($1::text, $2::text, $3::integer) as l order by l.lane nulls first, l.is_total`,
		limit, statement.OrNull(after), p.Limit+1))
	if err != nil {
		return fmt.Errorf("list lanes: %w", err)
	}
	rows, last := first.Rows, ""
	for i, lane := range lanes {
		if slices.ContainsFunc(inFront, lane.IsLane) {
			continue
		}
		if rows = append(rows, found.Rows[i]); len(rows) > p.Limit {
			break // this row only shows that there are more
		}
		last = orEmpty(lane.Key)
	}
	return cli.PrintPage(p, inspect.Answer{Rows: rows, Now: found.Now}, laneColumns,
		func(inspect.Lane) string { return cli.ShellWord(last) }, out, errOut)
}
