package shim

import (
	"database/sql"
	"fmt"
	"math"
	"strings"
	"time"
)

// Times and intervals are read in a form that no setting of the session changes, in each of pgx's query modes.

// moment reads a time written by [momentOf]. Null, which stands for infinite times, too, is the zero time.
type moment time.Time

var _ sql.Scanner = (*moment)(nil)

// Scan implements [sql.Scanner].
func (m *moment) Scan(value any) error {
	var seconds, microseconds int64
	switch text := value.(type) {
	case nil:
		*m = moment{}
		return nil
	case string:
		if _, err := fmt.Sscanf(text, "%d %d", &seconds, &microseconds); err != nil {
			return fmt.Errorf("read time %q: %w", text, err)
		}
	case []byte:
		return m.Scan(string(text))
	default:
		return fmt.Errorf("read time: unexpected type %T", value)
	}
	*m = moment(time.Unix(seconds, microseconds*1000))
	return nil
}

// momentOf returns the SQL of a time for [moment]: the seconds since 1970 and the microseconds of the second.
func momentOf(column string) string {
	return strings.ReplaceAll(`case when pg_catalog.isfinite(COLUMN) then pg_catalog.concat(
		pg_catalog.date_part('epoch', pg_catalog.date_trunc('second', COLUMN))::bigint, ' ',
		pg_catalog.date_part('microseconds', COLUMN)::bigint operator(pg_catalog.%) 1000000) end`, "COLUMN", column)
}

// span reads an interval written by [spanOf]. Null is 0.
type span time.Duration

var _ sql.Scanner = (*span)(nil)

// Scan implements [sql.Scanner].
func (s *span) Scan(value any) error {
	switch microseconds := value.(type) {
	case nil:
		*s = 0
	case int64:
		*s = span(min(max(microseconds, math.MinInt64/1000), math.MaxInt64/1000) * 1000)
	default:
		return fmt.Errorf("read interval: unexpected type %T", value)
	}
	return nil
}

// spanOf returns the SQL of an interval for [span]: its microseconds.
func spanOf(column string) string {
	return `(pg_catalog.date_part('epoch', ` + column + `) operator(pg_catalog.*) 1000000)::bigint`
}
