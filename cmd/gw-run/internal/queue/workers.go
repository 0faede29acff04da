package queue

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

const workersHelp = `Prints the registered workers with the time when they were last seen, and workers that are not registered but hold jobs
or queues, such as those of Graphile Worker for Node.js. RUNNING is the number of jobs that a worker ran at its last
heartbeat and the number that it may run at once, CLAIMED the number of jobs that it holds. STATE is working; draining or
drained after gw-run drain; silent if the other workers take its jobs, because it has sent no heartbeat for a while.

With more than some hundred thousand jobs the jobs of workers that are not registered are counted in a sample: numbers
with ~ or < are estimates, and such a worker may be missing. The jobs of a dead worker are freed by the others, or at once
by gw-run unlock.`

const workersExamples = `  gw-run workers
  gw-run workers --watch
  gw-run workers --json | jq -r 'select(.is_registered | not) | .worker_id'`

// workerRow is a row of list_workers().
type workerRow struct {
	inspect.Worker
}

func (w workerRow) running() string {
	if !w.IsRegistered {
		return cli.Count(w.Running, w.Scale)
	}
	return fmt.Sprintf("%s/%d", cli.Count(w.Running, w.Scale), w.Concurrency)
}

func (w workerRow) state() string {
	if !w.IsRegistered {
		return "not registered"
	}
	return w.State
}

func (w workerRow) lastSeen(now time.Time) string {
	if !w.IsRegistered {
		return ""
	}
	return cli.Ago(w.LastSeenAt, now)
}

func (w workerRow) process() string {
	if w.PID == 0 {
		return w.Host
	}
	return fmt.Sprintf("%s:%d", w.Host, w.PID)
}

func (w workerRow) tasks() string {
	switch {
	case !w.IsRegistered:
		return ""
	case len(w.Tasks) == 0:
		return "any"
	case len(w.Tasks) == 1:
		return terminal.Short(w.Tasks[0], 40)
	}
	return fmt.Sprintf("%s and %d more", terminal.Short(w.Tasks[0], 40), len(w.Tasks)-1)
}

var workerColumns = []terminal.Column[workerRow]{
	{Title: "WORKER", Cell: func(w workerRow, _ time.Time) string { return w.ID }},
	{Title: "PROCESS", Cell: func(w workerRow, _ time.Time) string { return w.process() }},
	{Title: "VERSION", Cell: func(w workerRow, _ time.Time) string { return w.Version }},
	{Title: "STATE", Cell: func(w workerRow, _ time.Time) string { return w.state() }},
	{Title: "RUNNING", Numbers: true, Cell: func(w workerRow, _ time.Time) string { return w.running() }},
	{Title: "CLAIMED", Numbers: true, Cell: func(w workerRow, _ time.Time) string { return cli.Count(w.Claimed, w.Scale) }},
	{Title: "LONGEST", Cell: func(w workerRow, now time.Time) string { return cli.Since(w.LongestSince, now) }},
	{Title: "STARTED", Cell: func(w workerRow, now time.Time) string { return cli.Ago(w.StartedAt, now) }},
	{Title: "LAST SEEN", Cell: workerRow.lastSeen},
	{Title: "TASKS", Cell: func(w workerRow, _ time.Time) string { return w.tasks() }},
}

func newWorkersCommand(env cli.Env) *cobra.Command {
	return names[workerRow]{
		cobra:   cobra.Command{Use: "workers", Short: "List workers, with the number of their running jobs", Long: workersHelp, Example: workersExamples},
		after:   "worker",
		query:   `select l.* from S.list_workers($1::text, $2::integer) as l order by l.worker_id`,
		columns: workerColumns,
		name:    func(w workerRow) string { return w.ID },
	}.command(env)
}
