// Package inspect reads the results of the functions that describe a queue, for the commands of gw-run and for the
// console.
package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/storable"
)

// Answer is the result of a query.
type Answer struct {
	Rows []json.RawMessage // one object per row, with the column names as keys
	Now  time.Time         // now() of the database; zero without rows
}

// Ask returns the rows of a query, in which S stands for the quoted schema. args may begin with options of pgx.
func Ask(ctx context.Context, conn *pgx.Conn, schema, query string, args ...any) (Answer, error) {
	var found Answer
	args, err := storable.Args(args, func() (string, error) {
		return conn.PgConn().ParameterStatus("server_encoding"),
			nil
	})
	if err != nil {
		return found, err
	}
	rows, err := conn.Query(ctx, statement.In(schema,
		"select pg_catalog.row_to_json(r)::text, pg_catalog.now() from ("+query+") as r"), args...)
	if err != nil {
		return found, err
	}
	var text string
	_, err = pgx.ForEachRow(rows, []any{&text, &found.Now}, func() error {
		found.Rows = append(found.Rows, json.RawMessage(text))
		return nil
	})
	return found, err
}

// Decode decodes rows.
func Decode[T any](rows []json.RawMessage) ([]T, error) {
	values := make([]T, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row, &values[i]); err != nil {
			return nil, fmt.Errorf("decode row: %w", err)
		}
	}
	return values, nil
}
