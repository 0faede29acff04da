package shim

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/gwsql/gw/internal/rows"
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

// Add adds one job and returns it. The payload is any value that [encoding/json] can encode; a json.RawMessage is sent
// unchanged, and nil becomes {}. opts may be nil.
//
// If a waiting job was replaced, Add returns that job, with a Revision above 0. With [UnsafeDedupe] it returns the job
// that has the key; its TaskIdentifier and QueueName are empty if another transaction was adding it at the same time.
//
// A task without a name is refused. An error of the queue has a code that begins with GWB: the task name is too long
// (GWBID), the queue name (GWBQN) or the key (GWBJK) is too long, the key mode does not exist (GWBKM), max_attempts (GWBMA, GWBMR) or the
// priority (GWBPR) is out of range, or other transactions replaced the row under the key too often (GWBKC: try again).
func (c *Client) Add(ctx context.Context, task string, payload any, opts *AddOptions) (*JobInfo, error) {
	text, err := encodePayload(payload)
	return c.add(ctx, task, text, err, opts)
}

// AddBatch adds one job whose payload is a list. items is a slice, or any other value that encodes as a JSON array; an
// empty one is refused with [ErrEmptyBatch]. With a JobKey, lists are joined until a worker claims the job.
func (c *Client) AddBatch(ctx context.Context, task string, items any, opts *AddOptions) (*JobInfo, error) {
	text, err := encodeBatch(items)
	return c.add(ctx, task, text, err, opts)
}

// errNoTask refuses an empty task name. PostgreSQL accepts it, as with Graphile Worker, but no worker can have such a task.
var errNoTask = errors.New("the task has no name")

// add adds a job with an encoded payload, unless it could not be encoded.
func (c *Client) add(ctx context.Context, task string, payload *string, err error, opts *AddOptions) (job *JobInfo, _ error) {
	if task == "" {
		return nil, during(errNoTask, "add job")
	}
	if opts == nil {
		opts = &AddOptions{}
	}
	if err == nil && c.mayBeForRoles() {
		job, err = c.enqueueOne(ctx, task, payload, *opts)
	}
	if err == nil && job == nil {
		job, err = c.callAddJob(ctx, task, payload, *opts)
	}
	return job, during(err, "add job %q", task)
}

func (c *Client) callAddJob(ctx context.Context, task string, payload *string, opts AddOptions) (*JobInfo, error) {
	timing, err := c.addTiming(opts, time.Now())
	if err != nil {
		return nil, err
	}
	carried, err := c.carried(ctx)
	if err != nil {
		return nil, err
	}
	names := addedNames
	if opts.JobKey != "" && opts.JobKeyMode == UnsafeDedupe {
		names = dedupedNames
	}
	args := []any{task, rows.OrNil(payload), rows.OrNull(opts.QueueName), rows.OrNil(timing.at), rows.OrNil(timing.in), rows.OrNull(opts.MaxAttempts),
		rows.OrNull(opts.JobKey), rows.OrNull(opts.Priority), rows.TextArrayOrNull(opts.Flags), rows.OrNull(string(opts.JobKeyMode))}
	if carried != nil {
		args = append(args, carried)
	}
	return c.one(ctx, `
		select `+names+`, `+jobColumns+`
		  from `+addedBy(`S.add_job(
		         $1::text, $2::json, $3::text,
		         coalesce($4::timestamptz, pg_catalog.now() operator(pg_catalog.+) `+rows.Microseconds("$5")+`),
		         $6::integer, $7::text, $8::integer, $9::text[], $10::text)`, "true", carried, "$11")+expecting(opts), args...)
}

// The row of add_job has ids instead of the names of its task and queue. The names are those of the call, except for an
// existing job, which may be of any task.
const (
	addedNames   = `$1::text, $3::text`
	dedupedNames = `
		case when r.revision operator(pg_catalog.=) 0 then $1::text else (select n.task_identifier from S.jobs as n where n.id operator(pg_catalog.=) r.id) end,
		case when r.revision operator(pg_catalog.=) 0 then $3::text else (select n.queue_name from S.jobs as n where n.id operator(pg_catalog.=) r.id) end`
)

// expecting asks for the results of the jobs of a query, r.
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

// checkText refuses text that encoding/json would change silently.
func checkText(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q is not valid UTF-8", text)
		}
	}
	return nil
}
