package shim

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/internal/statement"
)

// callTimeout limits every call of the database except ticks of cron, including the wait for a connection. For a claim
// it counts from the last byte received.
const callTimeout = 30 * time.Second

// queries are the calls of the SQL functions. Every parameter is cast, and JSON is sent as a string, so that they mean
// the same in each of pgx's query modes.
type queries struct {
	pool     *pgxpool.Pool
	schema   string // quoted
	workerID string
	worker   *host // set in the jobs
	readOnly *readOnly
	outage   *connection.Outage

	hasNoProgress atomic.Bool // progress cannot be stored, because the role has no right to set it, for example
}

// maxOvertaken is how often fn of a call is repeated because a migration has overtaken it; several may follow each
// other.
const maxOvertaken = 5

// call runs fn on a connection of the pool, and again on the same one if a migration has overtaken it.
func (q *queries) call(ctx context.Context, fn func(context.Context, *pgx.Conn) error) error {
	return q.callWithin(ctx, callTimeout, fn)
}

func (q *queries) callWithin(ctx context.Context, timeout time.Duration,
	fn func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return q.pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error { return q.on(ctx, conn.Conn(), fn) })
}

// callWhileHeard is call for large results: it continues as long as data arrives.
func (q *queries) callWhileHeard(ctx context.Context, fn func(context.Context, *pgx.Conn) error) error {
	acquiring, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return q.pool.AcquireFunc(acquiring, func(conn *pgxpool.Conn) error {
		heard, end := connection.WhileHeard(ctx, conn.Conn(), callTimeout)
		defer end()
		err := q.on(heard, conn.Conn(), fn)
		if err != nil && context.Cause(heard) == connection.ErrSilent {
			return connection.ErrSilent
		}
		return err
	})
}

func (q *queries) on(ctx context.Context, conn *pgx.Conn, fn func(context.Context, *pgx.Conn) error) error {
	err := fn(ctx, conn)
	for tries := 0; tries < maxOvertaken && sqlstate.IsOvertaken(err); tries++ {
		err = fn(ctx, conn)
	}
	if sqlstate.IsReadOnly(err) {
		q.readOnly.found()
		_ = conn.Close(ctx) // the next connection may lead to the primary
	}
	return err
}

// row runs a statement that returns one row and scans it into dst. S in sql stands for the schema.
func (q *queries) row(ctx context.Context, dst any, sql string, args ...any) error {
	return q.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, q.text(sql), args...).Scan(dst)
	})
}

func (q *queries) exec(ctx context.Context, sql string, args ...any) error {
	return q.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, q.text(sql), args...)
		return err
	})
}

func (q *queries) text(sql string) string { return statement.In(q.schema, sql) }

// breakingRevision returns the newest breaking revision of the schema, 0 if there is none.
func (q *queries) breakingRevision(ctx context.Context) (revision int, err error) {
	err = q.row(ctx, &revision, `select S._gw_breaking_revision()`)
	return revision, err
}

// breakingVersion returns the newest version of the schema that workers must support, 0 if there is none.
func (q *queries) breakingVersion(ctx context.Context) (version int, err error) {
	err = q.row(ctx, &version, `select S._gw_breaking_version()`)
	return version, err
}

type identity struct {
	tasks       []string
	concurrency int
	hostname    string
	pid         int
	version     string
}

func (q *queries) register(ctx context.Context, me identity) error {
	return q.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if q.worker != nil { // nil in tests of the queries
			q.worker.encoding.Store(conn.PgConn().ParameterStatus("server_encoding"))
		}
		_, err := conn.Exec(ctx, q.text(
			`select S.register_worker($1::text, $2::text[], $3::integer, $4::text, $5::integer, $6::text)`),
			q.workerID, me.tasks, me.concurrency, me.hostname, me.pid, me.version)
		return err
	})
}

func (q *queries) canceled(ctx context.Context) (ids []int64, err error) {
	err = q.row(ctx, &ids, `select array(select c.job_id from S._gw_canceled_jobs($1::text) as c)`, q.workerID)
	return ids, err
}

func (q *queries) deregister(ctx context.Context) error {
	return q.exec(ctx, `select S.deregister_worker($1::text)`, q.workerID)
}

func (q *queries) staleSweep(ctx context.Context) (freed int64, err error) {
	err = q.row(ctx, &freed, `select S.stale_sweep()`)
	return freed, err
}

// tidy deletes expired rows of the side tables and packs the history, if that is due.
func (q *queries) tidy(ctx context.Context) error { return q.exec(ctx, `select S.tidy()`) }

// returnUnknown returns to the queue the jobs locked in this worker's name except these, and returns their number.
func (q *queries) returnUnknown(ctx context.Context, known []int64) (returned int64, err error) {
	err = q.row(ctx, &returned, `select S.return_unknown_jobs($1::text, $2::bigint[])`, q.workerID, known)
	return returned, err
}

func (q *queries) unlock(ctx context.Context) error {
	return q.exec(ctx, `select S.force_unlock_workers(array[$1::text])`, q.workerID)
}

// wakeUp records that this worker need not be notified of jobs.
func (q *queries) wakeUp(ctx context.Context) error {
	return q.exec(ctx, `select S.wake_up($1::text)`, q.workerID)
}

// stillInFlight returns which of these transactions have not ended; for nil, all that have not.
func (q *queries) stillInFlight(ctx context.Context, transactions []int64) (still []int64, err error) {
	err = q.row(ctx, &still, `select S.still_in_flight($1::bigint[])`, transactions)
	return still, err
}

type loop struct {
	queries *queries
	logger  *slog.Logger
	events  *eventBus
	fail    func(error) // ends the worker
}

// warn logs that a call failed and will be tried again. While the database cannot be reached or is read-only, which is
// logged once for all calls, each failure is logged at level debug.
func (q *queries) warn(logger *slog.Logger, message string, err error, attrs ...any) {
	attrs = append(attrs, "error", err)
	switch {
	case sqlstate.IsReadOnly(err): // logged when the call failed
	case sqlstate.IsOutage(err):
		q.outage.Found(err)
		logger.Debug(message, attrs...)
	case q.outage.Lasts():
		logger.Debug(message, attrs...)
	default:
		logger.Warn(message, attrs...)
	}
}

// readOnly records that the server is read-only, so that this is logged once and not by each loop at each attempt. Such
// a server was the primary before a failover, or will become it. Connections to it are closed, because the next one may
// lead to another server.
type readOnly struct {
	is     atomic.Bool
	logger *slog.Logger
	moved  signal // for the listener, which would not notice that writes go to another server now
}

func (r *readOnly) found() {
	if r != nil && !r.is.Swap(true) {
		r.logger.Warn("server is read-only, worker waits for a server that accepts writes")
	}
}

func (r *readOnly) over() {
	if r != nil && r.is.CompareAndSwap(true, false) {
		r.logger.Info("server accepts writes again")
		r.moved.set()
	}
}

// signal triggers a loop. Signals that arrive before the loop handles one are merged.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) set() {
	select {
	case s <- struct{}{}:
	default:
	}
}
