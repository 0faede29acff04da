package shim

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gwsql/gw/internal/rows"
)

// KeyedJob is what [Client.AddOnce], [Client.Debounce] and [Client.Throttle] return.
type KeyedJob struct {
	ID    int64
	State string    // ready, scheduled, running or failed; of AddOnce also gone: the first job has completed or was removed
	DueAt time.Time // its run_at; zero if the job is gone or is never due
	IsNew bool      // this call has added the job
}

// AddOnce adds a job unless a call under the same key has added one less than the time within ago, and returns the new
// or the first job. The first call counts even if its job has ended, was replaced or has lost its key. Calls under one
// key wait for each other's transactions; a call that is rolled back does not count.
//
// The job has the key as its JobKey; opts, which may be nil, must not name another. An error of the queue has a code
// that begins with GWB, as those of [Client.Add], or is GWOKY (the key is empty) or GWOIV (the time is not above 0).
func (c *Client) AddOnce(ctx context.Context, task string, payload any, key string, within time.Duration,
	opts *AddOptions) (*KeyedJob, error) {
	call := keyedCall{name: "add_job_once", task: task, payload: payload, key: key, every: within, mayBeLater: true,
		adds: "a.is_new"}
	return c.callByKey(ctx, call, opts, `
		$1::text, $2::json, $3::text, `+rows.Microseconds("$4")+`, $5::text,
		coalesce($9::timestamptz, pg_catalog.now() operator(pg_catalog.+) `+rows.Microseconds("$10")+`), $6::integer, $7::integer, $8::text[])`)
}

// Debounce adds a job that runs when no call under its key has come for the time wait. Each call replaces the waiting
// job, as [Replace] does, and returns it. If maxWait is not 0, the job runs at most this time after the first call
// since it last started. A job that has failed does not run before its next attempt is due.
//
// opts and errors are those of [Client.AddOnce], without RunAt and RunIn.
func (c *Client) Debounce(ctx context.Context, task string, payload any, key string, wait, maxWait time.Duration,
	opts *AddOptions) (*KeyedJob, error) {
	call := keyedCall{name: "debounce_job", task: task, payload: payload, key: key, every: wait, adds: "true"}
	call.last = []any{nil}
	if maxWait != 0 {
		call.last[0] = maxWait.Microseconds()
	}
	return c.callByKey(ctx, call, opts, `
		$1::text, $2::json, $3::text, `+rows.Microseconds("$4")+`, `+rows.Microseconds("$9")+`, $5::text, $6::integer, $7::integer, $8::text[])`)
}

// Throttle adds a job that is due at least the time every after the previous job of such a call: the first call adds a
// job that is due at once, and calls within that time share the next job. While a job waits under the key, a call
// replaces it as [PreserveRunAt] does.
//
// opts and errors are those of [Client.AddOnce], without RunAt and RunIn.
func (c *Client) Throttle(ctx context.Context, task string, payload any, key string, every time.Duration,
	opts *AddOptions) (*KeyedJob, error) {
	call := keyedCall{name: "throttle_job", task: task, payload: payload, key: key, every: every, adds: "true"}
	return c.callByKey(ctx, call, opts, `
		$1::text, $2::json, $3::text, `+rows.Microseconds("$4")+`, $5::text, $6::integer, $7::integer, $8::text[])`)
}

type keyedCall struct {
	name       string // of the function
	task       string
	payload    any
	key        string
	every      time.Duration
	adds       string // whether the call has added or replaced the returned job, a
	mayBeLater bool   // RunAt and RunIn are allowed; they are the last two parameters
	last       []any  // other last parameters
}

func (c *Client) callByKey(ctx context.Context, call keyedCall, opts *AddOptions,
	sql string) (job *KeyedJob, err error) {
	defer func() { err = during(err, "%s %q", call.name, call.task) }()
	if call.task == "" {
		return nil, errNoTask
	}
	opts = cmp.Or(opts, &AddOptions{})
	if opts.JobKey != "" || opts.JobKeyMode != "" {
		return nil, errors.New("the options have a JobKey or a JobKeyMode, which the call decides")
	}
	payload, err := encodePayload(call.payload)
	if err != nil {
		return nil, err
	}
	if call.mayBeLater {
		timing, err := c.addTiming(*opts, time.Now())
		if err != nil {
			return nil, err
		}
		call.last = []any{rows.OrNil(timing.at), rows.OrNil(timing.in)}
	} else if !opts.RunAt.IsZero() || opts.RunIn != 0 {
		return nil, errors.New("the options have a RunAt or a RunIn, which the call decides")
	}
	args := append([]any{call.task, rows.OrNil(payload), rows.OrNull(call.key), call.every.Microseconds(),
		rows.OrNull(opts.QueueName), rows.OrNull(opts.MaxAttempts), rows.OrNull(opts.Priority),
		rows.TextArrayOrNull(opts.Flags)}, call.last...)
	from, args := c.adding(ctx, "S."+call.name+"("+sql, call.adds, args...)
	return firstRow(ctx, c, func(j *KeyedJob) []any { return []any{&j.ID, &j.State, rows.Time(&j.DueAt), &j.IsNew} },
		`select r.id, r.state, `+rows.TimeOf("r.due_at")+`, r.is_new from `+from, args...)
}
