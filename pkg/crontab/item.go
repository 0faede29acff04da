package crontab

import (
	"encoding/json"
	"time"
)

// Item is one line of a crontab: which job to add, and when. [Parse], [Load] and the functions named after a schedule,
// such as [DailyAt], create items, and make sure that the database accepts them.
//
// Encoded as JSON, an item is an element of the array that the SQL function run_cron takes.
type Item struct {
	// Identifier is the name under which the database stores the last run of the item. It is unique among the items of
	// a queue; an item with a new identifier is a new item.
	Identifier string

	// Task is the task identifier of the jobs.
	Task string

	// Pattern is the schedule: minutes, hours, days of the month, months and days of the week, separated by spaces.
	Pattern string

	// TimeZone is the name of Pattern's time zone in the database. Empty is UTC.
	TimeZone string

	// Payload is a JSON object, or nil. The jobs get its members and _cron, which contains the time at which they were
	// due.
	Payload json.RawMessage

	// Fill is how far back missed runs are backfilled, in whole seconds. 0 means not at all.
	Fill time.Duration

	// MaxAttempts, QueueName, Priority, JobKey and JobKeyMode are arguments of add_job. A zero value selects its
	// default.
	MaxAttempts int
	QueueName   string
	Priority    int
	JobKey      string
	JobKeyMode  JobKeyMode

	// Line is the line of the crontab from which the item was read, from 1. It is 0 for an item that was not read.
	Line int
}

// JobKeyMode decides what happens to a job that is waiting under the key of a new job.
type JobKeyMode string

const (
	// Replace replaces all values of the waiting job.
	Replace JobKeyMode = "replace"

	// PreserveRunAt is Replace, but a job that was not tried yet keeps its run_at.
	PreserveRunAt JobKeyMode = "preserve_run_at"
)

// MarshalJSON encodes i in the form of run_cron: Fill in seconds, and without values that are left to the database.
func (i Item) MarshalJSON() ([]byte, error) {
	return encode(struct {
		Identifier  string          `json:"identifier"`
		Task        string          `json:"task"`
		Pattern     string          `json:"pattern"`
		TimeZone    string          `json:"time_zone,omitempty"`
		Payload     json.RawMessage `json:"payload,omitempty"`
		Fill        int64           `json:"fill,omitempty"`
		MaxAttempts int             `json:"max_attempts,omitempty"`
		QueueName   string          `json:"queue_name,omitempty"`
		Priority    int             `json:"priority,omitempty"`
		JobKey      string          `json:"job_key,omitempty"`
		JobKeyMode  JobKeyMode      `json:"job_key_mode,omitempty"`
	}{
		i.Identifier, i.Task, i.Pattern, i.TimeZone, i.Payload, int64(i.Fill / time.Second),
		i.MaxAttempts, i.QueueName, i.Priority, i.JobKey, i.JobKeyMode,
	})
}
