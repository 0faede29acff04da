package queue

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Job is a row of a claim. The rows of every contender are read completely, each column into the field with its name.
type Job struct {
	ID        int64
	QueueID   *int32  // some contenders return the id of the queue,
	QueueName *string // others its name
	Lease     int64

	taskID         *int32
	taskIdentifier *string
	payload        []byte
	priority       int16
	runAt          time.Time
	attempts       int16
	maxAttempts    int16
	lastError      *string
	createdAt      time.Time
	updatedAt      time.Time
	key            *string
	lockedAt       *time.Time
	lockedBy       *string
	revision       int32
	flags          []byte
	isAvailable    bool
	streak         *int32
	width          *int32
}

// field returns a pointer to the field of a column.
func (j *Job) field(column string) any {
	switch column {
	case "id":
		return &j.ID
	case "job_queue_id":
		return &j.QueueID
	case "queue_name":
		return &j.QueueName
	case "task_id":
		return &j.taskID
	case "task_identifier":
		return &j.taskIdentifier
	case "payload":
		return &j.payload
	case "priority":
		return &j.priority
	case "run_at":
		return &j.runAt
	case "attempts":
		return &j.attempts
	case "max_attempts":
		return &j.maxAttempts
	case "last_error":
		return &j.lastError
	case "created_at":
		return &j.createdAt
	case "updated_at":
		return &j.updatedAt
	case "key":
		return &j.key
	case "locked_at":
		return &j.lockedAt
	case "locked_by":
		return &j.lockedBy
	case "revision":
		return &j.revision
	case "flags":
		return &j.flags
	case "is_available":
		return &j.isAvailable
	case "streak":
		return &j.streak
	case "width":
		return &j.width
	case "lease":
		return &j.Lease
	}
	return nil
}

// ReadJobs reads the rows of a claim of at most n jobs.
func ReadJobs(rows pgx.Rows, n int) ([]Job, error) {
	defer rows.Close()
	jobs := make([]Job, 0, n)
	var read Job
	var fields []any
	for rows.Next() {
		if fields == nil {
			for _, description := range rows.FieldDescriptions() {
				field := read.field(description.Name)
				if field == nil {
					return nil, fmt.Errorf("read jobs: unknown column %s", description.Name)
				}
				fields = append(fields, field)
			}
		}
		read = Job{}
		if err := rows.Scan(fields...); err != nil {
			return nil, fmt.Errorf("read jobs: %w", err)
		}
		jobs = append(jobs, read)
	}
	return jobs, rows.Err()
}

// IDs returns the ids of jobs.
func IDs(jobs []Job) []int64 {
	all := make([]int64, len(jobs))
	for i, j := range jobs {
		all[i] = j.ID
	}
	return all
}
