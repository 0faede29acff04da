package shim

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/seconds"
)

// leastPart is the number of completed jobs of one claim from which a separate statement for them is worthwhile.
const leastPart = 50

// byClaim sorts completed jobs by their claims and returns groups of them: the jobs of each claim, because one lease
// per statement costs the database less than different ones. Claims with few jobs in the batch share one group.
func byClaim(batch []outcome) (groups [][]outcome) {
	if len(batch) < 2*leastPart {
		return append(groups, batch)
	}
	slices.SortStableFunc(batch, func(a, b outcome) int { return cmp.Compare(a.job.Lease, b.job.Lease) })
	var rest []outcome
	for len(batch) > 0 {
		n := 1
		for n < len(batch) && batch[n].job.Lease == batch[0].job.Lease {
			n++
		}
		if n < leastPart {
			rest = append(rest, batch[:n]...)
		} else {
			groups = append(groups, batch[:n])
		}
		batch = batch[n:]
	}
	if len(rest) > 0 {
		groups = append(groups, rest)
	}
	return groups
}

func (q *queries) complete(ctx context.Context, outcomes []outcome) (applied, error) {
	ids, leases := leasesOf(outcomes)
	var completed []int64 // nil if all were
	var err error
	results := resultsOf(outcomes)
	if results == nil && slices.Max(leases) == slices.Min(leases) {
		err = q.row(ctx, &completed, `select S._gw_complete_claim($1::text, $2::bigint[], $3::bigint)`, q.workerID, ids,
			leases[0])
	} else {
		err = q.row(ctx, &completed, `
			select case when pg_catalog.count(*) operator(pg_catalog.<) pg_catalog.cardinality($2::bigint[])
			            then coalesce(pg_catalog.array_agg(c.id), '{}') end
			  from S.complete_job_batch($1::text, $2::bigint[], $3::bigint[], $4::text[]::json[]) as c (id)`,
			q.workerID, ids, leases, results)
	}
	if err != nil || completed == nil {
		return nil, err
	}
	done := make(applied, len(completed))
	for _, id := range completed {
		done[id] = fate{next: true}
	}
	return done, nil
}

func (q *queries) giveBack(ctx context.Context, outcomes []outcome) (applied, error) {
	ids, leases := leasesOf(outcomes)
	delays := make([]*float64, len(outcomes))
	for i, o := range outcomes {
		delays[i] = inSeconds(o.delay)
	}
	return q.apply(ctx, `
		  from (select pg_catalog.array_agg(o.id) as ids, pg_catalog.array_agg(o.lease) as leases, o.delay
		          from rows from (pg_catalog.unnest($2::bigint[]), pg_catalog.unnest($3::bigint[]),
		                          pg_catalog.unnest($4::double precision[])) as o (id, lease, delay)
		         group by o.delay) as o
		 cross join lateral S.return_job_batch($1::text, o.ids, o.leases,
		                                              o.delay operator(pg_catalog.*) interval '1 second') as j`,
		q.workerID, ids, leases, delays)
}

// rateLimited returns jobs that all have the same delay.
func (q *queries) rateLimited(ctx context.Context, outcomes []outcome) (applied, error) {
	ids, leases := leasesOf(outcomes)
	return q.apply(ctx, `
		  from S.rate_limited_batch($1::text, $2::bigint[], $3::bigint[],
		                            $4::double precision operator(pg_catalog.*) interval '1 second') as j`,
		q.workerID, ids, leases, inSeconds(outcomes[0].delay))
}

func (q *queries) fail(ctx context.Context, outcomes []outcome) (applied, error) {
	type failure struct {
		ID        int64           `json:"id"`
		Lease     int64           `json:"lease"`
		Message   string          `json:"message"`
		RetryIn   *float64        `json:"retry_in,omitempty"` // seconds
		Payload   json.RawMessage `json:"payload,omitempty"`
		Permanent bool            `json:"permanent,omitempty"`
	}
	failures := make([]failure, len(outcomes))
	for i, o := range outcomes {
		failures[i] = failure{
			ID: o.job.ID, Lease: o.lease, Message: o.message, RetryIn: inSeconds(o.delay), Payload: o.payload,
			Permanent: o.permanent,
		}
	}
	list, err := encodePayload(failures) // keeps the text of the payloads
	if err != nil {
		return nil, fmt.Errorf("encode failures: %w", err)
	}
	return q.apply(ctx, `from S.fail_job_batch($1::text, $2::json) as j`, q.workerID, *list)
}

// apply calls a function that returns the new states of jobs; sql names its rows j. Infinity minus a time is an error
// before PostgreSQL 17.
func (q *queries) apply(ctx context.Context, sql string, args ...any) (done applied, err error) {
	err = q.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		done = make(applied)
		rows, err := conn.Query(ctx, q.text(`
			select j.id, j.state, j.attempts::integer, j.max_attempts::integer,
			       case when j.run_at operator(pg_catalog.<) 'infinity'
			            then extract(epoch from greatest(j.run_at, pg_catalog.now()) operator(pg_catalog.-) pg_catalog.now())
			            else 'infinity' end::double precision,
			       S._gw_next_may_start(j.state, j.run_at)
			`+sql), args...)
		if err != nil {
			return err
		}
		var id int64
		var became fate
		var delay float64
		_, err = pgx.ForEachRow(rows, []any{&id, &became.state, &became.attempts, &became.maxAttempts, &delay,
			&became.next}, func() error {
			became.retryIn = seconds.Duration(delay)
			done[id] = became
			return nil
		})
		return err
	})
	return done, err
}

func leasesOf(outcomes []outcome) (ids, leases []int64) {
	ids = make([]int64, len(outcomes))
	leases = make([]int64, len(outcomes))
	for i, o := range outcomes {
		ids[i], leases[i] = o.job.ID, o.lease
	}
	return ids, leases
}

// resultsOf returns the results of jobs, nil for a job without one, and nil if no job has one.
func resultsOf(outcomes []outcome) []*string {
	if !slices.ContainsFunc(outcomes, func(o outcome) bool { return o.job.hold.result != "" }) {
		return nil
	}
	results := make([]*string, len(outcomes))
	for i, o := range outcomes {
		if result := o.job.hold.result; result != "" {
			results[i] = &result
		}
	}
	return results
}

func inSeconds(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	return new(d.Seconds())
}
