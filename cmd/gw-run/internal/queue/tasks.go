package queue

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

const tasksHelp = `Prints the tasks that the queue has ever had jobs of, and those of registered workers that were seen in the last five
minutes, with the number of their jobs in each state (see gw-run jobs). WORKERS is the number of these workers that have
the task. Workers of Graphile Worker for Node.js do not register.

With more than some hundred thousand jobs a sample is counted: numbers with ~ or < are estimates.`

const tasksExamples = `  gw-run tasks
  gw-run tasks --watch=10s
  gw-run tasks --json | jq -r 'select(.ready > 0 and .workers == 0) | .task_identifier'`

// taskRow is a row of list_tasks().
type taskRow struct {
	inspect.Counts
	Task    string `json:"task_identifier"`
	Workers int64  `json:"workers"`
}

var taskColumns = []terminal.Column[taskRow]{
	{Title: "TASK", Cell: func(t taskRow, _ time.Time) string { return t.Task }},
	{Title: "READY", Numbers: true, Cell: func(t taskRow, _ time.Time) string { return cli.Count(t.Ready, t.Scale) }},
	{Title: "SCHEDULED", Numbers: true, Cell: func(t taskRow, _ time.Time) string { return cli.Count(t.Scheduled, t.Scale) }},
	{Title: "RUNNING", Numbers: true, Cell: func(t taskRow, _ time.Time) string { return cli.Count(t.Running, t.Scale) }},
	{Title: "FAILED", Numbers: true, Cell: func(t taskRow, _ time.Time) string { return cli.Count(t.Failed, t.Scale) }},
	{Title: "WORKERS", Numbers: true, Cell: func(t taskRow, _ time.Time) string { return fmt.Sprint(t.Workers) }},
}

func newTasksCommand(env cli.Env) *cobra.Command {
	return names[taskRow]{
		cobra:   cobra.Command{Use: "tasks", Short: "List tasks, with their number of jobs in each state", Long: tasksHelp, Example: tasksExamples},
		after:   "task",
		query:   `select l.* from S.list_tasks($1::text, $2::integer) as l order by l.task_identifier`,
		columns: taskColumns,
		name:    func(t taskRow) string { return t.Task },
	}.command(env)
}
