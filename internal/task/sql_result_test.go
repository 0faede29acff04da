package task_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
)

// giving creates app.give, which returns what its payload has as "give", as a type.
func (s *shop) giving(returns, value string) {
	s.t.Helper()
	pgtest.Exec(s.t, s.pool, fmt.Sprintf(`
		drop function if exists app.give(json);
		create function app.give(payload json) returns %s language sql as $$ select %s $$`, returns, value))
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

// Each way to call a function, as the name of the test and its configuration.
var waysToCall = map[string]task.SQL{"alone": {Batch: 1}, "together": {Batch: 64}}

// runAll runs all jobs with a function: as one group if they are to share a transaction.
func (s *shop) runAll(pool *pgxpool.Pool, function string, call task.SQL) {
	s.t.Helper()
	call.Function = function
	if call.Batch > 1 {
		s.groupOn(pool, call, nil)
		return
	}
	worker := s.worker(pool, call)
	if err := worker.RunOnce(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func TestTheValueOfAFunctionIsTheResultOfItsJob(t *testing.T) {
	for name, call := range waysToCall {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			s.keep(true)
			s.giving("jsonb", "jsonb_build_object('n', payload -> 'n', 'transaction', txid_current()::text)")
			s.addMany(300, nil)
			s.runAll(s.pool, "app.give", call)
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
			if isAlone := name == "alone"; isAlone != (transactions == 300) {
				t.Errorf("they ran in %d transactions", transactions)
			}
		})
	}
}

func TestAResultIsKeptWhereTheProducerAskedForIt(t *testing.T) {
	for name, call := range waysToCall {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			s.giving("text", "'for ' || (payload ->> 'n')")
			s.addMany(300, nil)
			id := pgtest.Value[int64](t, s.pool, `select id from graphile_worker._private_jobs where payload ->> 'n' = '290'`)
			pgtest.Exec(t, s.pool, `select graphile_worker.expect_result($1::bigint)`, id)
			s.runAll(s.pool, "app.give", call)
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
		{"table (a integer, b text)", "1, 'x'::text", ""},
		{"setof integer", "1", ""},
		{"text", "null::text", ""},
		{"json", "'null'::json", "null"},
		{"void", "", ""},
	} {
		for name, call := range waysToCall {
			s.giving(c.returns, c.value)
			id := s.add("")[0]
			s.runAll(s.pool, "app.give", call)
			if got := s.result(id); got != strings.TrimSpace("completed "+c.want) {
				t.Errorf("%s, %s: the job has %q, want the result %q", c.returns, name, got, c.want)
			}
		}
	}
	s.keep(false)
	id := s.add("")[0]
	s.giving("integer", "7")
	s.runAll(s.pool, "app.give", task.SQL{})
	if got := s.result(id); got != "completed" {
		t.Errorf("the job of a task that keeps no results has %q", got)
	}
}

func TestAResultThatIsTooLargeFailsItsJobAlone(t *testing.T) {
	for name, call := range waysToCall {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			s.keep(true)
			pgtest.Exec(t, s.pool, `select graphile_worker.set_setting('max_result', '1024')`)
			s.giving("text", "repeat('x', case when payload ->> 'n' = '290' then 2000 else 10 end)")
			s.addMany(300, nil)
			s.runAll(s.pool, "app.give", call)
			s.wantLeft("290:1")
			lastError := pgtest.Value[string](t, s.pool, `select last_error from graphile_worker._private_jobs`)
			if !strings.Contains(lastError, "has 2002 bytes; the setting max_result allows 1024. (SQLSTATE GWWRS)") {
				t.Errorf("the error is %q", lastError)
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
		ids := s.add("", "")
		s.runAll(pool, "app.give", task.SQL{Batch: 2})
		for _, id := range ids {
			if got := s.result(id); got != "completed 7" {
				t.Errorf("%s: the job has %q", mode, got)
			}
		}
	}
}
