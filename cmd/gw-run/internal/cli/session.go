package cli

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

// Session is the connection of a command that shows or changes the queue, with the public SQL functions.
type Session struct {
	Config *pgx.ConnConfig
	schema string
	Conn   *pgx.Conn
}

// Open connects to the database of the queue. Times are read and printed in UTC.
func (d Database) Open(ctx context.Context) (*Session, error) {
	config, err := d.Pool()
	if err != nil {
		return nil, err
	}
	// Statements are not prepared: each one runs once or twice, and possibly through a pooler.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	s := &Session{Config: config.ConnConfig, schema: d.Schema}
	return s, s.connect(ctx)
}

// With runs do on a connection to the database of the queue, for a command that ends when it is told to stop.
func (d *Database) With(cmd *cobra.Command, env Env, do func(ctx context.Context, db *Session) error) error {
	if err := d.Complete(env.Getenv); err != nil {
		return err
	}
	ctx, _, release := env.Stops.Begin(cmd.Context(), stop.Hangup()...)
	defer release()
	db, err := d.Open(ctx)
	if err == nil {
		defer db.Close()
		err = do(ctx, db)
	}
	return stop.Explain(ctx, err)
}

// connect connects if there is no connection, or if it is closed.
func (s *Session) connect(ctx context.Context) (err error) {
	if s.Conn != nil && !s.Conn.IsClosed() {
		return nil
	}
	if s.Conn, err = connection.Connect(ctx, s.Config); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

// Close closes the connection.
func (s *Session) Close() {
	if s.Conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.Conn.Close(ctx) // the command has its results already
	}
}

// Ask returns the rows of a query, in which S stands for the schema. It reconnects if the connection is closed.
func (s *Session) Ask(ctx context.Context, query string, args ...any) (inspect.Answer, error) {
	if err := s.connect(ctx); err != nil {
		return inspect.Answer{}, err
	}
	return s.query(ctx, query, args...)
}

// query is Ask on the connection as it is.
func (s *Session) query(ctx context.Context, query string, args ...any) (inspect.Answer, error) {
	found, err := inspect.Ask(ctx, s.Conn, pgx.Identifier{s.schema}.Sanitize(), query, args...)
	return found, Explain(err)
}

// In runs do in a transaction with its audit. It reconnects if the connection is closed.
func (s *Session) In(ctx context.Context, audit operate.Audit, do func(*pgx.Conn) error) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	tx, err := s.Conn.Begin(ctx)
	if err != nil {
		return Explain(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // after the commit it does nothing
	if err := audit.Set(ctx, s.Conn); err != nil {
		return Explain(err)
	}
	if err := do(s.Conn); err != nil {
		return err
	}
	return Explain(tx.Commit(ctx))
}

// Act returns the rows of a query that changes something, as Ask does, and records who did it for the audit.
func (s *Session) Act(ctx context.Context, query string, args ...any) (found inspect.Answer, err error) {
	err = s.In(ctx, operate.Audit{Actor: Operator()}, func(*pgx.Conn) (err error) {
		found, err = s.query(ctx, query, args...)
		return err
	})
	return found, err
}

// Rows decodes the rows of an answer.
func Rows[T any](found inspect.Answer, err error) ([]T, inspect.Answer, error) {
	if err != nil {
		return nil, found, err
	}
	rows, err := inspect.Decode[T](found.Rows)
	return rows, found, err
}

// ActOnce is Act for a query that returns one row with the column value, which may be null.
func ActOnce[T any](ctx context.Context, s *Session, query string, args ...any) (value T, err error) {
	rows, _, err := Rows[struct{ Value T }](s.Act(ctx, query, args...))
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("the database returned %d rows, not one", len(rows))
	}
	if err != nil {
		return value, err
	}
	return rows[0].Value, nil
}

// Operator returns the system's name of the user who runs this program.
func Operator() string {
	name := "gw-run"
	if who, err := user.Current(); err == nil {
		name = who.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

// SQL returns a statement with the schema in place of S.
func (s *Session) SQL(text string) string {
	return statement.In(pgx.Identifier{s.schema}.Sanitize(), text)
}
