package shim

import (
	"encoding/json"
	"log/slog"
	"time"
)

// Job is a claimed job, with its values at the time of the claim.
type Job struct {
	ID             int64
	TaskIdentifier string
	Payload        json.RawMessage
	QueueName      string    // empty if the job is in no named queue
	Priority       int       // lower runs first
	RunAt          time.Time // zero if it is -infinity
	Attempts       int       // including this attempt, so 1 for the first one
	MaxAttempts    int
	Key            string   // the job_key, empty without
	Flags          []string // sorted
	Lease          int64    // identifies this claim among all claims of the job; see ErrLeaseLost
	CreatedAt      time.Time
	LastError      string // of the previous attempt, empty for the first one
	Revision       int    // how often the job was replaced by its key

	worker *host // the worker that claimed it, nil without
	hold   *hold

	carried map[string]string // the context stored with the job
	result  string            // the JSON that the handler has set for a job without a hold
}

// ClaimedAt returns when the worker claimed the job, by the clock of the database; zero if no worker did.
func (j *Job) ClaimedAt() time.Time {
	if j.Lease == 0 {
		return time.Time{}
	}
	return time.UnixMicro(j.Lease)
}

// Latency returns how long the job waited from its creation or its run_at, whichever was later, until its claim, by the
// clock of the database.
func (j *Job) Latency() time.Duration {
	since := j.CreatedAt
	if j.RunAt.After(since) {
		since = j.RunAt
	}
	return max(j.ClaimedAt().Sub(since), 0)
}

// WorkerID returns the id of the worker that claimed the job, empty if none did.
func (j *Job) WorkerID() string {
	if j.worker == nil {
		return ""
	}
	return j.worker.workerID
}

// Logger returns a logger with the attributes label, "job", worker_id, task_identifier and job_id. A Job that no worker
// claimed, as in a test, logs to slog.Default() without a worker_id.
func (j *Job) Logger() *slog.Logger {
	logger := slog.Default().With("label", "job")
	if j.worker != nil {
		logger = j.worker.logger.With("label", "job", "worker_id", j.WorkerID())
	}
	return logger.With("task_identifier", j.TaskIdentifier, "job_id", j.ID)
}
