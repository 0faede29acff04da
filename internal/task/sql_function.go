package task

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/sqlstate"
)

// answer is what a function returns.
type answer string

const (
	returnsNothing answer = "nothing" // it is a procedure, or returns void
	returnsValue   answer = "value"
	returnsRows    answer = "rows"
	returnsArray   answer = "array"
)

// function is a function or procedure with the given name, which may be able to serve a task.
type function struct {
	Name        string // quoted
	Signature   string
	Kind        string // as in pg_proc.prokind
	Argument    string // the type of its first argument: json, jsonb, json[] or jsonb[], or empty for others
	TakesJobs   bool   // its first argument is named jobs
	Arguments   int
	IsCallable  bool // with one argument
	Answer      answer
	ReturnType  string
	IsAllowed   bool // whether this role may execute it
	IsReachable bool // whether this role may use its schema
	Role        string
	Owner       string
	IsTrusted   bool // whether the owner is this role, a superuser, or the owner of the database
}

// namedFunctions returns the functions and procedures with a name.
const namedFunctions = `
	select pg_catalog.format('%I.%I', n.nspname, p.proname) as name,
	       p.oid::pg_catalog.regprocedure::pg_catalog.text as signature,
	       p.prokind::pg_catalog.text as kind,
	       case when p.provariadic operator(pg_catalog.=) 0 or p.pronargs operator(pg_catalog.>) 1
	            then coalesce((select pg_catalog.format_type(a.type, null)
	                             from pg_catalog.unnest(array['pg_catalog.json', 'pg_catalog.jsonb',
	                                    'pg_catalog.json[]', 'pg_catalog.jsonb[]']::pg_catalog.regtype[]) as a (type)
	                            where a.type operator(pg_catalog.=) p.proargtypes[0]), '')
	            else '' end as argument,
	       coalesce((select a.name operator(pg_catalog.=) 'jobs'
	                   from rows from (pg_catalog.unnest(p.proargnames), pg_catalog.unnest(p.proargmodes))
	                          with ordinality as a (name, mode, at)
	                  where a.mode is null or a.mode operator(pg_catalog.<>) all (array['o', 't']::pg_catalog."char"[])
	                  order by a.at
	                  limit 1), false) as takes_jobs,
	       p.pronargs as arguments,
	       p.pronargs operator(pg_catalog.>) 0
	         and (p.pronargs operator(pg_catalog.-) p.pronargdefaults) operator(pg_catalog.<=) 1
	         and p.provariadic operator(pg_catalog.=) 0
	         and not (p.prokind operator(pg_catalog.=) 'p' and 'o' operator(pg_catalog.=) any (coalesce(p.proargmodes, '{}'))) as is_callable,
	       case when p.prokind operator(pg_catalog.=) 'p' or t.oid operator(pg_catalog.=) 'pg_catalog.void'::pg_catalog.regtype
	              then 'nothing'
	            when p.proretset then 'rows'
	            when t.typcategory operator(pg_catalog.=) 'A' then 'array'
	            else 'value' end as answer,
	       pg_catalog.format_type(t.oid, null) as return_type,
	       pg_catalog.has_function_privilege(p.oid, 'execute') as is_allowed,
	       pg_catalog.has_schema_privilege(n.oid, 'usage') as is_reachable,
	       current_user::pg_catalog.text as role,
	       pg_catalog.pg_get_userbyid(p.proowner)::pg_catalog.text as owner,
	       o.rolname operator(pg_catalog.=) current_user or o.rolsuper or d.datdba operator(pg_catalog.=) o.oid as is_trusted
	  from pg_catalog.pg_proc as p
	  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) p.pronamespace
	  join pg_catalog.pg_roles as o on o.oid operator(pg_catalog.=) p.proowner
	  join pg_catalog.pg_database as d on d.datname operator(pg_catalog.=) pg_catalog.current_database()
	  left join pg_catalog.pg_type as t on t.oid operator(pg_catalog.=) p.prorettype
	 where n.nspname operator(pg_catalog.=) $1::pg_catalog.text and p.proname operator(pg_catalog.=) $2::pg_catalog.text
	 order by 2`

