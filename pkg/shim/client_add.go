package shim

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/rows"
	"github.com/gwsql/gw/internal/statement"
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
	opts = cmp.Or(opts, &AddOptions{})
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
	names := addedNames
	if opts.JobKey != "" && opts.JobKeyMode == UnsafeDedupe {
		names = dedupedNames
	}
	from, args := c.adding(ctx, `S.add_job(
	         $1::text, $2::json, $3::text,
	         coalesce($4::timestamptz, pg_catalog.now() operator(pg_catalog.+) `+rows.Microseconds("$5")+`),
	         $6::integer, $7::text, $8::integer, $9::text[], $10::text)`, "true",
		task, rows.OrNil(payload), rows.OrNull(opts.QueueName), rows.OrNil(timing.at), rows.OrNil(timing.in),
		rows.OrNull(opts.MaxAttempts), rows.OrNull(opts.JobKey), rows.OrNull(opts.Priority),
		rows.TextArrayOrNull(opts.Flags), rows.OrNull(string(opts.JobKeyMode)))
	return c.one(ctx, `select `+names+`, `+jobColumns+` from `+from+expecting(opts), args...)
}

// The row of add_job has ids instead of the names of its task and queue. The names are those of the call, except for an
// existing job, which may be of any task.
const (
	addedNames   = `$1::text, $3::text`
	dedupedNames = `
		case when r.revision operator(pg_catalog.=) 0 then $1::text else (select n.task_identifier from S.jobs as n where n.id operator(pg_catalog.=) r.id) end,
		case when r.revision operator(pg_catalog.=) 0 then $3::text else (select n.queue_name from S.jobs as n where n.id operator(pg_catalog.=) r.id) end`
)

// AddMany adds many jobs, even tens of thousands, by one statement in one round trip: all of them or, after an error,
// none. The result is the same as if they had been added one after the other. It returns one job per spec, in their
// order; specs that share a key share a job, in its final state.
//
// Each spec has its own key mode, but [UnsafeDedupe] is refused with an [UnsupportedKeyModeError]. Where the mode
// changes from one keyed spec to the next, the statement starts another call of add_jobs: sort a long list by mode if
// the order does not matter. Programs that add the same keys at the same time with different modes may deadlock;
// PostgreSQL then aborts one of them with 40P01, which may be retried.
//
// Errors are those of [Client.Add], except 22003 instead of a code of the queue if MaxAttempts or Priority exceeds 16
// bits. The Detail of a *pgconn.PgError with a code of the queue has the number of the spec in its call of add_jobs,
// counted from 1.
func (c *Client) AddMany(ctx context.Context, specs []JobSpec) (jobs []*JobInfo, err error) {
	defer func() { err = during(err, "add jobs") }()
	calls, err := c.addCalls(specs)
	if err != nil || len(specs) == 0 {
		return nil, err
	}
	if c.mayBeForRoles() {
		var sent []sentSpec
		for _, call := range calls {
			sent = append(sent, call.Specs...)
		}
		if jobs, err := c.enqueue(ctx, specs, sent); err != nil || jobs != nil {
			return jobs, err
		}
	}
	jobs, err = c.callAddJobs(ctx, calls)
	if err != nil {
		return nil, err
	}
	if len(jobs) != len(specs) {
		return nil, fmt.Errorf("the database answered %d specs with %d jobs", len(specs), len(jobs))
	}
	nameJobs(jobs, specs)
	return jobs, nil
}

// callAddJobs makes the calls of add_jobs in one statement. The jobs that it returns have no names yet.
func (c *Client) callAddJobs(ctx context.Context, calls []*addCall) ([]*JobInfo, error) {
	list, err := json.Marshal(calls)
	if err != nil {
		return nil, fmt.Errorf("encode specs: %w", err)
	}
	from, args := c.adding(ctx, `
		(select c.number, j.*
		   from rows from (pg_catalog.json_to_recordset($1::json) as (specs pg_catalog.json, preserve_run_at boolean))
		          with ordinality as c (specs, preserve_run_at, number)
		  cross join lateral S.add_jobs(`+statement.Specs(`c.specs`)+`,
		          c.preserve_run_at) with ordinality as j)`, "true", string(list))
	jobs, err := c.all(ctx,
		`select null, null, `+jobColumns+` from `+from+` order by r.number, r.ordinality`, args...)
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok && len(calls) == 1 &&
		strings.HasPrefix(refusal.Code, "GW") {
		return nil, fmt.Errorf("%w: %s", err, refusal.Detail) // the number of the spec
	}
	return jobs, err
}

// addCall is one call of add_jobs, which takes one key mode for all its specs.
type addCall struct {
	Specs         []sentSpec `json:"specs"`
	PreserveRunAt bool       `json:"preserve_run_at"`

	keyed bool // has a spec with a key, so the mode is fixed
}

