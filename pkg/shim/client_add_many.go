package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/statement"
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
func (c *Client) AddMany(ctx context.Context, specs []JobSpec) ([]*JobInfo, error) {
	if len(specs) == 0 {
		return nil, nil
	}
	jobs, err := c.addMany(ctx, specs)
	return jobs, during(err, "add jobs")
}

func (c *Client) addMany(ctx context.Context, specs []JobSpec) ([]*JobInfo, error) {
	calls, err := c.addCalls(specs)
	if err != nil {
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
	jobs, err := c.callAddJobs(ctx, calls)
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
	carried, err := c.carried(ctx)
	if err != nil {
		return nil, err
	}
	args := []any{string(list)}
	if carried != nil {
		args = append(args, carried)
	}
	jobs, err := c.all(ctx, `
		select null, null, `+jobColumns+`
		  from `+addedBy(`
		       (select c.number, j.*
		          from rows from (pg_catalog.json_to_recordset($1::json) as (specs pg_catalog.json, preserve_run_at boolean))
		                 with ordinality as c (specs, preserve_run_at, number)
		         cross join lateral S.add_jobs(`+statement.Specs(`c.specs`)+`,
		                 c.preserve_run_at) with ordinality as j)`, "true", carried, "$2")+`
		 order by r.number, r.ordinality`,
		args...)
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
