package gotest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/pgtest"
)

// patience ends a wait for something that does not come. It is long because it only matters when a test fails.
const patience = 2 * time.Minute

const readCommitted, repeatableRead, serializable = "read committed", "repeatable read", "serializable"

// database is a migrated database of the test's own, watched from a connection beside the sessions under test.
type database struct {
	t       testing.TB
	url     string
	watcher *session
}

func newDatabase(t testing.TB) *database {
	t.Helper()
	d := &database{t: t, url: pgtest.Database(t)}
	d.watcher = d.session()
	return d
}

// in returns the database for use in a subtest, whose sessions end with it.
func (d *database) in(t testing.TB) *database { return &database{t: t, url: d.url, watcher: d.watcher} }

// session is a connection of its own. Its methods end the test on an error, so they are for the test's goroutine only;
// others use conn.
type session struct {
	t    testing.TB
	db   *database
	conn *pgx.Conn
}

func (d *database) session() *session { return d.sessionAt(readCommitted) }

// sessionAt returns a session whose transactions have this isolation level.
func (d *database) sessionAt(isolation string) *session {
	d.t.Helper()
	config, err := pgx.ParseConfig(d.url)
	if err != nil {
		d.t.Fatalf("read the database's URL: %v", err)
	}
	config.RuntimeParams["default_transaction_isolation"] = isolation
	config.RuntimeParams["statement_timeout"] = "2min"
	conn, err := pgx.ConnectConfig(d.t.Context(), config)
	if err != nil {
		d.t.Fatalf("open a session: %v", err)
	}
	d.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return &session{t: d.t, db: d, conn: conn}
}

// in returns the session for use in a subtest.
func (s *session) in(t testing.TB) *session { return &session{t: t, db: s.db, conn: s.conn} }

func (s *session) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.conn.Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// all returns the rows of a query with one column.
func all[T any](s *session, sql string, args ...any) []T {
	s.t.Helper()
	values, err := query[T](s.t.Context(), s.conn, sql, args...)
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return values
}

// one returns the value of a query with one row and one column.
func one[T any](s *session, sql string, args ...any) T {
	s.t.Helper()
	values := all[T](s, sql, args...)
	if len(values) != 1 {
		s.t.Fatalf("%s: %d rows, want one", sql, len(values))
	}
	return values[0]
}

// query is all for any goroutine.
func query[T any](ctx context.Context, conn *pgx.Conn, sql string, args ...any) ([]T, error) {
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[T])
}

// call is a query on its way in a session: nothing else may be sent there before its result is in.
type call[T any] struct {
	session *session
	sql     string
	ended   chan struct{}
	values  []T
	err     error
}

// start sends a query with one column and does not wait for its result.
func start[T any](s *session, sql string, args ...any) *call[T] {
	c := &call[T]{session: s, sql: sql, ended: make(chan struct{})}
	s.t.Cleanup(func() { <-c.ended })
	go func() {
		defer close(c.ended)
		c.values, c.err = query[T](s.t.Context(), s.conn, sql, args...)
	}()
	return c
}

// awaitBlocked returns when the call waits for a lock that the other session holds or is before it in line for.
func (c *call[T]) awaitBlocked(by *session) {
	t := c.session.t
	t.Helper()
	pid, blocker := c.session.conn.PgConn().PID(), int32(by.conn.PgConn().PID())
	var blockers []int32
	for deadline := time.Now().Add(patience); !slices.Equal(blockers, []int32{blocker}); {
		select {
		case <-c.ended:
			t.Fatalf("%s: ended with %v, error %v; want it to wait", c.sql, c.values, c.err)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: waits for sessions %v; want it to wait for %d", c.sql, blockers, blocker)
		}
		blockers = one[[]int32](c.session.db.watcher.in(t), "select pg_blocking_pids($1)", int32(pid))
	}
}

// end waits for the call's result.
func (c *call[T]) end() ([]T, error) {
	<-c.ended
	return c.values, c.err
}

// value waits for the call's result: one row.
func (c *call[T]) value() T {
	c.session.t.Helper()
	values, err := c.end()
	if err != nil || len(values) != 1 {
		c.session.t.Fatalf("%s: %v, error %v; want one row", c.sql, values, err)
	}
	return values[0]
}

// code returns the SQLSTATE of an error, empty if there is none.
func code(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}

// insist repeats a call while it is refused with 40001, which is a valid answer above READ COMMITTED.
func insist[T any](isolation string, call func() (T, error)) (T, error) {
	for {
		result, err := call()
		if isolation == readCommitted || code(err) != "40001" {
			return result, err
		}
	}
}
