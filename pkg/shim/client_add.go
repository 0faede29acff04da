package shim

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// AddOptions are what can be said about a job beside its task and payload. All are optional: a zero value leaves it to
// the database.
type AddOptions struct {
	// QueueName puts the job into a named queue, whose jobs run one after the other. Up to 128 characters. Default: none.
	QueueName string

	// RunAt is the time before which the job does not run, to the microsecond. Default: now.
	RunAt time.Time

	// RunIn is the delay after which the job may run, in place of RunAt: from the begin of the transaction by the clock of
	// the database, or from the call by this machine's with ClientConfig.LocalTime.
	RunIn time.Duration

	// MaxAttempts is after how many attempts a failing job has failed for good, 1 to 32767. Default: 25.
	MaxAttempts int

	// JobKey is the key under which at most one job waits; JobKeyMode says what becomes of that one. Up to 512 characters.
	// Default: none. Keys belong to the whole queue, so begin them with the name of the task.
	JobKey string

	// JobKeyMode is what happens if a job waits under JobKey. Default: [Replace].
	JobKeyMode JobKeyMode

	// Priority is when the job runs among those that are due: lower ones first, -32768 to 32767. Default: 0.
	Priority int

	// Flags mark the job for workers that are told to leave such jobs alone. Default: none.
	Flags []string
}

// JobKeyMode says what becomes of a job that waits under the key of one that is added. A job that runs, or has failed
// for good, loses its key in the first two modes and is not tried again; the new job stands beside it.
type JobKeyMode string

const (
	// Replace gives the waiting job all values of the new one, its run_at too: adding again puts it off (debouncing). If
	// both payloads are arrays, the new elements are appended to the old.
	Replace JobKeyMode = "replace"

	// PreserveRunAt is Replace, but a job that has not been tried yet runs when it was first to run (throttling).
	PreserveRunAt JobKeyMode = "preserve_run_at"

	// UnsafeDedupe leaves whatever job has the key as it is and adds nothing, even if that job runs, and may be past the
	// point where it would see what this one is about, or has failed for good.
	UnsafeDedupe JobKeyMode = "unsafe_dedupe"
)

// Add adds one job and returns it. The payload is whatever [encoding/json] takes; a json.RawMessage goes as it is, nil
// becomes {}. opts may be nil.
//
// If a waiting job was replaced, the answer is that job, with a Revision above 0. With [UnsafeDedupe] it is the job that
// had the key; its TaskIdentifier and QueueName are empty if it was being added at the same instant.
//
// An error of the database has one of the codes that start with GWB: the task has no name or too long a one (GWBID,
// GWBNI), the queue name (GWBQN) or key (GWBJK) is too long, there is no such key mode (GWBKM), max_attempts (GWBMA,
// GWBMR) or the priority (GWBPR) is out of range, or the key changed hands too often (GWBKC: try again).
func (c *Client) Add(ctx context.Context, task string, payload any, opts *AddOptions) (*JobInfo, error) {
	text, err := encodePayload(payload)
	if err != nil {
		return nil, fmt.Errorf("add job %q: %w", task, err)
	}
	return c.add(ctx, task, text, opts)
}

// AddBatch adds one job whose payload is a list. items is a slice, or whatever else encodes as a JSON array; an empty one
// is refused with [ErrEmptyBatch]. With a JobKey, lists that are added until a worker comes for them become one.
func (c *Client) AddBatch(ctx context.Context, task string, items any, opts *AddOptions) (*JobInfo, error) {
	text, err := encodeBatch(items)
	if err != nil {
		return nil, fmt.Errorf("add job %q: %w", task, err)
	}
	return c.add(ctx, task, text, opts)
}

func (c *Client) add(ctx context.Context, task string, payload *string, opts *AddOptions) (*JobInfo, error) {
	if opts == nil {
		opts = &AddOptions{}
	}
	if c.mayBeForRoles() {
		job, err := c.enqueueOne(ctx, task, payload, *opts)
		if err != nil {
			return nil, fmt.Errorf("add job %q: %w", task, err)
		}
		if job != nil {
			return job, nil
		}
	}
	timing, err := c.addTiming(*opts, time.Now())
	if err != nil {
		return nil, fmt.Errorf("add job %q: %w", task, err)
	}
	names := addedNames
	if opts.JobKey != "" && opts.JobKeyMode == UnsafeDedupe {
		names = dedupedNames
	}
	var flags any
	if opts.Flags != nil {
		flags = textArray(opts.Flags)
	}
	carried, err := c.carried(ctx)
	if err != nil {
		return nil, fmt.Errorf("add job %q: %w", task, err)
	}
	args := []any{task, orNil(payload), orNull(opts.QueueName), orNil(timing.at), orNil(timing.in), orNull(opts.MaxAttempts),
		orNull(opts.JobKey), orNull(opts.Priority), flags, orNull(string(opts.JobKeyMode))}
	if carried != nil {
		args = append(args, carried)
	}
	job, err := c.one(ctx, `
		select `+names+`, `+jobColumns+`
		  from `+addedBy(`S.add_job(
		         $1::text, $2::json, $3::text,
		         coalesce($4::timestamptz, pg_catalog.now() operator(pg_catalog.+) ($5::bigint operator(pg_catalog.*) interval '1 microsecond')),
		         $6::integer, $7::text, $8::integer, $9::text[], $10::text)`, carried, "$11"), args...)
	if err != nil {
		return nil, fmt.Errorf("add job %q: %w", task, err)
	}
	return job, nil
}

// The row of add_job has ids for the names of its task and queue. They are those of the call, unless a job was found
// that may be of any task.
const (
	addedNames   = `$1::text, $3::text`
	dedupedNames = `
		case when r.revision operator(pg_catalog.=) 0 then $1::text else (select n.task_identifier from S.jobs as n where n.id operator(pg_catalog.=) r.id) end,
		case when r.revision operator(pg_catalog.=) 0 then $3::text else (select n.queue_name from S.jobs as n where n.id operator(pg_catalog.=) r.id) end`
)

// timing is a run_at: a time, or how many microseconds from the database's now, or neither.
type timing struct {
	at *string
	in *int64
}

// timing returns when a job is to run, of which at most one may be given.
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

// addTiming is timing for a new job, which runs at once if nothing is given.
func (c *Client) addTiming(opts AddOptions, now time.Time) (timing, error) {
	if opts.RunIn != 0 || c.cfg.LocalTime && opts.RunAt.IsZero() {
		return c.timing(opts.RunAt, &opts.RunIn, now)
	}
	return c.timing(opts.RunAt, nil, now)
}

// orNil passes a value that may be missing.
func orNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// checkText refuses what encoding/json would change without a word.
func checkText(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q is not valid UTF-8", text)
		}
	}
	return nil
}
