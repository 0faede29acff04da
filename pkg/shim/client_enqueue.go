package shim

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// rolesSuffix is what gw-migrate grants adds to the name of the queue's schema for the name of the one that it makes for
// roles.
const rolesSuffix = "_api"

// enqueuing is what the role of a client may add jobs by, once the database was asked. Copies of a client share it.
type enqueuing struct {
	mu    sync.Mutex
	calls []string // functions: add_job, or enqueue for any task, or enqueue_<task>; nil if not asked
}

func (e *enqueuing) get() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.calls
}

func (e *enqueuing) set(calls []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = calls
}

// isForRoles reports whether the client's schema is one that gw-migrate grants has made. Only a name that could be such a
// schema's makes it ask, once.
func (c *Client) isForRoles(ctx context.Context) (bool, error) {
	if !strings.HasSuffix(c.cfg.Schema, rolesSuffix) {
		return false, nil
	}
	calls := c.enqueuing.get()
	if calls == nil {
		var err error
		if calls, err = c.askCalls(ctx); err != nil {
			return false, err
		}
	}
	return !slices.Contains(calls, "add_job"), nil
}

// askCalls asks which functions the role may add jobs by.
func (c *Client) askCalls(ctx context.Context) ([]string, error) {
	calls := []string{}
	err := c.each(ctx, func(scan func(...any) error) error {
		var name string
		if err := scan(&name); err != nil {
			return err
		}
		calls = append(calls, name)
		return nil
	}, `
		select p.proname::pg_catalog.text
		  from pg_catalog.pg_proc as p
		  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) p.pronamespace
		 where n.nspname operator(pg_catalog.=) $1::pg_catalog.text
		   and (p.proname operator(pg_catalog.=) any (array['add_job', 'enqueue']) or pg_catalog.starts_with(p.proname::pg_catalog.text, 'enqueue_'))
		   and pg_catalog.has_schema_privilege(n.oid, 'usage')
		   and pg_catalog.has_function_privilege(p.oid, 'execute')
		 order by 1`, c.cfg.Schema)
	if err != nil {
		return nil, fmt.Errorf("look up what the role may do: %w", err)
	}
	c.enqueuing.set(calls)
	return calls, nil
}

// callFor returns the function by which jobs of a task are added.
func (c *Client) callFor(ctx context.Context, task string) (string, error) {
	find := func(calls []string) string {
		for _, name := range []string{"enqueue", "enqueue_" + task} {
			if slices.Contains(calls, name) {
				return name
			}
		}
		return ""
	}
	call := find(c.enqueuing.get())
	if call != "" {
		return call, nil
	}
	calls, err := c.askCalls(ctx) // it may have been granted since
	if err != nil {
		return "", err
	}
	if call = find(calls); call != "" {
		return call, nil
	}
	tasks := make([]string, 0, len(calls))
	for _, name := range calls {
		tasks = append(tasks, strings.TrimPrefix(name, "enqueue_"))
	}
	if len(tasks) == 0 {
		return "", fmt.Errorf("%w: this role may not enqueue jobs in schema %q, gw-migrate grants --producer lets it",
			ErrNotGranted, c.cfg.Schema)
	}
	return "", fmt.Errorf("%w: this role may enqueue jobs of these tasks only: %s", ErrNotGranted, strings.Join(tasks, ", "))
}

// enqueuedSpec is a spec for a producer's function.
type enqueuedSpec struct {
	sentSpec
	Call int        `json:"call"` // which function, of those that are called
	Mode JobKeyMode `json:"mode"`
}

// enqueue adds jobs by the functions of a role that is a producer, one after the other in one statement. These return ids
// and nothing else. sent are the specs as they are sent.
func (c *Client) enqueue(ctx context.Context, specs []JobSpec, sent []sentSpec) ([]*JobInfo, error) {
	var calls []string
	enqueued := make([]enqueuedSpec, len(specs))
	for i, spec := range specs {
		call, err := c.callFor(ctx, spec.Task)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(calls, call) {
			calls = append(calls, call)
		}
		enqueued[i] = enqueuedSpec{sent[i], slices.Index(calls, call), cmp.Or(spec.JobKeyMode, Replace)}
	}
	list, err := json.Marshal(enqueued)
	if err != nil {
		return nil, fmt.Errorf("encode specs: %w", err)
	}
	if c.db == nil {
		return nil, errNoDatabase
	}

	jobs := make([]*JobInfo, 0, len(specs))
	err = c.explained(c.db.each(ctx, func(scan func(...any) error) error {
		spec := specs[len(jobs)]
		job := &JobInfo{}
		if spec.JobKeyMode != UnsafeDedupe || spec.JobKey == "" { // else it may be any job that has the key
			job.TaskIdentifier, job.QueueName = spec.Task, spec.QueueName
		}
		jobs = append(jobs, job)
		return scan(&job.ID)
	}, c.enqueueStatement(calls), string(list)))
	if err != nil {
		c.enqueuing.set(nil) // what is known may be outdated
		return nil, err
	}
	return jobs, nil
}

// enqueueOne adds one job.
func (c *Client) enqueueOne(ctx context.Context, task string, payload *string, opts AddOptions) (*JobInfo, error) {
	spec := JobSpec{Task: task, AddOptions: opts}
	if payload != nil {
		spec.Payload = json.RawMessage(*payload)
	}
	sent, err := c.sent(spec, time.Now())
	if err != nil {
		return nil, fmt.Errorf("add job %q: %w", task, err)
	}
	jobs, err := c.enqueue(ctx, []JobSpec{spec}, []sentSpec{sent})
	if err != nil {
		return nil, fmt.Errorf("add job %q: %w", task, err)
	}
	return jobs[0], nil
}

// enqueueStatement returns the statement that calls these functions. Names are put in whole, for a task may be named
// anything.
func (c *Client) enqueueStatement(calls []string) string {
	var b strings.Builder
	b.WriteString("select case")
	for i, name := range calls {
		task := ""
		if name == "enqueue" {
			task = "s.task, "
		}
		fmt.Fprintf(&b, ` when s.call operator(pg_catalog.=) %d then %s.%s(%ss.payload::pg_catalog.json, s.queue_name,
			coalesce(s.run_at, pg_catalog.now() operator(pg_catalog.+) (s.run_in operator(pg_catalog.*) interval '1 microsecond')),
			s.max_attempts, s.job_key, s.priority, s.flags, s.mode)`,
			i, c.schema, pgx.Identifier{name}.Sanitize(), task)
	}
	b.WriteString(` end
		from rows from (pg_catalog.json_to_recordset($1::pg_catalog.json) as (
		       call integer, task pg_catalog.text, payload pg_catalog.text, queue_name pg_catalog.text,
		       run_at pg_catalog.timestamptz, run_in bigint, max_attempts integer, job_key pg_catalog.text, priority integer,
		       flags pg_catalog.text[], mode pg_catalog.text)) with ordinality as s
		order by s.ordinality`)
	return b.String()
}
