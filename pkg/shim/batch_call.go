package shim

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/internal/sqlstate"
)

const (
	// longestBatch is the statement_timeout of a batch, unless a job has a shorter one. A job that takes longer, against the
	// expectation from those before it, runs again by a claim, with its own timeout.
	longestBatch = 2 * time.Second
	// batchAnswerTime is how long the worker waits for the answer beyond that.
	batchAnswerTime = 30 * time.Second
	// longestEnd is how long the worker waits for the end of a process whose connection is lost.
	longestEnd = 5 * time.Second
)

// batchAnswer is the answer to a batch. The slices have an element for each job that ran, or, unless details were requested, for each
// that failed; those for failed jobs have one for each of these.
type batchAnswer struct {
	ran      int
	ids      []int64
	failed   []int32 // positions in ids, from 1
	messages []string
	became   []fate
	lease    int64
	locked   int
	mean     time.Duration
	next     int
	stopped  string // why not all jobs ran that were found
	last     place  // of the last job that was found

	// These are empty unless they were requested.
	priorities  []int16
	runAts      []time.Time
	createdAts  []time.Time
	maxAttempts []int16
}

// beginBatches records that the worker begins to run batches in a slot. It returns false if the worker is not registered.
func (q *queries) beginBatches(ctx context.Context, next *batch) (may bool, err error) {
	err = q.row(ctx, &may, `select S._gw_begin_batches($1::text, $2::integer, $3::text, $4::integer, $5::boolean)`,
		q.workerID, next.slot.number, next.of.name, next.size, next.isFirst)
	return may, err
}

// leaveBatches deletes the records of slots.
func (q *queries) leaveBatches(ctx context.Context, slots []int) error {
	return q.exec(ctx, `select S._gw_leave_batches($1::text, $2::integer[])`, q.workerID, slots)
}

// runBatch runs a batch on a connection of the caller's pool, because the functions of the user run in it.
func (q *queries) runBatch(ctx context.Context, call *ServerCall, next *batch, details bool) (answer *batchAnswer, err error) {
	timeout := min(call.Timeout, longestBatch)
	ctx, cancel := context.WithTimeout(ctx, timeout+batchAnswerTime)
	defer cancel()
	var broken uint32 // the process behind a connection that broke
	err = q.worker.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		conn := c.Conn()
		defer func() {
			if conn.IsClosed() {
				broken = conn.PgConn().PID()
			}
		}()
		answer, err = q.sendBatch(ctx, conn, call, next, timeout, details)
		if err != nil {
			rollBack(ctx, conn, err)
		}
		return err
	})
	if broken != 0 {
		q.awaitEnd(ctx, broken)
	}
	return answer, err
}

// rollBack ends the transaction of a batch that has failed with err, nil if it has nothing to commit. It closes a connection that
// cannot be used any more.
func rollBack(ctx context.Context, conn *pgx.Conn, err error) {
	if sqlstate.Of(err) == "26000" { // the server has forgotten what we have prepared
		_ = conn.Close(ctx)
	}
	if conn.IsClosed() || conn.PgConn().TxStatus() == 'I' {
		return
	}
	if _, err := conn.Exec(ctx, "rollback"); err != nil {
		_ = conn.Close(ctx)
	}
}

// awaitEnd waits until a process of the server has ended, and with it its row locks: until then claims would skip the jobs of its
// batch. Behind a pooler, which has other numbers, it does not wait.
func (q *queries) awaitEnd(ctx context.Context, pid uint32) {
	ctx, cancel := context.WithTimeout(ctx, longestEnd)
	defer cancel()
	runs := true
	for runs && ctx.Err() == nil {
		err := q.row(ctx, &runs, `select exists (select from pg_catalog.pg_stat_activity as a where a.pid operator(pg_catalog.=) $1::integer)`,
			int32(pid))
		if err != nil || runs {
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
}

func (q *queries) sendBatch(
	ctx context.Context, conn *pgx.Conn, call *ServerCall, next *batch, timeout time.Duration, details bool,
) (*batchAnswer, error) {
	answer := &batchAnswer{}
	var retryIn []float64
	var states []string
	var attempts, maxima []int16
	var mean *float64
	var stopped *string
	var lastPriority *int16
	var lastRunAt pgtype.Timestamptz
	var lastID *int64
	all := &pgx.Batch{}
	all.Queue("begin isolation level read committed")
	all.Queue(fmt.Sprintf("set local statement_timeout = %d", timeout.Milliseconds()))
	all.Queue(q.text(`
		select b.ran, b.ids, b.failed, b.messages, b.states, b.attempts, b.maxima, b.retry_in, b.priorities, b.run_ats, b.created_ats,
		       b.max_attempts, b.lease, b.locked, b.mean, b.next_size, b.stopped_by,
		       b.last_priority, b.last_run_at, b.last_id
		  from S._gw_work_batch($1::text, $2::integer, $3::text, $4::text, $5::boolean, $6::integer, $7::boolean,
		                    $8::smallint, $9::timestamptz, $10::bigint) as b`),
		q.workerID, next.slot.number, call.Function, call.PayloadType, call.IsProcedure, next.size, details,
		next.from.priority, next.from.runAt, next.from.id).
		QueryRow(func(row pgx.Row) error {
			return row.Scan(&answer.ran, &answer.ids, &answer.failed, &answer.messages, &states, &attempts, &maxima, &retryIn,
				&answer.priorities, &answer.runAts, &answer.createdAts, &answer.maxAttempts, &answer.lease, &answer.locked, &mean,
				&answer.next, &stopped, &lastPriority, &lastRunAt, &lastID)
		})
	all.Queue("commit")
	if err := conn.SendBatch(ctx, all).Close(); err != nil {
		return nil, err
	}
	for i := range answer.failed {
		answer.became = append(answer.became, fate{
			state: states[i], attempts: int(attempts[i]), maxAttempts: int(maxima[i]), retryIn: seconds.Duration(retryIn[i]),
		})
	}
	if mean != nil {
		answer.mean = seconds.Duration(*mean)
	}
	if lastID != nil {
		answer.last = place{*lastPriority, lastRunAt, *lastID}
	}
	if stopped != nil {
		answer.stopped = *stopped
	}
	return answer, nil
}
