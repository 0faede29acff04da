package main

import (
	"encoding/json"
	"fmt"
	"time"

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
		return "due " + ago(j.RunAt, now)
	case "scheduled":
		return ago(j.RunAt, now)
	case "running":
		return "for " + since(j.LockedAt, now)
	default:
		return ""
	}
}

var jobColumns = []column[job]{
	{title: "ID", numbers: true, cell: func(j job, _ time.Time) string { return fmt.Sprint(j.ID) }},
	{title: "STATE", cell: func(j job, _ time.Time) string { return j.State }},
	{title: "TASK", cell: func(j job, _ time.Time) string { return j.Task }},
	{title: "QUEUE", cell: func(j job, _ time.Time) string { return j.Queue }},
	{title: "KEY", cell: func(j job, _ time.Time) string { return terminal.Short(j.Key, 40) }},
	{title: "PRIORITY", numbers: true, cell: func(j job, _ time.Time) string { return fmt.Sprint(j.Priority) }},
	{title: "ATTEMPTS", numbers: true, cell: func(j job, _ time.Time) string { return j.Tried() }},
	{title: "WHEN", cell: job.when},
	{title: "ADDED", cell: func(j job, now time.Time) string { return ago(j.CreatedAt, now) }},
	{title: "LAST ERROR", cell: func(j job, _ time.Time) string { return terminal.Short(j.LastError, 60) }},
}
