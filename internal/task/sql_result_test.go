package task_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
)

// giving creates functions app.give of a payload, which returns a value of a type, and of an array of payloads, which
// returns a set of such values.
func (s *shop) giving(returns, value string) {
	s.t.Helper()
	pgtest.Exec(s.t, s.pool, fmt.Sprintf(`
		drop function if exists app.give(json);
		drop function if exists app.give(json[]);
		create function app.give(payload json) returns %[1]s language sql as $$ select %[2]s $$;
		create function app.give(payloads json[]) returns setof %[1]s language sql as
		  $$ select %[2]s from unnest(payloads) with ordinality as p (payload, at) order by p.at $$`, returns, value))
}

func (s *shop) keep(results bool) {
	s.t.Helper()
	pgtest.Exec(s.t, s.pool, `select graphile_worker.keep_task('a', '1 day', results => $1::boolean)`, results)
}

// result returns the state and the result of a job, with its error.
func (s *shop) result(id int64) string {
	s.t.Helper()
	return pgtest.Value[string](s.t, s.pool, `
		select coalesce((select concat_ws(' ', r.state, r.result::text, r.error)
		                   from graphile_worker.job_results(array[$1::bigint]) as r), 'waits')`, id)
}

// calls are the two ways to call a function, by name.
var calls = map[string]task.SQL{"one": {Function: "app.give"}, "batch": {Function: "app.give", Batch: 100}}

func TestTheValueOfAFunctionIsTheResultOfItsJob(t *testing.T) {
	for name, sql := range calls {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			s.keep(true)
			s.giving("jsonb", "jsonb_build_object('n', payload -> 'n', 'transaction', txid_current()::text)")
			s.addMany(300, nil)
			s.work(sql)
			s.wantLeft()
			// The jobs have the ids 1 to 300, as their numbers.
			got := pgtest.Value[string](t, s.pool, `
				select format('%s results, %s of other jobs', count(r.result), count(*) filter (where r.result ->> 'n' <> r.id::text))
				  from graphile_worker.job_results(array(select generate_series(1, 300))) as r`)
			if got != "300 results, 0 of other jobs" {
				t.Errorf("300 jobs have %s", got)
			}
			transactions := pgtest.Value[int](t, s.pool, `
				select count(distinct r.result ->> 'transaction')::integer
				  from graphile_worker.job_results(array(select generate_series(1, 300))) as r`)
			if (sql.Batch == 0) != (transactions == 300) {
				t.Errorf("they ran in %d transactions", transactions)
			}
		})
	}
}

func TestAResultIsKeptWhereTheProducerAskedForIt(t *testing.T) {
	for name, sql := range calls {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			s.giving("text", "'for ' || (payload ->> 'n')")
			s.addMany(300, nil)
			id := pgtest.Value[int64](t, s.pool,
				`select id from graphile_worker._private_jobs where payload ->> 'n' = '290'`)
			pgtest.Exec(t, s.pool, `select graphile_worker.expect_result($1::bigint)`, id)
			s.work(sql)
			if got := s.result(id); got != `completed "for 290"` {
				t.Errorf("the job has %q", got)
			}
			if got := s.result(id + 1); got != "gone" {
				t.Errorf("the job of nobody has %q", got)
			}
		})
	}
}

func TestValuesOfManyTypesAreResults(t *testing.T) {
	s := newShop(t)
	s.keep(true)
	for _, c := range []struct{ returns, value, want string }{
		{"json", `'{"a":  1}'::json`, `{"a":  1}`},
		{"integer", "7", "7"},
		{"boolean", "false", "false"},
		{"timestamptz", "'2030-01-02 03:04:05Z'::timestamptz", `"2030-01-02T03:04:05+00:00"`},
		{"integer[]", "'{1,2}'::integer[]", "[1,2]"},
		{"app.effects_of", "row(3)::app.effects_of", `{"n":3}`},
		{"text", "null::text", ""},
		{"json", "'null'::json", "null"},
	} {
		s.giving(c.returns, c.value)
		for name, sql := range calls {
			id := s.add("")[0]
			s.work(sql)
			if got := s.result(id); got != strings.TrimSpace("completed "+c.want) {
				t.Errorf("%s, %s: the job has %q, want the result %q", c.returns, name, got, c.want)
			}
		}
	}
	for _, returns := range []string{"table (a integer, b integer)", "void"} {
		pgtest.Exec(t, s.pool, `
			drop function app.give(json);
			create function app.give(payload json) returns `+returns+` language sql as $$ select 1, 2; $$`)
		id := s.add("")[0]
		s.work(calls["one"])
		if got := s.result(id); got != "completed" {
			t.Errorf("%s: the job has %q", returns, got)
		}
	}
	s.keep(false)
	s.giving("integer", "7")
	for name, sql := range calls {
		id := s.add("")[0]
		s.work(sql)
		if got := s.result(id); got != "completed" {
			t.Errorf("%s: the job of a task that keeps no results has %q", name, got)
		}
	}
}

func TestAResultThatIsTooLargeIsDroppedWithANote(t *testing.T) {
	for name, sql := range calls {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			s.keep(true)
			pgtest.Exec(t, s.pool, `select graphile_worker.set_setting('max_result', '1024')`)
			s.giving("text", "repeat('x', case when payload ->> 'n' = '290' then 2000 else 10 end)")
			s.addMany(300, nil)
			s.work(sql)
			s.wantLeft("")
			dropped := pgtest.Value[string](t, s.pool, `
				select string_agg(r.id || ': ' || (r.result ->> 'gw_dropped'), '; ')
				  from graphile_worker.job_results(array(select generate_series(1, 300))) as r
				 where json_typeof(r.result) = 'object'`)
			if dropped != "290: The result has 2002 bytes; the setting max_result allows 1024." {
				t.Errorf("dropped results: %q", dropped)
			}
		})
	}
}

func TestResultsAreKeptInEveryMode(t *testing.T) {
	s := newShop(t)
	s.keep(true)
	s.giving("integer", "7")
	for _, mode := range pgtest.QueryModes {
		pool := pgtest.PoolInMode(t, s.url, mode)
		for name, sql := range calls {
			ids := s.add("", "")
			s.workOn(pool, sql)
			for _, id := range ids {
				if got := s.result(id); got != "completed 7" {
					t.Errorf("%s, %s: the job has %q", mode, name, got)
				}
			}
		}
	}
}
