package rows

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Column reads the value of a column, in each of pgx's query modes and as other drivers send it. Times and intervals
// are sent in a form that no setting of the session changes.
type Column func(value any) error

var _ sql.Scanner = Column(nil)

// Scan implements [sql.Scanner].
func (c Column) Scan(value any) error { return c(value) }

// OrZero reads a value, or null as the zero value.
func OrZero[T any](to *T) Column {
	return func(value any) error {
		var read sql.Null[T]
		err := read.Scan(value)
		*to = read.V
		return err
	}
}

// JSON reads JSON that was sent as text. Null changes nothing.
func JSON(to any) Column {
	return func(value any) error {
		var text sql.Null[[]byte]
		if err := text.Scan(value); err != nil || !text.Valid {
			return err
		}
		return json.Unmarshal(text.V, to)
	}
}

// Keys reads the keys of a JSON object that was sent as text.
func Keys(to *[]string) Column {
	return func(value any) (err error) {
		var text sql.Null[[]byte]
		if err := text.Scan(value); err != nil || !text.Valid {
			return err
		}
		if *to, err = KeysOf(text.V); err != nil {
			return fmt.Errorf("read keys: %w", err)
		}
		return nil
	}
}

// KeysOf returns the keys of a JSON object, sorted.
func KeysOf(object []byte) ([]string, error) {
	var set map[string]any
	if err := json.Unmarshal(object, &set); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(set)), nil
}

// Time reads a time written by [TimeOf]. Null, which stands for infinite times, too, is the zero time.
func Time(to *time.Time) Column {
	return func(value any) error {
		var text sql.Null[string]
		if err := text.Scan(value); err != nil || !text.Valid {
			*to = time.Time{}
			return err
		}
		var seconds, microseconds int64
		if _, err := fmt.Sscanf(text.V, "%d %d", &seconds, &microseconds); err != nil {
			return fmt.Errorf("read time %q: %w", text.V, err)
		}
		*to = time.Unix(seconds, microseconds*1000)
		return nil
	}
}

// TimeOf returns the SQL of a time for [Time]: the seconds since 1970 and the microseconds of the second.
func TimeOf(column string) string {
	return strings.ReplaceAll(`case when pg_catalog.isfinite(COLUMN) then pg_catalog.concat(
		pg_catalog.date_part('epoch', pg_catalog.date_trunc('second', COLUMN))::bigint, ' ',
		pg_catalog.date_part('microseconds', COLUMN)::bigint operator(pg_catalog.%) 1000000) end`, "COLUMN", column)
}

// Span reads an interval written by [SpanOf]. Null is 0.
func Span(to *time.Duration) Column {
	return func(value any) error {
		var microseconds sql.Null[int64]
		err := microseconds.Scan(value)
		*to = time.Duration(min(max(microseconds.V, math.MinInt64/1000), math.MaxInt64/1000) * 1000)
		return err
	}
}

// SpanOf returns the SQL of an interval for [Span]: its microseconds.
func SpanOf(column string) string {
	return `(pg_catalog.date_part('epoch', ` + column + `) operator(pg_catalog.*) 1000000)::bigint`
}
