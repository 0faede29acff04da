package fuzz

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// database is the session under test. All arguments are sent as text, so that only the server checks them.
type database struct {
	conn          *pgx.Conn
	tasks, queues map[int32]string // the names that ids stand for
	looked        int64            // all transactions before the last look have lower numbers
}

const (
	columns = `
		now()::text, j.id, j.task_id, j.job_queue_id, j.payload::text, j.priority, j.run_at::text, j.attempts, j.max_attempts,
		j.last_error, j.created_at::text, j.updated_at::text, j.key, j.locked_by, j.locked_at is not null, j.revision,
		j.flags::text, j.is_available`

	addJob = `
		select ` + columns + `
		  from graphile_worker.add_job(
		         $1::text, $2::text::json, $3::text, $4::text::timestamptz, $5::integer, $6::text, $7::integer,
		         $8::text::text[], $9::text) as j`

	addJobs = `
		select ` + columns + `
		  from graphile_worker.add_jobs(
		         case when $1::text[] is not null then array(
		           select case when not s.is_null then
		                    row(s.identifier, s.payload::json, s.queue_name, s.run_at::timestamptz, s.max_attempts::smallint,
		                        s.job_key, s.priority::smallint, s.flags::text[])::graphile_worker.job_spec end
		             from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::integer[], $8::text[],
		                         $9::boolean[])
		               as s (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, is_null)) end,
		         $10::boolean) as j`

	allJobs = "select " + columns + " from graphile_worker._private_jobs as j"

	allNames = `
		select coalesce((select array_agg(t.identifier) from graphile_worker._private_tasks as t), '{}'),
		       coalesce((select array_agg(q.queue_name) from graphile_worker._private_job_queues as q), '{}')`

	// Rows that a transaction since the last look has written, and rows that should be so. (age is the distance of a number
	// from the next one, which is greater for earlier numbers.)
	changedJobs = allJobs + `
		 where age(j.xmin) <= age(($1::bigint & 4294967295)::text::xid) or j.id = any ($2::bigint[])`

	totals = `
		select (select count(*) from graphile_worker._private_jobs),
		       (select count(*) from graphile_worker._private_tasks),
		       (select count(*) from graphile_worker._private_job_queues),
		       txid_snapshot_xmax(txid_current_snapshot()),
		       coalesce(pg_sequence_last_value('graphile_worker.jobs_id_seq1'), 0),
		       coalesce(pg_sequence_last_value('graphile_worker.tasks_id_seq'), 0),
		       coalesce(pg_sequence_last_value('graphile_worker.job_queues_id_seq'), 0)`
)

// answer is what a call returned: rows and the time of its transaction, or a SQLSTATE.
type answer struct {
	rows []job
	now  string
	code string
}

func (d *database) addJob(ctx context.Context, r request, mode text) (answer, error) {
	return d.call(ctx, addJob, r.identifier, r.payload, r.queueName, r.runAt, r.maxAttempts, r.jobKey, r.priority,
		r.flagsLiteral(), mode)
}

// addJobs calls add_jobs; if requests is nil, with null.
func (d *database) addJobs(ctx context.Context, requests []request, preserve truth) (answer, error) {
	var identifiers, payloads, queueNames, runAts, jobKeys, flags []text
	var maxAttempts, priorities []number
	var isNull []bool
	if requests != nil {
		identifiers = []text{}
	}
	for _, r := range requests {
		identifiers, payloads, queueNames = append(identifiers, r.identifier), append(payloads, r.payload),
			append(queueNames, r.queueName)
		runAts, maxAttempts, jobKeys = append(runAts, r.runAt), append(maxAttempts, r.maxAttempts),
			append(jobKeys, r.jobKey)
		priorities, flags = append(priorities, r.priority), append(flags, r.flagsLiteral())
		isNull = append(isNull, r.isNull)
	}
	return d.call(ctx, addJobs, identifiers, payloads, queueNames, runAts, maxAttempts, jobKeys, priorities, flags,
		isNull, preserve)
}

// flagsLiteral returns the flags as the literal of an array.
func (r request) flagsLiteral() text {
	if r.flags == nil {
		return text{}
	}
	elements := make([]string, len(r.flags))
	for i, flag := range r.flags {
		elements[i] = "null"
		if flag.Valid {
			elements[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(flag.V) + `"`
		}
	}
	literal := "{" + strings.Join(elements, ",") + "}"
	if r.nestedFlags && len(r.flags) > 0 {
		literal = "{" + literal + "}"
	}
	return textOf(literal)
}

// call returns the answer to a query for columns. The error is not an answer of the server.
func (d *database) call(ctx context.Context, sql string, args ...any) (answer, error) {
	type ids struct {
		task  int32
		queue number
	}
	var a answer
	var names []ids
	rows, err := d.conn.Query(ctx, sql, args...)
	if err == nil {
		for rows.Next() {
			var j job
			var n ids
			err := rows.Scan(&a.now, &j.id, &n.task, &n.queue, &j.payload, &j.priority, &j.runAt, &j.attempts,
				&j.maxAttempts,
				&j.lastError, &j.createdAt, &j.updatedAt, &j.key, &j.lockedBy, &j.isLocked, &j.revision, &j.flags,
				&j.isAvailable)
			if err != nil {
				rows.Close()
				return answer{}, fmt.Errorf("read a row: %w", err)
			}
			a.rows, names = append(a.rows, j), append(names, n)
		}
		err = rows.Err()
	}
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		return answer{code: refusal.Code}, nil
	} else if err != nil {
		return answer{}, err
	}
	// The names may be as new as the rows, and are then not visible in the snapshot of the query itself.
	for i, n := range names {
		identifier, err := d.name(ctx, d.tasks,
			"select t.identifier from graphile_worker._private_tasks as t where t.id = $1", n.task)
		if err != nil {
			return answer{}, err
		}
		a.rows[i].identifier = identifier
		if n.queue.V > 0 {
			queueName, err := d.name(ctx, d.queues,
				"select q.queue_name from graphile_worker._private_job_queues as q where q.id = $1", n.queue.V)
			if err != nil {
				return answer{}, err
			}
			a.rows[i].queueName = textOf(queueName)
		}
	}
	return a, nil
}

func (d *database) name(ctx context.Context, known map[int32]string, sql string, id int32) (string, error) {
	name, isKnown := known[id]
	if isKnown {
		return name, nil
	}
	if err := d.conn.QueryRow(ctx, sql, id).Scan(&name); err != nil {
		return "", fmt.Errorf("name id %d: %w", id, err)
	}
	known[id] = name
	return name, nil
}

// sizes are the numbers of rows.
type sizes struct{ jobs, tasks, queues int }

// look returns the rows that have changed since the last look and the rows with these ids, the sizes of the tables and the counters.
func (d *database) look(ctx context.Context, ids []int64) ([]job, sizes, counters, error) {
	var s sizes
	var c counters
	changed, err := d.call(ctx, changedJobs, d.looked, ids)
	if err == nil && changed.code != "" {
		err = fmt.Errorf("refused with %s", changed.code)
	}
	if err == nil {
		err = d.conn.QueryRow(ctx, totals).Scan(&s.jobs, &s.tasks, &s.queues, &d.looked, &c.job, &c.task, &c.queue)
	}
	return changed.rows, s, c, err
}
