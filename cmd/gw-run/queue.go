package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/internal/statement"
)

// queue is the connection of a command that looks at the queue or acts on it, by the SQL functions that are there for
// everybody.
type queue struct {
	config *pgx.ConnConfig
	schema string
	db     *pgx.Conn
}

// open connects to the queue. Times are read and told in UTC.
func (d database) open(ctx context.Context) (*queue, error) {
	config, err := d.pool()
	if err != nil {
		return nil, err
	}
	// Nothing is prepared: each statement is run once or twice, and may come through a pooler.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.ConnConfig.RuntimeParams["timezone"] = "UTC"
	q := &queue{config: config.ConnConfig, schema: d.schema}
	return q, q.connect(ctx)
}

func (q *queue) connect(ctx context.Context) (err error) {
	if q.db, err = connection.Connect(ctx, q.config); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

func (q *queue) close() {
	if q.db != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = q.db.Close(ctx) // what was to be done is done
	}
}

// answer is what a query returned.
type answer struct {
	rows []json.RawMessage // an object each, with the names of the columns
	now  time.Time         // by the clock of the database
}

// ask returns the rows of a query, in which S. stands for the schema. A connection that is gone is made anew.
func (q *queue) ask(ctx context.Context, query string, args ...any) (answer, error) {
	if q.db.IsClosed() {
		if err := q.connect(ctx); err != nil {
			return answer{}, err
		}
	}
	var found answer
	rows, err := q.db.Query(ctx, q.sql("select pg_catalog.row_to_json(r)::text, pg_catalog.now() from ("+query+") as r"), args...)
	if err != nil {
		return answer{}, explain(err)
	}
	var text string
	_, err = pgx.ForEachRow(rows, []any{&text, &found.now}, func() error {
		found.rows = append(found.rows, json.RawMessage(text))
		return nil
	})
	return found, explain(err)
}

// sql completes a statement, in which S stands for the schema.
func (q *queue) sql(text string) string {
	return statement.In(pgx.Identifier{q.schema}.Sanitize(), text)
}

// decode returns the rows as values.
func decode[T any](rows []json.RawMessage) ([]T, error) {
	values := make([]T, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row, &values[i]); err != nil {
			return nil, fmt.Errorf("read what the database answers: %w", err)
		}
	}
	return values, nil
}

// explain says what to do about an error of the database, and whose mistake it is.
func explain(err error) error {
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) {
		return err
	}
	isOurs, text := sqlstate.IsOurs(refusal.Code), refusal.Message
	if isOurs && refusal.Hint != "" {
		text += " " + refusal.Hint
	}
	switch class := sqlstate.ClassOf(refusal.Code); {
	case class == sqlstate.Usage:
		return usageError{errors.New(text)}
	case class == sqlstate.NotFound:
		return fmt.Errorf("%w; gw-migrate installs and upgrades the queue", err)
	case isOurs:
		return errors.New(text)
	}
	return err
}

// moment is a time, as JSON has it from the database.
type moment struct {
	time.Time
	text string // what is no time for Go, such as infinity; empty if Time is one, or null
}

func (m *moment) UnmarshalJSON(data []byte) error {
	*m = moment{}
	if string(data) == "null" {
		return nil
	}
	if err := json.Unmarshal(data, &m.text); err != nil {
		return err
	}
	if t, err := time.Parse(time.RFC3339, m.text); err == nil {
		*m = moment{Time: t}
	}
	return nil
}

// isNull reports whether there is no time.
func (m moment) isNull() bool { return m.text == "" && m.IsZero() }