// findFunction looks up the only function that can serve a task: one of an array if it is to be called for many jobs,
// otherwise one of a payload. Its owner is one whom this role trusts, or has the given name.
func findFunction(ctx context.Context, db *pgxpool.Pool, name string, forMany bool, owner string) (function, error) {
	var parts []string
	if err := db.QueryRow(ctx, `select pg_catalog.parse_ident($1::pg_catalog.text)`, name).Scan(&parts); err != nil ||
		len(parts) != 2 {
		if err != nil && sqlstate.Of(err) == "" {
			return function{}, fmt.Errorf("look for function %s: %w", name, err)
		}
		return function{}, fmt.Errorf("function %q: must be a schema and a name, as in app.send_mail", name)
	}
	rows, _ := db.Query(ctx, namedFunctions, parts[0], parts[1]) // the error comes again
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[function])
	if err != nil {
		return function{}, fmt.Errorf("look for function %s: %w", name, err)
	}
	f, err := choose(name, found, forMany)
	if err != nil {
		return function{}, err
	}
	return f, f.refusal(owner)
}

// choose returns the only function that can serve the task, or why there is none.
func choose(name string, found []function, forMany bool) (function, error) {
	if len(found) == 0 {
		return function{}, fmt.Errorf("function %s does not exist", name)
	}
	var fitting []function
	var signatures, misfits []string
	for _, f := range found {
		if misfit := f.misfit(forMany); misfit != "" {
			misfits = append(misfits, f.Signature+" "+misfit)
			continue
		}
		fitting = append(fitting, f)
		signatures = append(signatures, f.Signature)
	}
	switch len(fitting) {
	case 0:
		return function{}, fmt.Errorf("function %s cannot serve a task: %s", name, strings.Join(misfits, "; "))
	case 1:
		return fitting[0], nil
	}
	return function{}, fmt.Errorf("function %s is ambiguous: each of %s can serve the task; drop or rename all but one",
		name, strings.Join(signatures, ", "))
}

// misfit returns why the function cannot serve a task, or an empty text.
func (f *function) misfit(forMany bool) string {
	takesArray := strings.HasSuffix(f.Argument, "[]")
	switch {
	case f.Kind == "a":
		return "is an aggregate"
	case f.Kind == "w":
		return "is a window function"
	case f.Argument == "" && forMany:
		return "does not take an array, json[] or jsonb[], as its only argument"
	case f.Argument == "":
		return "does not take a payload, json or jsonb, as its first argument"
	case forMany && !takesArray:
		return fmt.Sprintf("takes one payload, but batch needs a function of an array, such as %s(payloads %s[]); declare that, "+
			"or remove batch", f.Name, f.Argument)
	case !forMany && takesArray:
		return "takes an array, which needs batch"
	case forMany && f.Kind == "p":
		return "is a procedure, but batch needs a function"
	case forMany && f.Arguments > 1:
		return "takes more arguments than the array"
	case !f.IsCallable:
		return "takes more arguments than the payload"
	case forMany && f.Answer == returnsValue:
		return "returns " + f.ReturnType + ", but with batch it must return void, or a set or an array with a result for each job"
	}
	return ""
}

// refusal returns why this role may not call the function, or should not: it would run the code of the owner with its
// own rights.
func (f *function) refusal(owner string) error {
	var problems []error
	if !f.IsTrusted && f.Owner != owner {
		problems = append(problems, fmt.Errorf("%s belongs to role %s, which is neither %s, the role of the worker, nor the owner of the "+
			"database, nor a superuser: if you trust that role, write owner: %[2]s beside sql", f.Signature, f.Owner,
			f.Role))
	}
	if !f.IsReachable {
		schema, _, _ := strings.Cut(f.Name, ".")
		problems = append(problems, fmt.Errorf("role %s may not use the schema of %s: grant usage on schema %s", f.Role,
			f.Signature, schema))
	}
	if !f.IsAllowed {
		problems = append(problems, fmt.Errorf("role %s may not execute %s: grant execute on %s %s",
			f.Role, f.Signature, map[string]string{"f": "function", "p": "procedure"}[f.Kind], f.Signature))
	}
	return errors.Join(problems...)
}

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
