package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// maxAnswer is how long the line of an answer may be.
const maxAnswer = 64 << 10

// request is what a persistent program is told about a job, as a line of JSON.
type request struct {
	ID          int64           `json:"id"`
	Task        string          `json:"task"`
	Payload     json.RawMessage `json:"payload"`
	Attempt     int             `json:"attempt"`
	MaxAttempts int             `json:"max_attempts"`
	Key         *string         `json:"key"`
	Queue       *string         `json:"queue"`
	Priority    int             `json:"priority"`
	RunAt       *string         `json:"run_at"`
}

// write appends the line for a job to b.
func (r *request) write(b *bytes.Buffer, job *shim.Job) error {
	*r = request{
		ID:          job.ID,
		Task:        job.TaskIdentifier,
		Payload:     job.Payload,
		Attempt:     job.Attempts,
		MaxAttempts: job.MaxAttempts,
		Priority:    job.Priority,
	}
	if job.Key != "" {
		r.Key = &job.Key
	}
	if job.QueueName != "" {
		r.Queue = &job.QueueName
	}
	if !job.RunAt.IsZero() {
		r.RunAt = new(job.RunAt.UTC().Format(runAtFormat))
	}
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("read the payload: %w", err)
	}
	return nil
}

// answer is what a persistent program says of a job, as a line of JSON: either ok or an error.
type answer struct {
	ID        *int64   `json:"id"`
	OK        bool     `json:"ok"`
	Error     *string  `json:"error"`
	Permanent bool     `json:"permanent"`
	RetryIn   *float64 `json:"retry_in"` // seconds
}

// readAnswer returns what a line says of the job with this id. The error says why it is no answer.
func readAnswer(line []byte, id int64) (answer, error) {
	var a answer
	switch err := json.Unmarshal(line, &a); {
	case err != nil:
		return a, fmt.Errorf("its answer is not understood (%w): %s", err, excerpt(line))
	case a.ID == nil:
		return a, fmt.Errorf("its answer has no id: %s", excerpt(line))
	case *a.ID != id:
		return a, fmt.Errorf("it answered for job %d in place of job %d", *a.ID, id)
	case a.OK == (a.Error != nil):
		return a, fmt.Errorf("its answer has to have either ok or error: %s", excerpt(line))
	}
	return a, nil
}

// excerpt returns the beginning of a line, for people.
func excerpt(line []byte) string {
	const most = 200
	line = bytes.TrimSpace(line)
	if len(line) <= most {
		return string(line)
	}
	return string(line[:most]) + "..."
}

// maxRetryIn is a year. What is longer is cut, for it is a mistake.
const maxRetryIn = 365 * 24 * time.Hour

// outcome returns the error to end the job with, nil for success.
func (a answer) outcome() error {
	if a.OK {
		return nil
	}
	err := errors.New(*a.Error)
	if *a.Error == "" {
		err = errors.New("failed without a word")
	}
	switch {
	case a.Permanent:
		return shim.Discard(err)
	case a.RetryIn != nil:
		seconds := min(max(*a.RetryIn, 0), maxRetryIn.Seconds())
		return shim.RetryIn(time.Duration(seconds*float64(time.Second)), err)
	}
	return err
}
