package shim

import (
	"encoding/json"
	"log/slog"
	"time"
)

// Job is one claim of a job: what the database said when it gave the job to this worker.
type Job struct {
	ID             int64
	TaskIdentifier string
	Payload        json.RawMessage
	QueueName      string    // empty if the job is in no named queue
	Priority       int       // lower runs first
	RunAt          time.Time // zero if it is -infinity
	Attempts       int       // this attempt included, so 1 at the first
	MaxAttempts    int
	Key            string   // the job_key it was added with, empty without
	Flags          []string // sorted
	Lease          int64    // told this claim from every other of the same job when it was made; see ErrLeaseLost
	CreatedAt      time.Time
	LastError      string // of the attempt before, empty at the first
	Revision       int    // how often the job was replaced through its key

	logger *slog.Logger
	hold   *hold

	carried    map[string]string // what was sent along with it
	propagator Propagator        // that knows what that means
}

// Logger returns a logger whose lines carry worker_id, task_identifier and job_id. A Job that no worker claimed, as in
// a test, logs to slog.Default().
func (j *Job) Logger() *slog.Logger {
	logger := j.logger
	if logger == nil {
		logger = slog.Default()
	}
	return logger.With("task_identifier", j.TaskIdentifier, "job_id", j.ID)
}
