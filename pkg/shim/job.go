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

	worker *Worker // that claimed it, nil if none did
	hold   *hold

	carried map[string]string // what was sent along with it
}

// ClaimedAt returns when the worker claimed the job, by the clock of the database; zero if no worker did.
func (j *Job) ClaimedAt() time.Time {
	if j.Lease == 0 {
		return time.Time{}
	}
	return time.UnixMicro(j.Lease)
}

// Latency returns how long the job has waited, from when it was added or due, whichever was later, to its claim: all by
// the clock of the database.
func (j *Job) Latency() time.Duration {
	since := j.CreatedAt
	if j.RunAt.After(since) {
		since = j.RunAt
	}
	return max(j.ClaimedAt().Sub(since), 0)
}

// Logger returns a logger whose lines carry label, which is "job", worker_id, task_identifier and job_id. A Job that no
// worker claimed, as in a test, logs to slog.Default(), without a worker_id.
func (j *Job) Logger() *slog.Logger {
	logger := slog.Default().With("label", "job")
	if j.worker != nil {
		logger = j.worker.cfg.Logger.With("label", "job", "worker_id", j.worker.cfg.WorkerID)
	}
	return logger.With("task_identifier", j.TaskIdentifier, "job_id", j.ID)
}