// addCalls splits the list where the key mode changes. Specs without a key fit any mode.
func (c *Client) addCalls(specs []JobSpec) ([]*addCall, error) {
	calls := []*addCall{{}}
	now := time.Now()
	for i, spec := range specs {
		switch spec.JobKeyMode {
		case "", Replace, PreserveRunAt:
		default:
			return nil, &UnsupportedKeyModeError{Spec: i, Mode: spec.JobKeyMode}
		}
		if spec.Task == "" {
			return nil, fmt.Errorf("specs[%d]: %w", i, errNoTask)
		}
		sent, err := c.sent(spec, now)
		if err != nil {
			return nil, fmt.Errorf("specs[%d], of task %q: %w", i, spec.Task, err)
		}
		call := calls[len(calls)-1]
		if spec.JobKey != "" {
			preserve := spec.JobKeyMode == PreserveRunAt
			if call.keyed && call.PreserveRunAt != preserve {
				call = &addCall{}
				calls = append(calls, call)
			}
			call.keyed, call.PreserveRunAt = true, preserve
		}
		call.Specs = append(call.Specs, sent)
	}
	return calls, nil
}

// nameJobs sets the names for which the rows of add_jobs have only ids. If specs share a job, the last one counts.
func nameJobs(jobs []*JobInfo, specs []JobSpec) {
	final := make(map[int64]*JobInfo, len(jobs))
	for i, job := range slices.Backward(jobs) {
		if last, ok := final[job.ID]; ok {
			*job = *last
			continue
		}
		job.TaskIdentifier, job.QueueName = specs[i].Task, specs[i].QueueName
		final[job.ID] = job
	}
}

// UnsupportedKeyModeError is returned by [Client.AddMany] for a spec with a key mode that only [Client.Add] supports.
// Nothing was added.
type UnsupportedKeyModeError struct {
	Spec int // the index of the spec in the list, from 0
	Mode JobKeyMode
}

func (e *UnsupportedKeyModeError) Error() string {
	return fmt.Sprintf("specs[%d] has job key mode %q, which AddMany does not support", e.Spec, string(e.Mode))
}

// enqueue adds jobs in a schema for roles by one statement. It returns them with only their ids, and the names that
// the caller gave. In the schema of a queue it adds and returns no jobs. sent are the specs in their wire form.
func (c *Client) enqueue(ctx context.Context, specs []JobSpec, sent []sentSpec) ([]*JobInfo, error) {
	for i, spec := range specs {
		sent[i].Mode = cmp.Or(spec.JobKeyMode, Replace)
	}
	list, err := json.Marshal(sent)
	if err != nil {
		return nil, fmt.Errorf("encode specs: %w", err)
	}
	var jobs []*JobInfo
	err = c.each(ctx, func(scan func(...any) error) error {
		job := &JobInfo{}
		if spec := specs[len(jobs)]; spec.JobKeyMode != UnsafeDedupe ||
			spec.JobKey == "" { // otherwise the job may be any that has the key
			job.TaskIdentifier, job.QueueName = spec.Task, spec.QueueName
		}
		jobs = append(jobs, job)
		return scan(&job.ID)
	}, `select r.id from S._gw_enqueue_jobs($1::json) with ordinality as r (id, number)`+expecting(specs[0].AddOptions)+
		` order by r.number`, string(list))
	if errors.Is(err, ErrNotGranted) {
		return nil, fmt.Errorf("%w; gw-migrate grants --producer lets a role enqueue jobs", err)
	}
	if err != nil {
		return nil, err
	}
	c.isQueue.Store(len(jobs) == 0)
	return jobs, nil
}

// enqueueOne adds one job as enqueue does. In the schema of a queue it returns nil.
func (c *Client) enqueueOne(ctx context.Context, task string, payload *string, opts AddOptions) (*JobInfo, error) {
	spec := JobSpec{Task: task, AddOptions: opts}
	sent, err := c.sent(spec, time.Now())
	if err != nil {
		return nil, err
	}
	sent.Payload = payload
	jobs, err := c.enqueue(ctx, []JobSpec{spec}, []sentSpec{sent})
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	return jobs[0], nil
}

// adding returns the from clause of a statement that adds jobs by a call, as r, and its arguments. If ctx has values
// for the jobs, the statement also stores them with those of the returned jobs, a, that the call has really added.
func (c *Client) adding(ctx context.Context, call, really string, args ...any) (from string, _ []any) {
	carried := make(map[string]string)
	if c.cfg.Propagator != nil && !c.mayBeForRoles() { // where nothing is stored with jobs
		for name, value := range c.cfg.Propagator.Inject(ctx) {
			if !strings.ContainsRune(name+value, 0) { // jsonb cannot store it
				carried[name] = value
			}
		}
	}
	if len(carried) == 0 {
		return call + ` as r`, args
	}
	text, _ := json.Marshal(carried) // text has no error
	args = append(args, string(text))
	return `
		(with added as materialized (
		   select a.* from ` + call + ` as a
		 ), put as (
		   select S._gw_put_job_contexts(pg_catalog.array_agg(a.id), pg_catalog.array_agg(a.revision), $` +
		strconv.Itoa(len(args)) + `::json)
		     from added as a where ` + really + `
		 )
		 select a.* from added as a cross join put) as r`, args
}

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
