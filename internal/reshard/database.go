package reshard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/pkg/shard"
)

// connectTimeout is the timeout of a connection attempt. Shards may be away.
const connectTimeout = 10 * time.Second

// Database is a connection to the database of a shard, of one goroutine.
type Database struct {
	Name   string
	schema string
	config *pgx.ConnConfig
	conn   *pgx.Conn
}

// Connect connects to the database of a shard.
func Connect(ctx context.Context, s shard.Shard, schema string) (*Database, error) {
	text, err := connection.Find(s.Connection, "the connection of shard "+s.Name, func(string) string { return "" })
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("shard %s: read connection: %w", s.Name, err)
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "gw-shards"
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.RuntimeParams["timezone"] = "UTC"
	connection.SpeakUTF8(config)
	d := &Database{Name: s.Name, schema: pgx.Identifier{schema}.Sanitize(), config: config}
	return d, d.connect(ctx)
}

func (d *Database) connect(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if d.conn, err = connection.Connect(ctx, d.config); err != nil {
		return fmt.Errorf("shard %s: connect: %w", d.Name, err)
	}
	return nil
}

// Close closes the connection.
func (d *Database) Close() {
	if d.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = d.conn.Close(ctx) // the caller has its results
}

// State is a slot as a shard knows it.
type State struct {
	Slot     int
	Shard    string
	Version  int
	State    string // here, leaving, left or away
	Target   string
	Since    time.Time
	InMotion int64 // jobs in transit
}

// IsMoving reports whether the slot is on its way to its target.
func (s State) IsMoving() bool { return s.State == "leaving" || s.State == "left" }

// States returns the slots as the shard knows them, by slot; none if the database is not a shard.
func (d *Database) States(ctx context.Context) ([]State, error) {
	rows, err := d.query(ctx, `
		select l.slot::integer, l.shard, l.version, l.state, coalesce(l.target, ''), l.changed_at, l.jobs_in_transit
		  from S.list_shard_slots() as l order by l.slot`)
	if err != nil {
		return nil, err
	}
	states, err := pgx.CollectRows(rows, pgx.RowToStructByPos[State])
	return states, d.explained(err)
}

// query runs a statement, in which S stands for the schema. It connects again if the connection is closed.
func (d *Database) query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if d.conn.IsClosed() {
		if err := d.connect(ctx); err != nil {
			return nil, err
		}
	}
	rows, err := d.conn.Query(ctx, statement.In(d.schema, sql), args...)
	return rows, d.explained(err)
}

// slots runs a statement that returns slots.
func (d *Database) slots(ctx context.Context, sql string, args ...any) ([]int, error) {
	rows, err := d.query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	slots, err := pgx.CollectRows(rows, pgx.RowTo[int])
	return slots, d.explained(err)
}

// ErrNoShard is matched by errors of a database without the functions of shards, or that is not a shard.
var ErrNoShard = errors.New("the database is not a shard; gw-migrate up --shards makes it one")

// explained adds the name of the shard to an error.
func (d *Database) explained(err error) error {
	if err == nil {
		return nil
	}
	if sqlstate.ClassOf(sqlstate.Of(err)) == sqlstate.NotFound || sqlstate.Of(err) == "GWSNS" {
		return fmt.Errorf("shard %s: %w: %w", d.Name, ErrNoShard, err)
	}
	return fmt.Errorf("shard %s: %w", d.Name, err)
}
