package shim

import (
	"strconv"
	"strings"
	"time"
)

// orNull converts a zero value to null, which selects the database's default.
func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// textArray writes an array as text that PostgreSQL can read and every driver can send.
func textArray(elements []string) string {
	quoted := make([]string, len(elements))
	for i, element := range elements {
		quoted[i] = arrayElement(element)
	}
	return "{" + strings.Join(quoted, ",") + "}"
}

var arrayEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// arrayElement returns an element of such an array.
func arrayElement(text string) string { return `"` + arrayEscapes.Replace(text) + `"` }

// textArrayOrNull is textArray, but null for no slice.
func textArrayOrNull(elements []string) any {
	if elements == nil {
		return nil
	}
	return textArray(elements)
}

// microseconds returns the SQL of the interval whose microseconds are a parameter.
func microseconds(parameter string) string {
	return `(` + parameter + `::bigint operator(pg_catalog.*) interval '1 microsecond')`
}

// idArray is textArray for the ids of jobs.
func idArray(ids []int64) string {
	text := make([]string, len(ids))
	for i, id := range ids {
		text[i] = strconv.FormatInt(id, 10)
	}
	return textArray(text)
}

// orNil converts a nil pointer to nil.
func orNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// textOfTime returns a time as a parameter, nil for a zero time.
func textOfTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}
