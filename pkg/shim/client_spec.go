package shim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// AddOptions are the optional attributes of a job. A zero value selects the database's default.
type AddOptions struct {
	// QueueName is the named queue of the job; jobs of one named queue run one after the other. Up to 128 characters.
	// Default: none.
	QueueName string

	// RunAt is the time before which the job does not start, to the microsecond. Default: now.
	RunAt time.Time

	// RunIn is a delay, in place of RunAt: from the start of the transaction by the clock of the database, or from the
	// call by this machine's clock with ClientConfig.LocalTime.
	RunIn time.Duration

	// MaxAttempts is the number of attempts after which a failing job has failed permanently, 1 to 32767. Default: 25.
	MaxAttempts int

	// JobKey is the key under which at most one job is waiting; JobKeyMode decides what happens to that job. Up to 512
	// characters. Default: none. Keys belong to the whole queue, so begin them with the name of the task.
	JobKey string

	// JobKeyMode decides what happens if a job is waiting under JobKey. Default: [Replace].
	JobKeyMode JobKeyMode

	// Priority orders the jobs that are due: lower ones run first, -32768 to 32767. Default: 0.
	Priority int

	// Flags mark the job; workers may refuse jobs by flag. Default: none.
	Flags []string

	expectResult bool // asks for the result, in the same statement; not of AddMany
}

// JobKeyMode decides what happens to a job that is waiting under the key of a new job. In the first two modes, a job
// that is running or has failed permanently loses its key and is not tried again, and the new job is added beside it.
type JobKeyMode string

const (
	// Replace replaces all values of the waiting job, its run_at included: adding again defers it (debouncing). If both
	// payloads are arrays, the new elements are appended to the old ones.
	Replace JobKeyMode = "replace"

	// PreserveRunAt is Replace, but a job that was not tried yet keeps its run_at (throttling).
	PreserveRunAt JobKeyMode = "preserve_run_at"

	// UnsafeDedupe leaves any job under the key unchanged and adds nothing, even if that job is running and may already
	// be past the point where it would see the reason for this call, or has failed permanently.
	UnsafeDedupe JobKeyMode = "unsafe_dedupe"
)

// JobSpec is a job for [Client.AddMany].
type JobSpec struct {
	// Task is the name of the task that runs the job.
	Task string

	// Payload is any value that encoding/json can encode; a json.RawMessage is sent unchanged. Default: {}.
	Payload any

	AddOptions
}

// errNoTask refuses an empty task name. PostgreSQL accepts it, as with Graphile Worker, but no worker can have such a
// task.
var errNoTask = errors.New("the task has no name")

// sentSpec is a job_spec, except that its payload is sent as text, so that it is not changed, and that it may have
// run_in.
type sentSpec struct {
	Task        string   `json:"task"`
	Payload     *string  `json:"payload,omitempty"`
	QueueName   string   `json:"queue_name,omitempty"`
	RunAt       *string  `json:"run_at,omitempty"`
	RunIn       *int64   `json:"run_in,omitempty"` // microseconds
	MaxAttempts int      `json:"max_attempts,omitempty"`
	JobKey      string   `json:"job_key,omitempty"`
	Priority    int      `json:"priority,omitempty"`
	Flags       []string `json:"flags,omitempty"`

	Mode JobKeyMode `json:"mode,omitempty"` // only of enqueued jobs
}

func (c *Client) sent(spec JobSpec, now time.Time) (sentSpec, error) {
	payload, err := encodePayload(spec.Payload)
	if err != nil {
		return sentSpec{}, err
	}
	timing, err := c.addTiming(spec.AddOptions, now)
	if err != nil {
		return sentSpec{}, err
	}
	for _, text := range slices.Concat([]string{spec.Task, spec.QueueName, spec.JobKey}, spec.Flags) {
		if !utf8.ValidString(text) { // encoding/json would change it silently
			return sentSpec{}, fmt.Errorf("%q is not valid UTF-8", text)
		}
	}
	return sentSpec{
		Task: spec.Task, Payload: payload, QueueName: spec.QueueName, RunAt: timing.at, RunIn: timing.in,
		MaxAttempts: spec.MaxAttempts, JobKey: spec.JobKey, Priority: spec.Priority, Flags: spec.Flags,
	}, nil
}

func expecting(opts AddOptions) string {
	if !opts.expectResult {
		return ""
	}
	return ` cross join lateral S.expect_result(r.id) as expected`
}

// timing is a run_at: a time, or a delay in microseconds from the database's now, or neither.
type timing struct {
	at *string
	in *int64
}

// timing returns when a job starts; at most one of at and in may be given.
func (c *Client) timing(at time.Time, in *time.Duration, now time.Time) (timing, error) {
	switch {
	case !at.IsZero() && in != nil:
		return timing{}, errors.New("RunAt and RunIn exclude each other")
	case in != nil && !c.cfg.LocalTime:
		return timing{in: new(in.Microseconds())}, nil
	case in != nil:
		at = now.Add(*in)
	case at.IsZero():
		return timing{}, nil
	}
	return timing{at: new(at.UTC().Format(time.RFC3339Nano))}, nil
}

// addTiming is timing for a new job, which is due at once if neither is given.
func (c *Client) addTiming(opts AddOptions, now time.Time) (timing, error) {
	if opts.RunIn != 0 || c.cfg.LocalTime && opts.RunAt.IsZero() {
		return c.timing(opts.RunAt, &opts.RunIn, now)
	}
	return c.timing(opts.RunAt, nil, now)
}

// encodePayload returns the JSON text of a payload, nil for none. A json.RawMessage is returned unchanged.
func encodePayload(payload any) (*string, error) {
	switch payload := payload.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		if payload == nil {
			return nil, nil
		}
		if !json.Valid(payload) || !utf8.Valid(payload) {
			return nil, errors.New("encode payload: the json.RawMessage is not valid JSON")
		}
		return new(string(payload)), nil
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(payload); err != nil {
		return nil, fmt.Errorf("encode payload: %w", err)
	}
	return new(string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))), nil
}

// encodeBatch returns the JSON text of a payload that is an array with at least one element.
func encodeBatch(items any) (*string, error) {
	text, err := encodePayload(items)
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, ErrEmptyBatch
	}
	var elements []json.RawMessage
	if err := json.Unmarshal([]byte(*text), &elements); err != nil {
		return nil, fmt.Errorf("a batch must be a list, not %T", items)
	}
	if len(elements) == 0 { // a nil slice becomes null
		return nil, ErrEmptyBatch
	}
	return text, nil
}
