package shim

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/statement"
)

// Client adds jobs and looks after them. It works none, so a program that only adds jobs needs no [Worker].
//
// A client on a pool may be used from any goroutine; one on a connection or a transaction, as that may be. It opens
// nothing and has nothing to close. Its calls take as long as their context lets them.
//
// Errors of the database can be told by their SQLSTATE: with pgx, [errors.As] finds the *pgconn.PgError. All that the
// queue refuses has a code of its own that begins with GW; docs/errors.md lists them. In a transaction an error makes
// the whole of it fail, as any error does in PostgreSQL.
type Client struct {
	db     database
	cfg    ClientConfig
	schema string // quoted

	kind *schemaKind
}

// ClientConfig says where a client finds the queue. Its zero value is a good start.
type ClientConfig struct {
	// Schema is the schema that holds the queue, not quoted. Default: "graphile_worker". For a role that gw-migrate grants
	// has let in, it is the one that was made for such roles, "graphile_worker_api": the client adds jobs by the functions
	// that a producer has there, of whose jobs it learns nothing but the ID, and sends nothing by its Propagator. What the
	// role may not do returns an error that matches [ErrNotGranted].
	Schema string

	// LocalTime makes this machine's clock say what "now" is when a job is added: its run_at if none is given, and the
	// time that RunIn counts from. Default: false, the clock of the database, at the begin of the transaction. Set it in
	// tests that move the clock, and where the worker goes by the same clock.
	LocalTime bool

	// Propagator sends along with each job what the context of the call holds, such as a trace, for workers that have one,
	// too. Default: none.
	Propagator Propagator
}

// NewClient makes a client on a pool, a connection or a transaction of pgx.
func NewClient(db DB, cfg ClientConfig) *Client {
	return (&Client{cfg: cfg}).With(db)
}

// NewSQLClient makes a client on database/sql, whatever the driver for PostgreSQL: *sql.DB, *sql.Conn or *sql.Tx.
func NewSQLClient(db SQLDB, cfg ClientConfig) *Client {
	return (&Client{cfg: cfg}).WithSQL(db)
}

// With returns the same client on something else, above all on the transaction that gives the reason for a job: both
// are committed, or neither is.
func (c *Client) With(db DB) *Client {
	if db == nil {
		return c.on(nil)
	}
	return c.on(pgxDatabase{db})
}

// WithSQL is [Client.With] for database/sql.
func (c *Client) WithSQL(db SQLDB) *Client {
	if db == nil {
		return c.on(nil)
	}
	return c.on(sqlDatabase{db})
}

func (c *Client) on(db database) *Client {
	other := *c
	other.db = db
	if other.cfg.Schema == "" {
		other.cfg.Schema = defaultSchema
	}
	if other.kind == nil {
		other.kind = &schemaKind{}
	}
	other.schema = pgx.Identifier{other.cfg.Schema}.Sanitize()
	return &other
}

// Client returns a client on the worker's pool and schema, with its propagator. Handlers may use it: a job that a handler adds is there
// whether or not its own job succeeds, so give it a key if the handler could be repeated.
func (w *Worker) Client() *Client {
	client := &Client{cfg: ClientConfig{Schema: w.cfg.Schema, Propagator: w.cfg.Propagator}, kind: &w.schemaKind}
	return client.With(w.pool)
}

var errNoDatabase = errors.New("the client has no database")

// each calls a statement and gives every row to fn, whose argument scans it. S in sql stands for the schema.
func (c *Client) each(ctx context.Context, fn func(scan func(...any) error) error, sql string, args ...any) error {
	if c.db == nil {
		return errNoDatabase
	}
	return c.explained(c.db.each(ctx, fn, statement.In(c.schema, sql), args...))
}
