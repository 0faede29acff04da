package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/internal/terminal"
)

const statsHelp = `Prints the number of jobs in each state (see gw-run jobs), for how long the oldest ready job has been due, for how long
the longest running job has been running, and how many registered workers were seen in the last five minutes. It also
prints how many jobs per second are added, and how many are gone because they were completed or removed.

The rates come from counters in the server's statistics, which are read twice, --over apart, or with --watch at each
refresh. The counters may lag by a second. With more than some hundred thousand jobs a sample is counted: numbers
with ~ or < are estimates.

With --since it prints instead what the jobs of each task that is kept (see gw-run history) did within that time: how many
attempts ended and how, and the times that 50, 95 and 99 percent of them did not exceed, from when a job was due to its
claim (WAITED) and from the claim to the end (RAN).

With --json the output is one object, with the column names of queue_stats(), added_per_second and gone_per_second; with
--since one object for each task, with the times in seconds.`

const statsExamples = `  gw-run stats
  gw-run stats --watch
  gw-run stats --since 24h
  gw-run stats --over 0s --json | jq .oldest_ready_seconds`

// statsRow is the row of queue_stats().
type statsRow struct {
	inspect.Stats
	Added     int64    `json:"added"`
	Gone      int64    `json:"gone"`
	AddedRate *float64 `json:"added_per_second"`
	GoneRate  *float64 `json:"gone_per_second"`

	at time.Time
}

func newStatsCommand(env cli.Env) *cobra.Command {
	var (
		l           cli.Listing
		over, since time.Duration
	)
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Show the number of jobs in each state, their ages and their rates",
		Long:    statsHelp,
		Example: statsExamples,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if over < 0 {
				return cli.Usagef("--over is %s, must not be negative", over)
			}
			if since < 0 {
				return cli.Usagef("--since is %s, must not be negative", since)
			}
			var before *statsRow
			return l.Run(cmd, env, func(ctx context.Context, db *cli.Session, out, _ io.Writer) error {
				if since > 0 {
					return printTaskStats(ctx, db, l, since, out)
				}
				if before == nil && over > 0 && l.Watch == 0 {
					first, err := readStats(ctx, db, nil)
					if err != nil {
						return err
					}
					before = &first
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(over):
					}
				}
				now, err := readStats(ctx, db, before)
				if err != nil {
					return err
				}
				before = &now
				return printStats(out, now, l.JSON)
			})
		},
	}
	cmd.Flags().DurationVar(&over, "over", 2*time.Second, "`time` over which the rates are measured; 0s for no rates")
	cmd.Flags().DurationVar(&since, "since", 0, "`time` before now for which to show what the jobs of kept tasks did")
	l.AddFlags(cmd, env.Getenv)
	return cmd
}

// readStats reads the statistics, with the rates since an earlier reading. There are no rates if the counters were reset in
// between.
func readStats(ctx context.Context, db *cli.Session, before *statsRow) (statsRow, error) {
	rows, found, err := cli.Rows[statsRow](db.Ask(ctx, `select s.* from S.queue_stats() as s`))
	if err != nil {
		return statsRow{}, fmt.Errorf("read statistics: %w", err)
	}
	if len(rows) != 1 {
		return statsRow{}, errors.New("read statistics: the queue has no table of jobs")
	}
	now := rows[0]
	now.at = found.Now
	if before == nil || now.Added < before.Added || now.Gone < before.Gone {
		return now, nil
	}
	if seconds := now.at.Sub(before.at).Seconds(); seconds > 0 {
		now.AddedRate = new(float64(now.Added-before.Added) / seconds)
		now.GoneRate = new(float64(now.Gone-before.Gone) / seconds)
	}
	return now, nil
}

