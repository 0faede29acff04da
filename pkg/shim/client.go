package shim

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/rows"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/internal/statement"
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
	other.db = db
	other.waits = &waitingCalls{calls: make(map[*waiter]bool), joined: newSignal(), heard: newSignal()}
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

var errNoDatabase = errors.New("the client has no database")

// each runs a statement and calls fn for every row; fn's argument scans the row. S in sql stands for the schema.
func (c *Client) each(ctx context.Context, fn func(scan func(...any) error) error, sql string, args ...any) error {
	if c.db == nil {
		return errNoDatabase
	}
	return c.explained(c.db.Each(ctx, fn, statement.In(c.schema, sql), args...))
}

// listed returns the rows of a statement; columns returns where the values of a row go.
func listed[T any](ctx context.Context, c *Client, columns func(*T) []any, sql string, args ...any) ([]T, error) {
	var list []T
	err := c.each(ctx, func(scan func(...any) error) error {
		var row T
		err := scan(columns(&row)...)
		list = append(list, row)
		return err
	}, sql, args...)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// mapped returns the rows of a statement by their keys; columns returns where the values of a row go.
func mapped[K comparable, T any](ctx context.Context, c *Client, columns func(*K, *T) []any, sql string,
	args ...any) (map[K]T, error) {
	found := make(map[K]T)
	err := c.each(ctx, func(scan func(...any) error) error {
		var key K
		var row T
		err := scan(columns(&key, &row)...)
		found[key] = row
		return err
	}, sql, args...)
	if err != nil {
		return nil, err
	}
	return found, nil
}

func firstRow[T any](ctx context.Context, c *Client, columns func(*T) []any, sql string, args ...any) (*T, error) {
	list, err := listed(ctx, c, columns, sql, args...)
	if len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

func singleValue[T any](ctx context.Context, c *Client, sql string, args ...any) (value T, err error) {
	err = c.each(ctx, func(scan func(...any) error) error { return scan(&value) }, sql, args...)
	return value, err
}

// order calls a function whose result is not needed.
func (c *Client) order(ctx context.Context, sql string, args ...any) error {
	_, err := singleValue[*string](ctx, c, sql, args...)
	return err
}

func (c *Client) all(ctx context.Context, sql string, args ...any) ([]*JobInfo, error) {
	var jobs []*JobInfo
	err := c.each(ctx, func(scan func(...any) error) error {
		job := &JobInfo{}
		jobs = append(jobs, job)
		return scan(job.columns()...)
	}, sql, args...)
	if err != nil {
		return nil, err
	}
	return jobs, nil
}

func (c *Client) one(ctx context.Context, sql string, args ...any) (*JobInfo, error) {
	jobs, err := c.all(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, ErrJobNotFound
	}
	return jobs[0], nil
}

// during adds to an error what it has prevented; the error may be nil.
func during(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(what, args...), err)
}

// mayBeForRoles reports whether the client's schema may be one for roles. If so, enqueue determines whether it is, and
// sets isQueue if it is not.
func (c *Client) mayBeForRoles() bool {
	return strings.HasSuffix(c.cfg.Schema, rolesSuffix) && !c.isQueue.Load()
}

// The errors of a [Client].
var (
	// ErrJobNotFound is returned by [Client.Job], [Client.JobByKey] and [Client.Remove] if there is no such job. A
	// completed job has no row.
	ErrJobNotFound = errors.New("job not found")

	// ErrNotGranted is matched by the errors of a [Client] in the schema for roles (see [ClientConfig]) for calls that
	// gw-migrate grants has not granted to its role.
	ErrNotGranted = errors.New("not granted")

	// ErrEmptyBatch is returned by [Client.AddBatch] for an empty list, because its job would have nothing to do.
	ErrEmptyBatch = errors.New("empty batch")
)

// explained adds a remedy to errors whose text has none. [errors.As] still finds the original error.
func (c *Client) explained(err error) error {
	state := sqlstate.Of(err)
	if strings.HasSuffix(c.cfg.Schema, rolesSuffix) && slices.Contains([]string{"42501", "42883", "42P01"}, state) {
		return fmt.Errorf("%w to this role by gw-migrate grants: %w", ErrNotGranted, err)
	}
	switch sqlstate.ClassOf(state) {
	case sqlstate.NotFound:
		return fmt.Errorf("%w: is the queue installed in the schema %q, and up to date? gw-migrate installs and upgrades it",
			err, c.cfg.Schema)
	case sqlstate.NotGranted:
		return fmt.Errorf("%w: only the role that installed the queue may use it", err)
	}
	return err
}

// Open opens a pool for a [Worker] or a [Client], and connects once to check that it can. The caller closes it.
//
// connString is a URL, a list of key=value or the name of a database, with the settings of [pgxpool.ParseConfig] such
// as pool_max_conns. If it is empty, Open uses DATABASE_URL, or else PGHOST, PGDATABASE and the other variables of
// PostgreSQL; if none of these is set, it returns an error. Errors do not contain passwords. Text is sent as UTF-8,
// whatever the encoding of the database and of the role.
func Open(ctx context.Context, connString string) (*pgxpool.Pool, error) {
	config, err := parsed(connString)
	if err != nil {
		return nil, during(err, "open database")
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, during(err, "open database")
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, during(err, "open database")
	}
	return pool, nil
}

func parsed(connString string) (*pgxpool.Config, error) {
	text, err := connection.Find(connString, "a connection string", os.Getenv)
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(text)
	if err == nil {
		connection.Speak(config.ConnConfig)
	}
	return config, err
}

// QuickAdd connects as [Open] does, adds one job as [Client.Add] does, and disconnects; it is meant for scripts. The
// queue is in the schema graphile_worker. For another schema, and for more than one job, create a [Client].
func QuickAdd(ctx context.Context, connString, task string, payload any, opts *AddOptions) (job *JobInfo, err error) {
	config, err := parsed(connString) // it accepts the settings of a pool, too
	if err != nil {
		return nil, during(err, "add job %q", task)
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return nil, during(err, "add job %q", task)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return NewClient(conn, ClientConfig{}).Add(ctx, task, payload, opts)
}
