// Package statement inserts the queue's schema into the text of statements.
package statement

import "strings"

// In replaces S in a statement by the quoted schema, and qualifies the types of its casts (text, json, jsonb and timestamptz)
// with pg_catalog, so that they do not depend on the search_path. Functions and operators are qualified in the statement itself.
func In(schema, sql string) string {
	for _, name := range []string{"text", "json", "timestamptz"} {
		sql = strings.ReplaceAll(sql, "::"+name, "::pg_catalog."+name)
	}
	return strings.ReplaceAll(sql, "S.", schema+".")
}
