package task

import "github.com/jackc/pgx/v5"

// callForOne returns the statement that calls the function with a payload. If keeps is true, its second parameter is
// the id of the job, and the value of the function is kept as the result of the job if somebody asked for it. A
// procedure and a set of rows have no result.
func (f *function) callForOne(schema string) (sql string, keeps bool) {
	call := f.Name + "($1::pg_catalog." + f.Argument + ")"
	switch {
	case f.Kind == "p":
		return "call " + call, false
	case f.Answer == returnsRows:
		// The value is not read: it may be large, and its type may change after the statement was prepared.
		return "select " + call + " is null", false
	}
	queue := pgx.Identifier{schema}.Sanitize()
	return `
		select case when pg_catalog.pg_typeof(f.value) operator(pg_catalog.<>) 'void'::pg_catalog.regtype
		             and ` + queue + `._gw_wants_result($2::pg_catalog.int8)
		            then ` + queue + `._gw_keep_results(array[$2::pg_catalog.int8], array[pg_catalog.to_json(f.value)]) end is null
		  from (select ` + call + ` as value offset 0) as f`, true
}

// callForMany returns the statement that calls the function with an array of texts in JSON. If keeps is true, because
// the function returns results, its second parameter are the ids of the jobs, and the statement keeps the results of
// those jobs for which somebody asked, and returns the number of all results.
func (f *function) callForMany(schema string) (sql string, keeps bool) {
	call := f.Name + "($1::pg_catalog.text[]::pg_catalog." + f.Argument + ")"
	switch f.Answer {
	case returnsNothing:
		return "select " + call + " is null", false
	case returnsArray:
		call = "pg_catalog.unnest(" + call + ")"
	}
	queue := pgx.Identifier{schema}.Sanitize()
	return `
		with answers as materialized (
		  select f.value, pg_catalog.row_number() over () as at
		    from (select ` + call + ` as value offset 0) as f
		)
		select pg_catalog.count(*), ` + queue + `._gw_keep_results(
		         pg_catalog.array_agg(w.id order by w.id) filter (where w.id is not null),
		         pg_catalog.array_agg(pg_catalog.to_json(w.value) order by w.id) filter (where w.id is not null)) is null
		  from (select a.value, case when ` + queue + `._gw_wants_result(j.id) then j.id end as id
		          from answers as a
		         cross join lateral (select ($2::pg_catalog.int8[])[a.at] as id) as j
		        offset 0) as w`, true
}
