package queue

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

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
