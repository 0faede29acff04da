package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

var taskStatsColumns = []column[inspect.TaskStats]{
	{title: "TASK", cell: func(s inspect.TaskStats, _ time.Time) string { return s.Task }},
	{title: "ATTEMPTS", numbers: true, cell: func(s inspect.TaskStats, _ time.Time) string { return fmt.Sprint(s.Attempts) }},
	{title: "COMPLETED", numbers: true, cell: func(s inspect.TaskStats, _ time.Time) string { return fmt.Sprint(s.Completed) }},
	{title: "FAILED", numbers: true, cell: func(s inspect.TaskStats, _ time.Time) string { return fmt.Sprint(s.Failed) }},
	{title: "FOR GOOD", numbers: true, cell: func(s inspect.TaskStats, _ time.Time) string { return fmt.Sprint(s.PermanentlyFailed) }},
	{title: "WAITED P50", numbers: true, cell: func(s inspect.TaskStats, _ time.Time) string { return terminal.ElapsedSeconds(s.WaitedP50) }},
	{title: "P95", numbers: true, cell: func(s inspect.TaskStats, _ time.Time) string { return terminal.ElapsedSeconds(s.WaitedP95) }},
	{title: "P99", numbers: true, cell: func(s inspect.TaskStats, _ time.Time) string { return terminal.ElapsedSeconds(s.WaitedP99) }},
	{title: "RAN P50", numbers: true, cell: func(s inspect.TaskStats, _ time.Time) string { return terminal.ElapsedSeconds(s.RanP50) }},
	{title: "P95", numbers: true, cell: func(s inspect.TaskStats, _ time.Time) string { return terminal.ElapsedSeconds(s.RanP95) }},
	{title: "P99", numbers: true, cell: func(s inspect.TaskStats, _ time.Time) string { return terminal.ElapsedSeconds(s.RanP99) }},
}

// printTaskStats prints what the jobs of the kept tasks did within a time before now.
func printTaskStats(ctx context.Context, db *session, l listing, within time.Duration, out io.Writer) error {
	found, err := db.ask(ctx, `
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
	return printList(out, found, l.json, taskStatsColumns)
}
