// Package rows reads the rows of a query of pgx or of database/sql.
package rows

import (
	"strconv"
	"strings"
	"time"
)

// Rows are the methods that pgx.Rows and *sql.Rows have in common.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
}

// Each calls fn for each row until fn returns an error. The caller closes the rows.
func Each(r Rows, fn func(scan func(...any) error) error) error {
	for r.Next() {
		if err := fn(r.Scan); err != nil {
			return err
		}
	}
	return r.Err()
}

// OrNull converts a zero value to null, which selects the database's default.
func OrNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// TextArray writes an array as text that PostgreSQL can read and every driver can send.
func TextArray(elements []string) string {
	quoted := make([]string, len(elements))
	for i, element := range elements {
		quoted[i] = Element(element)
	}
	return "{" + strings.Join(quoted, ",") + "}"
}

var arrayEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// Element returns an element of an array that [TextArray] writes.
func Element(text string) string { return `"` + arrayEscapes.Replace(text) + `"` }

// TextArrayOrNull is TextArray, but null for no slice.
func TextArrayOrNull(elements []string) any {
	if elements == nil {
		return nil
	}
	return TextArray(elements)
}

// Microseconds returns the SQL of the interval whose microseconds are a parameter.
func Microseconds(parameter string) string {
	return `(` + parameter + `::bigint operator(pg_catalog.*) interval '1 microsecond')`
}

// IDArray is textArray for the ids of jobs.
func IDArray(ids []int64) string {
	text := make([]string, len(ids))
	for i, id := range ids {
		text[i] = strconv.FormatInt(id, 10)
	}
	return TextArray(text)
}

// OrNil converts a nil pointer to nil.
func OrNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// TimeOrNull returns a time as a parameter, nil for a zero time.
func TimeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}
