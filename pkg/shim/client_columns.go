package shim

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

// column reads the value of a column, in each of pgx's query modes and as other drivers send it. Times and intervals are sent in a
// form that no setting of the session changes.
type column func(value any) error

var _ sql.Scanner = column(nil)

// Scan implements [sql.Scanner].
func (c column) Scan(value any) error { return c(value) }

// orZero reads a value, or null as the zero value.
func orZero[T any](to *T) column {
	return func(value any) error {
		var read sql.Null[T]
		err := read.Scan(value)
		*to = read.V
		return err
	}
}

// jsonIn reads JSON that was sent as text. Null changes nothing.
func jsonIn(to any) column {
	return func(value any) error {
		var text sql.Null[[]byte]
		if err := text.Scan(value); err != nil || !text.Valid {
			return err
		}
		return json.Unmarshal(text.V, to)
	}
}

// flagsIn reads the column flags as text.
func flagsIn(to *[]string) column {
	return func(value any) (err error) {
		var text sql.Null[[]byte]
		if err := text.Scan(value); err != nil || !text.Valid {
			return err
		}
		if *to, err = flagNames(text.V); err != nil {
			return fmt.Errorf("read flags: %w", err)
		}
		return nil
	}
}

// flagNames returns the keys of the object in the column flags.
func flagNames(object []byte) ([]string, error) {
	var set map[string]any
	if err := json.Unmarshal(object, &set); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(set)), nil
}

// timeIn reads a time written by [momentOf]. Null, which stands for infinite times, too, is the zero time.
func timeIn(to *time.Time) column {
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

// momentOf returns the SQL of a time for [timeIn]: the seconds since 1970 and the microseconds of the second.
func momentOf(column string) string {
	return strings.ReplaceAll(`case when pg_catalog.isfinite(COLUMN) then pg_catalog.concat(
		pg_catalog.date_part('epoch', pg_catalog.date_trunc('second', COLUMN))::bigint, ' ',
		pg_catalog.date_part('microseconds', COLUMN)::bigint operator(pg_catalog.%) 1000000) end`, "COLUMN", column)
}

// spanIn reads an interval written by [spanOf]. Null is 0.
func spanIn(to *time.Duration) column {
	return func(value any) error {
		var microseconds sql.Null[int64]
		err := microseconds.Scan(value)
		*to = time.Duration(min(max(microseconds.V, math.MinInt64/1000), math.MaxInt64/1000) * 1000)
		return err
	}
}

// spanOf returns the SQL of an interval for [spanIn]: its microseconds.
func spanOf(column string) string {
	return `(pg_catalog.date_part('epoch', ` + column + `) operator(pg_catalog.*) 1000000)::bigint`
}