func printStats(out io.Writer, s statsRow, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(s)
	}
	lines := [][2]string{
		{"ready", cli.Count(s.Ready, s.Scale) + forSeconds(", the oldest for ", s.OldestReady)},
		{"scheduled", cli.Count(s.Scheduled, s.Scale)},
		{"running", cli.Count(s.Running, s.Scale) + forSeconds(", the longest for ", s.LongestRunning)},
		{"failed", cli.Count(s.Failed, s.Scale)},
		{"workers", fmt.Sprint(s.Workers)},
		{"added", rate(s.AddedRate)},
		{"gone", rate(s.GoneRate)},
	}
	for _, line := range lines {
		if line[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(out, "%-10s %s\n", line[0], line[1]); err != nil {
			return err
		}
	}
	return nil
}

func forSeconds(text string, lasting *float64) string {
	if lasting == nil {
		return ""
	}
	return text + terminal.Duration(seconds.Duration(*lasting))
}

func rate(perSecond *float64) string {
	if perSecond == nil {
		return ""
	}
	return fmt.Sprintf("%.1f a second", *perSecond)
}

var taskStatsColumns = []terminal.Column[inspect.TaskStats]{
	{Title: "TASK", Cell: func(s inspect.TaskStats, _ time.Time) string { return s.Task }},
	{Title: "ATTEMPTS", Numbers: true, Cell: func(s inspect.TaskStats, _ time.Time) string { return fmt.Sprint(s.Attempts) }},
	{Title: "COMPLETED", Numbers: true, Cell: func(s inspect.TaskStats, _ time.Time) string { return fmt.Sprint(s.Completed) }},
	{Title: "FAILED", Numbers: true, Cell: func(s inspect.TaskStats, _ time.Time) string { return fmt.Sprint(s.Failed) }},
	{Title: "FOR GOOD", Numbers: true, Cell: func(s inspect.TaskStats, _ time.Time) string { return fmt.Sprint(s.PermanentlyFailed) }},
	{Title: "WAITED P50", Numbers: true, Cell: func(s inspect.TaskStats, _ time.Time) string { return terminal.ElapsedSeconds(s.WaitedP50) }},
	{Title: "P95", Numbers: true, Cell: func(s inspect.TaskStats, _ time.Time) string { return terminal.ElapsedSeconds(s.WaitedP95) }},
	{Title: "P99", Numbers: true, Cell: func(s inspect.TaskStats, _ time.Time) string { return terminal.ElapsedSeconds(s.WaitedP99) }},
	{Title: "RAN P50", Numbers: true, Cell: func(s inspect.TaskStats, _ time.Time) string { return terminal.ElapsedSeconds(s.RanP50) }},
	{Title: "P95", Numbers: true, Cell: func(s inspect.TaskStats, _ time.Time) string { return terminal.ElapsedSeconds(s.RanP95) }},
	{Title: "P99", Numbers: true, Cell: func(s inspect.TaskStats, _ time.Time) string { return terminal.ElapsedSeconds(s.RanP99) }},
}

// printTaskStats prints what the jobs of the kept tasks did within a time before now.
func printTaskStats(ctx context.Context, db *cli.Session, l cli.Listing, within time.Duration, out io.Writer) error {
	found, err := db.Ask(ctx, `
		select k.task, s.attempts, s.completed, s.failed, s.permanently_failed, s.recovered, s.snoozed, s.returned,
		       extract(epoch from s.waited_p50)::double precision as waited_p50, extract(epoch from s.waited_p95)::double precision as waited_p95,
		       extract(epoch from s.waited_p99)::double precision as waited_p99, extract(epoch from s.ran_p50)::double precision as ran_p50,
		       extract(epoch from s.ran_p95)::double precision as ran_p95, extract(epoch from s.ran_p99)::double precision as ran_p99, s.sampled
		  from S.list_kept_tasks() as k
		 cross join lateral S.task_stats(k.task,
		         pg_catalog.now() operator(pg_catalog.-) ($1::double precision operator(pg_catalog.*) interval '1 second')) as s
		 order by k.task`, within.Seconds())
	if err != nil {
		return fmt.Errorf("read statistics of tasks: %w", err)
	}
	return cli.PrintList(out, found, l.JSON, taskStatsColumns)
}
