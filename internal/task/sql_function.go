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

// function is the function or procedure that serves a task.
type function struct {
	name    string // quoted
	call    string // the statement that calls it with the payload, and the id of the job if it keeps results
	keeps   bool   // the statement keeps the value as the result of the job, if somebody asked for it
	payload string // json or jsonb
	kind    string // as in pg_proc.prokind
	many    bool   // it returns a set
}

// candidate is a function or procedure with the given name.
type candidate struct {
	Name       string // quoted
	Signature  string
	Kind       string // as in pg_proc.prokind
	ReturnsSet bool
	Payload    string // the type of its first argument if that is json or jsonb, otherwise empty
	Fits       bool   // whether it can be called with one argument
	Executable bool   // whether this role may execute it
	Usable     bool   // whether this role may use its schema
	Role       string
}

// findFunction looks up a function that can be called with a payload. A function that takes json takes precedence over one that
// takes jsonb.
func findFunction(ctx context.Context, db *pgxpool.Pool, name string) (function, error) {
	var parts []string
	if err := db.QueryRow(ctx, `select pg_catalog.parse_ident($1::pg_catalog.text)`, name).Scan(&parts); err != nil || len(parts) != 2 {
		if err != nil && sqlstate.Of(err) == "" {
			return function{}, fmt.Errorf("look for function %s: %w", name, err)
		}
		return function{}, fmt.Errorf("function %q: must be a schema and a name, as in app.send_mail", name)
	}
	rows, _ := db.Query(ctx, `
		select pg_catalog.format('%I.%I', n.nspname, p.proname) as name,
		       p.oid::pg_catalog.regprocedure::pg_catalog.text as signature,
		       p.prokind::pg_catalog.text as kind,
		       p.proretset as returns_set,
		       case when p.proargtypes[0] operator(pg_catalog.=) 'pg_catalog.json'::pg_catalog.regtype then 'json'
		            when p.proargtypes[0] operator(pg_catalog.=) 'pg_catalog.jsonb'::pg_catalog.regtype then 'jsonb'
		            else '' end as payload,
		       p.pronargs operator(pg_catalog.>) 0
		         and (p.pronargs operator(pg_catalog.-) p.pronargdefaults) operator(pg_catalog.<=) 1
		         and p.provariadic operator(pg_catalog.=) 0
		         and not (p.prokind operator(pg_catalog.=) 'p' and 'o' operator(pg_catalog.=) any (coalesce(p.proargmodes, '{}'))) as fits,
		       pg_catalog.has_function_privilege(p.oid, 'execute') as executable,
		       pg_catalog.has_schema_privilege(n.oid, 'usage') as usable,
		       current_user::pg_catalog.text as role
		  from pg_catalog.pg_proc as p
		  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) p.pronamespace
		 where n.nspname operator(pg_catalog.=) $1::pg_catalog.text and p.proname operator(pg_catalog.=) $2::pg_catalog.text
		 order by p.pronargs, payload desc, p.oid`, parts[0], parts[1]) // the error comes again
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[candidate])
	if err != nil {
		return function{}, fmt.Errorf("look for function %s: %w", name, err)
	}
	return choose(name, found)
}

// choose returns the candidate that serves the task, or why there is none.
func choose(name string, found []candidate) (function, error) {
	if len(found) == 0 {
		return function{}, fmt.Errorf("function %s does not exist", name)
	}
	var wrong []string
	for _, plain := range []string{"json", "jsonb"} {
		for _, c := range found {
			if c.Payload == plain && c.Fits && (c.Kind == "f" || c.Kind == "p") {
				return c.function()
			}
		}
	}
	for _, c := range found {
		wrong = append(wrong, c.Signature+" "+c.misfit())
	}
	return function{}, fmt.Errorf("function %s cannot serve a task: %s", name, strings.Join(wrong, "; "))
}

func (c *candidate) misfit() string {
	switch c.Kind {
	case "a":
		return "is an aggregate"
	case "w":
		return "is a window function"
	}
	if c.Payload == "" {
		return "does not take a payload, json or jsonb, as its first argument"
	}
	return "takes more arguments than the payload"
}

func (c *candidate) function() (function, error) {
	var problems []error
	if !c.Usable {
		schema, _, _ := strings.Cut(c.Name, ".")
		problems = append(problems, fmt.Errorf("role %s may not use the schema of %s: grant usage on schema %s", c.Role, c.Signature, schema))
	}
	if !c.Executable {
		problems = append(problems, fmt.Errorf("role %s may not execute %s: grant execute on %s %s",
			c.Role, c.Signature, map[string]string{"f": "function", "p": "procedure"}[c.Kind], c.Signature))
	}
	f := function{name: c.Name, payload: c.Payload, kind: c.Kind, many: c.ReturnsSet}
	f.call = "call " + c.Name + "($1::pg_catalog." + c.Payload + ")"
	if c.Kind == "f" {
		// The value is not read: it may be large, and its type may change after the statement was prepared.
		f.call = "select " + c.Name + "($1::pg_catalog." + c.Payload + ") is null"
	}
	return f, errors.Join(problems...)
}

// keepingResult returns the function with a call that keeps its value as the result of the job, if somebody asked for it. A
// procedure and a set of rows have no result.
func (f function) keepingResult(schema string) function {
	if f.kind != "f" || f.many {
		return f
	}
	f.keeps = true
	queue := pgx.Identifier{schema}.Sanitize()
	f.call = `
		select case when pg_catalog.pg_typeof(f.value) operator(pg_catalog.<>) 'void'::pg_catalog.regtype
		             and ` + queue + `._gw_wants_result($2::pg_catalog.int8)
		            then ` + queue + `._gw_keep_result($2::pg_catalog.int8, pg_catalog.to_json(f.value)) end is null
		  from (select ` + f.name + `($1::pg_catalog.` + f.payload + `) as value offset 0) as f`
	return f
}
