package cron

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

const cronListHelp = `Prints the recurring jobs in the database: the schedules created by cron_schedule(), and the items of crontabs with
which a worker was ever started. Times are in UTC.

For an item of a crontab the database has only the identifier and the last run; gw-run cron check shows the rest from
the crontab. SOURCE shows how many registered workers have the item now. Workers of Graphile Worker do not register.

NEXT RUN is in the past, and marked as missed, if no worker has added its job within a minute: none runs cron.

LAST OUTCOME is the state of the last job, as in gw-run jobs, or unknown once the job has completed or was removed.
With --json a recurring job is one object per line, with the column names of the views recurring_jobs and
cron_schedules.`

const cronListExamples = `  gw-run cron list
  gw-run cron list --json | jq -r 'select(.last_outcome == "failed") | .identifier'`

// recurringJob is a row of the view recurring_jobs, joined with its row of cron_schedules.
type recurringJob struct {
	Identifier  string         `json:"identifier"`
	IsSchedule  bool           `json:"is_schedule"`
	Workers     []string       `json:"workers"`
	Task        string         `json:"task_identifier"`
	Pattern     string         `json:"pattern"`
	TimeZone    string         `json:"time_zone"`
	Paused      bool           `json:"paused"`
	NextRun     inspect.Moment `json:"next_run"`
	LastRun     inspect.Moment `json:"last_run"`
	MissedRun   inspect.Moment `json:"missed_run"`
	LastOutcome string         `json:"last_outcome"`
}

func (j recurringJob) source() string {
	switch {
	case j.IsSchedule:
		return "schedule"
	case len(j.Workers) == 0:
		return "crontab of no worker"
	case len(j.Workers) == 1:
		return "crontab of 1 worker"
	}
	return fmt.Sprintf("crontab of %d workers", len(j.Workers))
}

func (j recurringJob) nextRun() string {
	switch {
	case j.Paused:
		return "paused"
	case !j.MissedRun.IsNull():
		return "missed " + minute(j.MissedRun)
	}
	return minute(j.NextRun)
}

// minute formats a time in UTC, to the minute.
func minute(m inspect.Moment) string {
	return m.Show(func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") })
}

var cronColumns = []terminal.Column[recurringJob]{
	{Title: "IDENTIFIER", Cell: func(j recurringJob, _ time.Time) string { return j.Identifier }},
	{Title: "SOURCE", Cell: func(j recurringJob, _ time.Time) string { return j.source() }},
	{Title: "TASK", Cell: func(j recurringJob, _ time.Time) string { return j.Task }},
	{Title: "PATTERN", Cell: func(j recurringJob, _ time.Time) string { return j.Pattern }},
	{Title: "ZONE", Cell: func(j recurringJob, _ time.Time) string { return j.TimeZone }},
	{Title: "NEXT RUN", Cell: func(j recurringJob, _ time.Time) string { return j.nextRun() }},
	{Title: "LAST RUN", Cell: func(j recurringJob, _ time.Time) string { return minute(j.LastRun) }},
	{Title: "LAST OUTCOME", Cell: func(j recurringJob, _ time.Time) string { return j.LastOutcome }},
}

// noteCrontabs prints which command shows the rest of a crontab's items, if the list has items of crontabs.
func noteCrontabs(found inspect.Answer, notes io.Writer) error {
	jobs, err := inspect.Decode[recurringJob](found.Rows)
	if err == nil && slices.ContainsFunc(jobs, func(j recurringJob) bool { return !j.IsSchedule }) {
		_, err = fmt.Fprintln(notes, "Task, pattern and next run of a crontab's items are in the crontab: gw-run cron check FILE shows them.")
	}
	return err
}

func newCronListCommand(env cli.Env) *cobra.Command {
	return cli.WholeList[recurringJob]{
		Cobra: cobra.Command{Use: "list", Short: "List the recurring jobs in the database", Long: cronListHelp, Example: cronListExamples},
		Rows:  "recurring jobs",
		Query: `
			select r.identifier, r.is_schedule, r.workers, r.known_since, s.task_identifier, s.pattern, s.time_zone,
			       s.paused, s.next_run, r.last_run, s.last_job_id, s.last_outcome,
			       pg_catalog.to_jsonb(s) operator(pg_catalog.->) 'missed_run' as missed_run -- which schema 4 does not have
			  from S.recurring_jobs as r
			  left join S.cron_schedules as s on s.identifier operator(pg_catalog.=) r.identifier
			 order by r.identifier`,
		Columns: cronColumns,
		Note:    noteCrontabs,
	}.Command(env)
}
