package shim

import "time"

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

// jobColumns are the columns of a job after the names of the task and the queue, from r, a row of the table
// or of the view jobs. A time.Time cannot hold an infinite time.
var jobColumns = `
	r.id, r.priority, ` + momentOf("r.run_at") + `, r.attempts, r.max_attempts, r.last_error,
	` + momentOf("r.created_at") + `, ` + momentOf("r.updated_at") + `, r.key,
	` + momentOf("r.locked_at") + `, r.locked_by, r.revision, r.flags::text`

// columns returns where the values of a row with these columns go.
func (j *JobInfo) columns() []any {
	return []any{orZero(&j.TaskIdentifier), orZero(&j.QueueName), &j.ID, &j.Priority, timeIn(&j.RunAt), &j.Attempts, &j.MaxAttempts,
		orZero(&j.LastError), timeIn(&j.CreatedAt), timeIn(&j.UpdatedAt), orZero(&j.Key), timeIn(&j.LockedAt), orZero(&j.LockedBy),
		&j.Revision, flagsIn(&j.Flags)}
}
