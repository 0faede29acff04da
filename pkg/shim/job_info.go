package shim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// JobInfo is a job as stored in the database, without its payload. Infinite times are zero.
type JobInfo struct {
	ID             int64
	TaskIdentifier string
	QueueName      string    // empty if the job is in no named queue
	Priority       int       // lower runs first
	RunAt          time.Time // the job does not start before this time
	Attempts       int       // how often it was claimed
	MaxAttempts    int       // the number of attempts after which a failing job has failed permanently
	LastError      string    // the error of the last failed attempt, empty without
	CreatedAt      time.Time
	UpdatedAt      time.Time // when a producer or an administrator last changed it
	Key            string    // the job key, empty without
	LockedAt       time.Time // when it was claimed, zero if it is not
	LockedBy       string    // the worker that claimed it
	Revision       int       // how often it was replaced or requested again by its key; 0 for a new job
	Flags          []string  // sorted
}

// jobColumns are the columns that scanInfo reads after the names of the task and the queue, from r, a row of the table
// or of the view jobs. A time.Time cannot hold an infinite time.
var jobColumns = `
	r.id, r.priority, ` + momentOf("r.run_at") + `, r.attempts, r.max_attempts, r.last_error,
	` + momentOf("r.created_at") + `, ` + momentOf("r.updated_at") + `, r.key,
	` + momentOf("r.locked_at") + `, r.locked_by, r.revision, r.flags::text`

func scanInfo(scan func(...any) error) (*JobInfo, error) {
	var (
		job                                          JobInfo
		task, queue, lastError, key, lockedBy, flags *string
	)
	err := scan(&task, &queue, &job.ID, &job.Priority, (*moment)(&job.RunAt), &job.Attempts, &job.MaxAttempts, &lastError,
		(*moment)(&job.CreatedAt), (*moment)(&job.UpdatedAt), &key, (*moment)(&job.LockedAt), &lockedBy, &job.Revision, &flags)
	if err != nil {
		return nil, err
	}
	job.TaskIdentifier, job.QueueName, job.LastError = orZero(task), orZero(queue), orZero(lastError)
	job.Key, job.LockedBy = orZero(key), orZero(lockedBy)
	if flags != nil {
		if job.Flags, err = flagNames([]byte(*flags)); err != nil {
			return nil, fmt.Errorf("read flags of job %d: %w", job.ID, err)
		}
	}
	return &job, nil
}

func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// flagNames returns the keys of the object in the column flags.
func flagNames(object []byte) ([]string, error) {
	var set map[string]any
	if err := json.Unmarshal(object, &set); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(set)), nil
}
