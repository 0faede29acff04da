// Package statement completes the text of statements for the queue's schema.
package statement

import "strings"

// In puts the quoted schema where a statement says S, and pg_catalog before the types of its casts (text, json, jsonb and
// timestamptz), so that no search_path decides about them. Functions and operators are qualified in the statement itself.
func In(schema, sql string) string {
	for _, name := range []string{"text", "json", "timestamptz"} {
		sql = strings.ReplaceAll(sql, "::"+name, "::pg_catalog."+name)
	}
	return strings.ReplaceAll(sql, "S.", schema+".")
}
