package shim

import (
	"time"

	"github.com/gwsql/gw/internal/rows"
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

// jobColumns are the columns of a job after the names of the task and the queue, from r, a row of the table
// or of the view jobs. A time.Time cannot hold an infinite time.
var jobColumns = `
	r.id, r.priority, ` + rows.TimeOf("r.run_at") + `, r.attempts, r.max_attempts, r.last_error,
	` + rows.TimeOf("r.created_at") + `, ` + rows.TimeOf("r.updated_at") + `, r.key,
	` + rows.TimeOf("r.locked_at") + `, r.locked_by, r.revision, r.flags::text`

// columns returns where the values of a row with these columns go.
func (j *JobInfo) columns() []any {
	return []any{rows.OrZero(&j.TaskIdentifier), rows.OrZero(&j.QueueName), &j.ID, &j.Priority, rows.Time(&j.RunAt),
		&j.Attempts, &j.MaxAttempts,
		rows.OrZero(&j.LastError), rows.Time(&j.CreatedAt), rows.Time(&j.UpdatedAt), rows.OrZero(&j.Key),
		rows.Time(&j.LockedAt), rows.OrZero(&j.LockedBy),
		&j.Revision, rows.Keys(&j.Flags)}
}
