package main

import (
	"slices"
	"testing"
)

func TestWhatIsNotQualifiedIsNamed(t *testing.T) {
	for statement, want := range map[string][]string{
		"select now()": {"function now"},
		"select count(*) from S.queue_depth() as d":       {"function count"},
		"select d.run_in * interval '1 second' from d":    {"operator *"},
		"select -1, a.x - 1 from a":                       {"operator -"},
		"select 1 where a.x in (1, 2)":                    {"the word in"},
		"select 1 where a.x between 1 and 2":              {"the word between"},
		"select nullif(a.x, 0)":                           {"the word nullif", "function nullif"},
		"select case a.x when 1 then 2 end":               {"the words case a"},
		"select a.x is not distinct from a.y":             {"the words not distinct"},
		"select a.x::float8, '{}'::jsonb":                 {"type float8"},
		"select json '{}'":                                {"type json", "type json"},
		"select f.* from pg_proc as f":                    {"name pg_proc"},
		"select * from S.f() as r (a text, b integer)":    {"type text"},
		"select a.x from a -- now() is a comment":         nil,
		"select 'now() = now()', \"a = b()\" from S.jobs": nil,
		"select pg_catalog.now() operator(pg_catalog.-) interval '1 day', a.x at time zone 'UTC', coalesce($1::text, 'a')": nil,
		"with a (x) as materialized (select 1), b as (values (1)) select * from S.list_jobs(job_ids => array[$1::bigint])": nil,
	} {
		if got := slips(statement); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", statement, got, want)
		}
	}
}
