package task

import "github.com/jackc/pgx/v5"

// callForOne returns the statement that calls the function with a payload. If keeps is true, its second parameter is the id of the
// job, and the value of the function is kept as the result of the job if somebody asked for it. A procedure and a set of rows have
// no result.
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
		            then ` + queue + `._gw_keep_result($2::pg_catalog.int8, pg_catalog.to_json(f.value)) end is null
		  from (select ` + call + ` as value offset 0) as f`, true
}

// callForMany returns the statement that calls the function with an array of texts in JSON. If the function returns results, the
// second parameter are the ids of the jobs, and the statement keeps the results of those jobs for which somebody asked, and returns
// the number of all results.
func (f *function) callForMany(schema string) string {
	call := f.Name + "($1::pg_catalog.text[]::pg_catalog." + f.Argument + ")"
	switch f.Answer {
	case returnsNothing:
		return "select " + call + " is null"
	case returnsArray:
		call = "pg_catalog.unnest(" + call + ")"
	}
	queue := pgx.Identifier{schema}.Sanitize()
	return `
		with answers as materialized (
		  select f.value, pg_catalog.row_number() over () as at
		    from (select ` + call + ` as value offset 0) as f
		)
		select pg_catalog.count(*),
		       pg_catalog.count(case when j.id is not null and ` + queue + `._gw_wants_result(j.id)
		                             then ` + queue + `._gw_keep_result(j.id, pg_catalog.to_json(a.value)) is null end)
		  from answers as a
		  left join pg_catalog.unnest($2::pg_catalog.int8[]) with ordinality as j (id, at) on j.at operator(pg_catalog.=) a.at`
}
