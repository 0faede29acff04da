package crontab

import (
	"encoding/json"
	"time"
)

// Item is one line of a crontab: which job to add, and when. It is made by [Parse], [Load] or one of the functions that
// are named after a schedule, such as [DailyAt], which all make sure that the database can take it.
//
// Encoded as JSON it is an element of the array that the SQL function run_cron takes.
type Item struct {
	// Identifier is the name under which the database remembers when the item ran last. It is unique among the items of a
	// queue, and a new name makes a new item.
	Identifier string

	// Task is the task identifier of the jobs.
	Task string

	// Pattern is when they run: minutes, hours, days of the month, months and days of the week, with a space between.
	Pattern string

	// TimeZone is the time zone of Pattern by its name in the database. Empty is UTC.
	TimeZone string

	// Payload is a JSON object, or nil. The jobs get its members and _cron, which tells the time they were due.
	Payload json.RawMessage

	// Fill is how far back runs are made up for that nobody was there to schedule, in whole seconds. 0 is not at all.
	Fill time.Duration

	// MaxAttempts, QueueName, Priority, JobKey and JobKeyMode are what add_job takes. A zero value leaves it to add_job.
	MaxAttempts int
	QueueName   string
	Priority    int
	JobKey      string
	JobKeyMode  JobKeyMode

	// Line is the line of the crontab that the item was read from, 1 for the first. It is 0 for an item that was not read.
	Line int
}

// JobKeyMode says what becomes of a job that waits under the key of one that is added.
type JobKeyMode string

const (
	// Replace gives the waiting job all values of the new one.
	Replace JobKeyMode = "replace"

	// PreserveRunAt is Replace, but a job that has not been tried yet keeps its run_at.
	PreserveRunAt JobKeyMode = "preserve_run_at"
)

// MarshalJSON encodes i as run_cron takes it: Fill in seconds, and without what is left to the database.
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
