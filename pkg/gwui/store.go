package gwui

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/operate"
)

const (
	connections = 4                      // at most, for all queries of the console
	readTimeout = 2 * time.Second        // of a panel's statement
	lockTimeout = 100 * time.Millisecond // of a panel
	actTimeout  = 10 * time.Second       // of one step of an action
	connectTime = 5 * time.Second        // to get a connection
)

// errBusy is the error of a panel that got no connection in time.
var errBusy = errors.New("all connections of the console are in use")

// store runs the queries and actions of the console.
type store struct {
	pool    *pgxpool.Pool
	schema  string        // quoted
	timeout time.Duration // of a panel's statement
	slots   chan struct{}
}

func newStore(pool *pgxpool.Pool, schema string) *store {
	return &store{
		pool: pool, schema: pgx.Identifier{schema}.Sanitize(), timeout: readTimeout, slots: make(chan struct{}, connections),
	}
}

// answer is the result of a query.
type answer[T any] struct {
	Rows []T
	Now  time.Time // by the clock of the database
}

// read returns the rows of a query, in which S. stands for the schema. It runs in a read-only transaction with the limits of
// a panel, without prepared statements, so that it may come through a pooler.
func read[T any](ctx context.Context, s *store, query string, args ...any) (found answer[T], err error) {
	err = s.in(ctx, "read only", s.timeout, lockTimeout, func(conn *pgx.Conn) error {
		found, err = ask[T](ctx, s, conn, query, args...)
		return err
	})
	return found, err
}

// act runs do in a transaction with its audit.
func (s *store) act(ctx context.Context, audit operate.Audit, do func(*pgx.Conn) error) error {
	return s.in(ctx, "read write", actTimeout, actTimeout/4, func(conn *pgx.Conn) error {
		if err := audit.Set(ctx, conn); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		return do(conn)
	})
}

// ask returns the rows of a query on a connection.
func ask[T any](ctx context.Context, s *store, conn *pgx.Conn, query string, args ...any) (answer[T], error) {
	asked, err := inspect.Ask(ctx, conn, s.schema, query, append([]any{pgx.QueryExecModeExec}, args...)...)
	found := answer[T]{Now: asked.Now}
	if err == nil {
		found.Rows, err = inspect.Decode[T](asked.Rows)
	}
	if found.Now.IsZero() {
		found.Now = time.Now()
	}
	return found, err
}

// in runs do in a transaction, with limits of its statements, on one of the console's connections.
func (s *store) in(ctx context.Context, mode string, timeout, lockTimeout time.Duration, do func(*pgx.Conn) error) (err error) {
	waiting, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
	case <-waiting.Done():
		return errBusy
	}
	defer func() { <-s.slots }()
	held, err := s.pool.Acquire(waiting)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer held.Release()
	conn := held.Conn()
	begin := fmt.Sprintf("begin transaction isolation level read committed, %s; set local statement_timeout = %d; "+
		"set local lock_timeout = %d%s", mode, timeout.Milliseconds(), lockTimeout.Milliseconds(), connection.Settings("local"))
	if _, err := conn.Exec(ctx, begin, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	ended := false
	defer func() {
		if !ended {
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTime)
			defer cancel()
			if _, endErr := conn.Exec(end, "rollback", pgx.QueryExecModeSimpleProtocol); endErr != nil {
				_ = conn.Close(end) // the pool makes another
			}
		}
	}()
	if err := do(conn); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "commit", pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	ended = true
	return nil
}

// rights are the functions and views of the queue that the pool's role may use.
type rights map[string]bool

// rightsFresh is how long rights are kept. If a page offers an action that the role may not take, the database refuses it.
const rightsFresh = 10 * time.Second

type knownRights struct {
	may rights
	at  time.Time
}

// readRights returns them, or the last known ones if the database does not answer in time: each panel then shows this error.
// A function that does not exist in an older schema counts as one that the role may not call.
func (c *Console) readRights(ctx context.Context) (rights, error) {
	known := c.rights.Load()
	if known != nil {
		if time.Since(known.at) < rightsFresh {
			return known.may, nil
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.patience, errLate)
		defer cancel()
	}
	may, err := c.askRights(ctx)
	switch {
	case err == nil && len(may) > 0:
		c.rights.Store(&knownRights{may, time.Now()})
	case err != nil && known != nil:
		return known.may, nil
	}
	return may, err
}

func (c *Console) askRights(ctx context.Context) (rights, error) {
	return cached(ctx, c.cache, "rights", func(ctx context.Context) (rights, error) {
		found, err := read[struct {
			Name string `json:"name"`
		}](ctx, c.store, `
			select p.proname as name
			  from pg_catalog.pg_proc as p
			  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) p.pronamespace
			 where n.nspname operator(pg_catalog.=) $1::text
			   and pg_catalog.has_schema_privilege(n.oid, 'usage')
			   and pg_catalog.has_function_privilege(p.oid, 'execute')
			union
			select v.relname
			  from pg_catalog.pg_class as v
			  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) v.relnamespace
			 where n.nspname operator(pg_catalog.=) $1::text
			   and v.relkind operator(pg_catalog.=) 'v'
			   and pg_catalog.has_schema_privilege(n.oid, 'usage')
			   and pg_catalog.has_table_privilege(v.oid, 'select')`, c.cfg.Schema)
		if err != nil {
			return nil, err
		}
		may := make(rights, len(found.Rows))
		for _, row := range found.Rows {
			may[row.Name] = true
		}
		return may, nil
	})
}
