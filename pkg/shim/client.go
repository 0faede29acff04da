package shim

import (
	"cmp"
	"context"
	"database/sql"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/rows"
)

// Client adds and administers jobs. It runs none, so a program that only adds jobs needs no [Worker].
//
// A client on a pool may be used by any number of goroutines; a client on a connection or a transaction only as that
// allows. A client opens nothing and need not be closed. Its calls run until they complete or their context ends.
//
// Errors of the database can be identified by their SQLSTATE: with pgx, [errors.As] finds the *pgconn.PgError. All
// errors of the queue have a code that begins with GW; docs/errors.md lists them. As in PostgreSQL in general, an error
// aborts the transaction in which it occurs.
type Client struct {
	db     rows.Database
	cfg    ClientConfig
	schema string // quoted

	isQueue *atomic.Bool // see mayBeForRoles; copies of the client share it
	waits   *waitingCalls
}

// DB is the part of pgx that a [Client] needs: *pgxpool.Pool, *pgxpool.Conn, *pgx.Conn and pgx.Tx implement it, in any
// query mode.
type DB interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// SQLDB is the part of database/sql that a [Client] needs: *sql.DB, *sql.Conn and *sql.Tx implement it.
type SQLDB interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ClientConfig configures a [Client]. Its zero value is valid.
type ClientConfig struct {
	// Schema is the schema of the queue, not quoted. Default: "graphile_worker". A role set up by gw-migrate grants
	// uses the schema for roles, "graphile_worker_api": the client then adds jobs by the functions granted to the
	// producer, which return only the ID of a job, and does not use its Propagator. Calls that the role is not granted
	// return an error that matches [ErrNotGranted].
	Schema string

	// LocalTime makes this machine's clock the "now" of added jobs: the run_at if none is given, and the time from
	// which RunIn counts. Default: false, which is the clock of the database at the start of the transaction. Set it in
	// tests that move the clock, and where the worker uses the same clock.
	LocalTime bool

	// Propagator stores values from the context of the call, such as a trace, with each job, for workers with a
	// Propagator. Default: none.
	Propagator Propagator
}

// NewClient returns a client on a pool, a connection or a transaction of pgx.
func NewClient(db DB, cfg ClientConfig) *Client {
	return (&Client{cfg: cfg}).With(db)
}

// NewSQLClient returns a client on database/sql with any PostgreSQL driver: *sql.DB, *sql.Conn or *sql.Tx.
func NewSQLClient(db SQLDB, cfg ClientConfig) *Client {
	return (&Client{cfg: cfg}).WithSQL(db)
}

// With returns a copy of the client on another database handle, usually a transaction, so that the job is committed
// together with the changes that require it.
func (c *Client) With(db DB) *Client {
	if db == nil {
		return c.on(nil)
	}
	return c.on(rows.OfPgx(db))
}

// WithSQL is [Client.With] for database/sql.
func (c *Client) WithSQL(db SQLDB) *Client {
	if db == nil {
		return c.on(nil)
	}
	return c.on(rows.OfSQL(db))
}

func (c *Client) on(db rows.Database) *Client {
	other := *c
	other.db, other.waits = db, newWaits()
	other.cfg.Schema = cmp.Or(other.cfg.Schema, defaultSchema)
	other.isQueue = cmp.Or(other.isQueue, &atomic.Bool{})
	other.schema = pgx.Identifier{other.cfg.Schema}.Sanitize()
	return &other
}

func (h *host) client() *Client {
	client := &Client{cfg: ClientConfig{Schema: h.schema, Propagator: h.propagator}, isQueue: &h.isQueue}
	return client.With(h.pool)
}

// rolesSuffix is the suffix of the schema that gw-migrate grants creates for roles; the prefix is the name of the
// queue's schema.
const rolesSuffix = "_api"

const (
	defaultSchema       = "graphile_worker"
	defaultPollInterval = 2 * time.Second
	longestPollInterval = 24 * time.Hour
	defaultGrace        = 30 * time.Second
	maxWorkerIDLength   = 128
	maxConcurrency      = 100_000 // each handler that runs has a goroutine and a job in memory
)
