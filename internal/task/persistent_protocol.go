package task

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/pkg/shim"
)

// maxReply is the maximum length of the line of an answer, in bytes.
const maxReply = 64 << 10

// request is the description of a job for a persistent program, a line of JSON.
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
	WorkerID    string          `json:"worker_id,omitempty"`
	Lease       int64           `json:"lease,omitempty"`
}

func newRequest(job *shim.Job) request {
	return request{
		ID:          job.ID,
		Task:        job.TaskIdentifier,
		Payload:     job.Payload,
		Attempt:     job.Attempts,
		MaxAttempts: job.MaxAttempts,
		Key:         textOrNull(job.Key),
		Queue:       textOrNull(job.QueueName),
		Priority:    job.Priority,
		RunAt:       timeOrNull(job.RunAt),
		WorkerID:    job.WorkerID(),
		Lease:       job.Lease,
	}
}

// reply is the answer of a persistent program, a line of JSON: either ok or an error.
type reply struct {
	ID          *int64   `json:"id"`
	OK          bool     `json:"ok"`
	Error       *string  `json:"error"`
	Permanent   bool     `json:"permanent"`
	RetryIn     *float64 `json:"retry_in"`     // seconds
	RateLimited bool     `json:"rate_limited"` // with retry_in: no job of its lanes starts before that

	Result json.RawMessage `json:"result"` // with ok

	// A line with one of these is no answer: it says how far the job has come.
	Progress *float64 `json:"progress"` // percent
	Note     *string  `json:"note"`
}

// isProgress reports whether the line says how far the job has come.
func (r reply) isProgress() bool {
	return !r.OK && r.Error == nil && (r.Progress != nil || r.Note != nil)
}

// report stores how far the job has come.
func (r reply) report(job *shim.Job) error {
	percent, note := -1.0, ""
	if r.Progress != nil {
		percent = *r.Progress
	}
	if r.Note != nil {
		note = *r.Note
	}
	return job.Progress(percent, note)
}

const stdoutHint = "stdout is for answers only, the program must log to stderr"

// readReply parses the answer for the job with this id. The error is the reason why it is invalid.
func readReply(line []byte, id int64) (reply, error) {
	var r reply
	switch err := json.Unmarshal(line, &r); {
	case err != nil:
		return r, fmt.Errorf("its answer is invalid (%w): %s; %s", err, excerpt(line), stdoutHint)
	case r.ID == nil && !r.OK && r.Error == nil && !r.isProgress():
		return r, fmt.Errorf("its answer is invalid: %s; %s", excerpt(line), stdoutHint)
	case r.ID == nil:
		return r, fmt.Errorf("its answer has no id: %s", excerpt(line))
	case *r.ID != id:
		return r, fmt.Errorf("it answered for job %d instead of job %d", *r.ID, id)
	case r.OK == (r.Error != nil) && !r.isProgress():
		return r, fmt.Errorf("its answer must have either ok or error: %s", excerpt(line))
	case r.RateLimited && (r.OK || r.Permanent || r.RetryIn == nil || *r.RetryIn <= 0):
		return r, fmt.Errorf("its answer has rate_limited, which needs a positive retry_in and excludes ok and permanent: %s", excerpt(line))
	}
	return r, nil
}

// excerpt returns the beginning of a line, for messages.
func excerpt(line []byte) string {
	const most = 200
	line = bytes.TrimSpace(line)
	if len(line) <= most {
		return string(line)
	}
	return string(line[:most]) + "..."
}

// maxRetryIn is a year. Longer delays are reduced to it, because they are mistakes.
const maxRetryIn = 365 * 24 * time.Hour

// end ends the job with the answer: it sets the result, and returns the error.
func (r reply) end(job *shim.Job) error {
	if err := r.outcome(); err != nil || r.Result == nil {
		return err
	}
	return job.SetResult(r.Result)
}

// outcome returns the error to end the job with, nil for success.
func (r reply) outcome() error {
	if r.OK {
		return nil
	}
	err := errors.New(cmp.Or(*r.Error, "failed without an error message"))
	if r.Permanent {
		return shim.Discard(err)
	}
	if r.RetryIn == nil {
		return err
	}
	delay := min(max(seconds.Duration(*r.RetryIn), 0), maxRetryIn)
	if r.RateLimited {
		return fmt.Errorf("%w (%w)", err, shim.RateLimited(delay))
	}
	return shim.RetryIn(delay, err)
}

// runAtFormat is ISO 8601 in UTC with milliseconds, the format of times in JavaScript.
const runAtFormat = "2006-01-02T15:04:05.000Z"

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Format(runAtFormat))
}

// jsonLine returns a message with a payload as a line of JSON.
func jsonLine(message any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		return nil, fmt.Errorf("read the payload: %w", err)
	}
	return b.Bytes(), nil
}

// input returns the stdin of the program. The payload is on one line, so that a shell can read it with read, and
// otherwise as it is stored: large numbers keep all their digits.
func input(payload []byte) (io.Reader, error) {
	var b bytes.Buffer
	b.WriteString(`{"payload":`)
	if err := json.Compact(&b, payload); err != nil {
		return nil, fmt.Errorf("read the payload: %w", err)
	}
	b.WriteByte('}')
	return &b, nil
}

// environment returns the worker's environment with the variables in more and those that describe the job.
func environment(more []string, job *shim.Job) []string {
	const keyVariable = "GRAPHILE_WORKER_JOB_KEY="
	var env []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, keyVariable) { // the worker may itself run as a job
			env = append(env, variable)
		}
	}
	env = append(env, more...)
	env = append(env,
		"GRAPHILE_WORKER_PAYLOAD_FORMAT=json",
		"GRAPHILE_WORKER_TASK_IDENTIFIER="+job.TaskIdentifier,
		"GRAPHILE_WORKER_JOB_ID="+strconv.FormatInt(job.ID, 10),
		"GRAPHILE_WORKER_JOB_ATTEMPTS="+strconv.Itoa(job.Attempts),
		"GRAPHILE_WORKER_JOB_MAX_ATTEMPTS="+strconv.Itoa(job.MaxAttempts),
		"GRAPHILE_WORKER_JOB_PRIORITY="+strconv.Itoa(job.Priority),
		"GRAPHILE_WORKER_JOB_RUN_AT="+job.RunAt.UTC().Format(runAtFormat),
	)
	if id := job.WorkerID(); id != "" {
		env = append(env, "GW_WORKER_ID="+id, "GW_LEASE="+strconv.FormatInt(job.Lease, 10))
	}
	if job.Key != "" {
		env = append(env, keyVariable+job.Key)
	}
	return env
}
