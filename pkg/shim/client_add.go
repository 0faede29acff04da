package shim

import (
	"context"
	"time"

	"github.com/gwsql/gw/internal/rows"
)

// Add adds one job and returns it. The payload is any value that [encoding/json] can encode; a json.RawMessage is sent
// unchanged, and nil becomes {}. opts may be nil.
//
// If a waiting job was replaced, Add returns that job, with a Revision above 0. With [UnsafeDedupe] it returns the job
// that has the key; its TaskIdentifier and QueueName are empty if another transaction was adding it at the same time.
//
// A task without a name is refused. An error of the queue has a code that begins with GWB: the task name is too long
// (GWBID), the queue name (GWBQN) or the key (GWBJK) is too long, the key mode does not exist (GWBKM), max_attempts
// (GWBMA, GWBMR) or the priority (GWBPR) is out of range, or other transactions replaced the row under the key too
// often (GWBKC: try again).
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

// add adds a job with an encoded payload, unless it could not be encoded.
func (c *Client) add(ctx context.Context, task string, payload *string, err error,
	opts *AddOptions) (job *JobInfo, _ error) {
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
	args := []any{task, rows.OrNil(payload), rows.OrNull(opts.QueueName), rows.OrNil(timing.at), rows.OrNil(timing.in),
		rows.OrNull(opts.MaxAttempts),
		rows.OrNull(opts.JobKey), rows.OrNull(opts.Priority), rows.TextArrayOrNull(opts.Flags),
		rows.OrNull(string(opts.JobKeyMode))}
	if carried != nil {
		args = append(args, carried)
	}
	return c.one(ctx, `
		select `+names+`, `+jobColumns+`
		  from `+addedBy(`S.add_job(
		         $1::text, $2::json, $3::text,
		         coalesce($4::timestamptz, pg_catalog.now() operator(pg_catalog.+) `+rows.Microseconds("$5")+`),
		         $6::integer, $7::text, $8::integer, $9::text[], $10::text)`, "true", carried, "$11")+expecting(opts),
		args...)
}

// The row of add_job has ids instead of the names of its task and queue. The names are those of the call, except for an
// existing job, which may be of any task.
const (
	addedNames   = `$1::text, $3::text`
	dedupedNames = `
		case when r.revision operator(pg_catalog.=) 0 then $1::text else (select n.task_identifier from S.jobs as n where n.id operator(pg_catalog.=) r.id) end,
		case when r.revision operator(pg_catalog.=) 0 then $3::text else (select n.queue_name from S.jobs as n where n.id operator(pg_catalog.=) r.id) end`
)
