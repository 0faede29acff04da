package queue

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

const queuesHelp = `Prints the named queues with the number of their jobs in each state (see gw-run jobs), and which worker has held the
queue for how long: one job of a queue runs at a time, the others wait. Jobs without a queue are not counted.

With more than some hundred thousand jobs a sample is counted: numbers with ~ or < are estimates.`

const queuesExamples = `  gw-run queues
  gw-run queues --json | jq -r 'select(.locked_by != null) | .queue_name'`

// queueRow is a row of list_queues().
type queueRow struct {
	inspect.Counts
	Queue    string         `json:"queue_name"`
	LockedAt inspect.Moment `json:"locked_at"`
	LockedBy string         `json:"locked_by"`
}

var queueColumns = []terminal.Column[queueRow]{
	{Title: "QUEUE", Cell: func(q queueRow, _ time.Time) string { return q.Queue }},
	{Title: "READY", Numbers: true, Cell: func(q queueRow, _ time.Time) string { return cli.Count(q.Ready, q.Scale) }},
	{Title: "SCHEDULED", Numbers: true, Cell: func(q queueRow, _ time.Time) string { return cli.Count(q.Scheduled, q.Scale) }},
	{Title: "RUNNING", Numbers: true, Cell: func(q queueRow, _ time.Time) string { return cli.Count(q.Running, q.Scale) }},
	{Title: "FAILED", Numbers: true, Cell: func(q queueRow, _ time.Time) string { return cli.Count(q.Failed, q.Scale) }},
	{Title: "HELD FOR", Cell: func(q queueRow, now time.Time) string { return cli.Since(q.LockedAt, now) }},
	{Title: "HELD BY", Cell: func(q queueRow, _ time.Time) string { return q.LockedBy }},
}

func newQueuesCommand(env cli.Env) *cobra.Command {
	return names[queueRow]{
		cobra:   cobra.Command{Use: "queues", Short: "List named queues, with their number of jobs in each state", Long: queuesHelp, Example: queuesExamples},
		after:   "queue",
		query:   `select l.* from S.list_queues($1::text, $2::integer) as l order by l.queue_name`,
		columns: queueColumns,
		name:    func(q queueRow) string { return q.Queue },
	}.command(env)
}
