// Package statement completes the text of statements: with the queue's schema, and with the jobs that they change.
package statement

import (
	"strconv"
	"strings"
)

// In replaces S in a statement by the quoted schema, and qualifies the types of its casts (text, json, jsonb and timestamptz)
// with pg_catalog, so that they do not depend on the search_path. Functions and operators are qualified in the statement itself.
func In(schema, sql string) string {
	for _, name := range []string{"text", "json", "timestamptz"} {
		sql = strings.ReplaceAll(sql, "::"+name, "::pg_catalog."+name)
	}
	return strings.ReplaceAll(sql, "S.", schema+".")
}

// CallOf returns a call of a function that changes jobs, with an array of the ids of the rows of wanted in place of IDS, lowest
// first, and the number of jobs in earlier steps in place of BEFORE.
func CallOf(call string, before int) string {
	return strings.NewReplacer("IDS", "array(select w.id from wanted as w order by w.id)", "BEFORE", strconv.Itoa(before)).Replace(call)
}
