package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/operate"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/stop"
)

// session is the connection of a command that shows or changes the queue, with the public SQL functions.
type session struct {
	config *pgx.ConnConfig
	schema string
	conn   *pgx.Conn
}

// open connects to the database of the queue. Times are read and printed in UTC.
func (d database) open(ctx context.Context) (*session, error) {
	config, err := d.pool()
	if err != nil {
		return nil, err
	}
	// Statements are not prepared: each one runs once or twice, and possibly through a pooler.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	s := &session{config: config.ConnConfig, schema: d.schema}
	return s, s.connect(ctx)
}

// with runs do on a connection to the database of the queue, for a command that ends when it is told to stop.
func (d *database) with(
	cmd *cobra.Command, env Env, do func(ctx context.Context, db *session) error,
) error {
	if err := d.complete(env.Getenv); err != nil {
		return err
	}
	ctx, _, release := env.Stops.Begin(cmd.Context(), stop.Hangup()...)
	defer release()
	db, err := d.open(ctx)
	if err == nil {
		defer db.close()
		err = do(ctx, db)
	}
	return stop.Explain(ctx, err)
}

func (s *session) connect(ctx context.Context) (err error) {
	if s.conn, err = connection.Connect(ctx, s.config); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

func (s *session) close() {
	if s.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.conn.Close(ctx) // the command has its results already
	}
}

// ask returns the rows of a query, in which S stands for the schema. It reconnects if the connection is closed.
func (s *session) ask(ctx context.Context, query string, args ...any) (inspect.Answer, error) {
	if err := s.reconnect(ctx); err != nil {
		return inspect.Answer{}, err
	}
	return s.query(ctx, query, args...)
}

// reconnect connects again if the connection is closed, or if the last attempt has failed.
func (s *session) reconnect(ctx context.Context) error {
	if s.conn != nil && !s.conn.IsClosed() {
		return nil
	}
	return s.connect(ctx)
}

// query is ask on the connection as it is.
func (s *session) query(ctx context.Context, query string, args ...any) (inspect.Answer, error) {
	found, err := inspect.Ask(ctx, s.conn, pgx.Identifier{s.schema}.Sanitize(), query, args...)
	return found, explain(err)
}

// in runs do in a transaction with its audit. It reconnects if the connection is closed.
func (s *session) in(ctx context.Context, audit operate.Audit, do func(*pgx.Conn) error) error {
	if err := s.reconnect(ctx); err != nil {
		return err
	}
	tx, err := s.conn.Begin(ctx)
	if err != nil {
		return explain(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // after the commit it does nothing
	if err := audit.Set(ctx, s.conn); err != nil {
		return explain(err)
	}
	if err := do(s.conn); err != nil {
		return err
	}
	return explain(tx.Commit(ctx))
}

// act returns the rows of a query that changes something, as ask does, and records who did it for the audit.
func (s *session) act(ctx context.Context, query string, args ...any) (found inspect.Answer, err error) {
	err = s.in(ctx, operate.Audit{Actor: operator()}, func(*pgx.Conn) (err error) {
		found, err = s.query(ctx, query, args...)
		return err
	})
	return found, err
}

// actOnce is act for a query that returns one row with the column value, which may be null.
func actOnce[T any](ctx context.Context, s *session, query string, args ...any) (value T, err error) {
	found, err := s.act(ctx, query, args...)
	if err != nil {
		return value, err
	}
	rows, err := inspect.Decode[struct{ Value T }](found.Rows)
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("the database returned %d rows, not one", len(rows))
	}
	if err != nil {
		return value, err
	}
	return rows[0].Value, nil
}

// operator returns the system's name of the user who runs this program.
func operator() string {
	name := "gw-run"
	if who, err := user.Current(); err == nil {
		name = who.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

// sql returns a statement with the schema in place of S.
func (s *session) sql(text string) string {
	return statement.In(pgx.Identifier{s.schema}.Sanitize(), text)
}
