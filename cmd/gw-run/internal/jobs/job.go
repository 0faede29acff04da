package jobs

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

// job is a row of list_jobs() or show_jobs().
type job struct {
	inspect.Job
	Payload json.RawMessage `json:"payload"`
}

// when describes the time that matters in the state of a job: when it is due, or for how long it has been running.
func (j job) when(now time.Time) string {
	switch j.State {
	case "ready":
		return "due " + cli.Ago(j.RunAt, now)
	case "scheduled":
		return cli.Ago(j.RunAt, now)
	case "running":
		return "for " + cli.Since(j.LockedAt, now)
	default:
		return ""
	}
}

var jobColumns = []terminal.Column[job]{
	{Title: "ID", Numbers: true, Cell: func(j job, _ time.Time) string { return fmt.Sprint(j.ID) }},
	{Title: "STATE", Cell: func(j job, _ time.Time) string { return j.State }},
	{Title: "TASK", Cell: func(j job, _ time.Time) string { return j.Task }},
	{Title: "QUEUE", Cell: func(j job, _ time.Time) string { return j.Queue }},
	{Title: "KEY", Cell: func(j job, _ time.Time) string { return terminal.Short(j.Key, 40) }},
	{Title: "PRIORITY", Numbers: true, Cell: func(j job, _ time.Time) string { return fmt.Sprint(j.Priority) }},
	{Title: "ATTEMPTS", Numbers: true, Cell: func(j job, _ time.Time) string { return j.Tried() }},
	{Title: "WHEN", Cell: job.when},
	{Title: "ADDED", Cell: func(j job, now time.Time) string { return cli.Ago(j.CreatedAt, now) }},
	{Title: "LAST ERROR", Cell: func(j job, _ time.Time) string { return terminal.Short(j.LastError, 60) }},
}
