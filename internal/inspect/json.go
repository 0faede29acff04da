// Package inspect reads the results of the functions that describe a queue, for the commands of gw-run and for the
// console.
package inspect

import (
	"bytes"
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

// Moment is a time in the JSON of the database.
type Moment struct {
	time.Time
	Text string // a value that time.Time cannot hold, such as infinity; otherwise empty
}

// UnmarshalJSON reads a time or null.
func (m *Moment) UnmarshalJSON(data []byte) error {
	*m = Moment{}
	if string(data) == "null" {
		return nil
	}
	if err := json.Unmarshal(data, &m.Text); err != nil {
		return err
	}
	if t, err := time.Parse(time.RFC3339, m.Text); err == nil {
		*m = Moment{Time: t}
	}
	return nil
}

// IsNull reports whether the value is null.
func (m Moment) IsNull() bool { return m.Text == "" && m.IsZero() }

// Show formats the time, or returns the text of a value that is none.
func (m Moment) Show(format func(time.Time) string) string {
	if m.IsNull() || m.Text != "" {
		return m.Text
	}
	return format(m.Time)
}

// Since returns how long ago the time was; 0 if it is later than now, null or no time for Go.
func (m Moment) Since(now time.Time) time.Duration {
	if m.IsZero() {
		return 0
	}
	return max(0, now.Sub(m.Time))
}

// Indent returns JSON with indentation, without changing its numbers and names. Text that is no JSON, and JSON that
// would become more than eight times as long, is returned as it is: six thousand brackets, each inside the one before,
// would need 72 MB of blanks.
func Indent(text string) string {
	var b bytes.Buffer
	if indentedSize(text) > 8*len(text)+1<<16 || json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

// Compact returns JSON without blanks between its parts. Text that is no JSON is returned as it is.
func Compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// indentedSize returns about how many bytes the indented text has.
func indentedSize(text string) int {
	size, depth := len(text), 0
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			i++
		case inString:
		case c == '{' || c == '[':
			depth++
			size += 1 + 2*depth
		case c == ',':
			size += 1 + 2*depth
		case c == '}' || c == ']':
			depth--
			size += 1 + 2*depth
		}
	}
	return size
}
