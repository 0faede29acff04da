// Package statement completes the text of statements: with the queue's schema, and with their values.
package statement

import "strings"

// In replaces S in a statement by the quoted schema, and qualifies the types of its casts (text, json, jsonb and
// timestamptz) with pg_catalog, so that they do not depend on the search_path. Functions and operators are qualified in
// the statement itself.
func In(schema, sql string) string {
	for _, name := range []string{"text", "json", "timestamptz"} {
		sql = strings.ReplaceAll(sql, "::"+name, "::pg_catalog."+name)
	}
	return strings.ReplaceAll(sql, "S.", schema+".")
}

// Specs returns an array of job_spec for add_jobs, in the order of a JSON list of objects. These have the fields of
// job_spec, the payload as text, which arrives unchanged, and run_in, the microseconds from now on in place of run_at.
func Specs(list string) string {
	return `
		array(select row(s.task, s.payload::json, s.queue_name,
		                 coalesce(s.run_at, pg_catalog.now() operator(pg_catalog.+) (s.run_in operator(pg_catalog.*) interval '1 microsecond')),
		                 s.max_attempts, s.job_key, s.priority, s.flags)::S.job_spec
		        from pg_catalog.json_to_recordset(` + list + `)
		          as s (task pg_catalog.text, payload pg_catalog.text, queue_name pg_catalog.text, run_at pg_catalog.timestamptz,
		                run_in bigint, max_attempts integer, job_key pg_catalog.text, priority integer, flags pg_catalog.text[]))`
}

// OrNull returns a text as the argument of a statement: null if it is empty.
func OrNull[T ~string](text T) any {
	if text == "" {
		return nil
	}
	return string(text)
}
