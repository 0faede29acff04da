package task_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
)

func TestNamesAreQuotedAndTheFunctionForAPayloadIsFound(t *testing.T) {
	s := newShop(t)
	pgtest.Exec(t, s.pool, `
		create schema "My ""App""";
		create function "My ""App"""."Send; it"(n integer) returns integer language sql as 'select 1';
		create function "My ""App"""."Send; it"(payload jsonb, more integer default 1) returns setof record language sql as
		  'insert into app.effects (n) values (10) returning 1, 2';
		create function app.either(payload text) returns void language sql as 'insert into app.effects (n) values (20)';
		create function app.either(payload json) returns void language sql as 'insert into app.effects (n) values (30)'`)
	for _, name := range []string{`"My ""App"""."Send; it"`, ` App . Either `, "app.work"} {
		s.add("")
		s.work(task.SQL{Function: name})
		want(t, "jobs left", s.left(), "")
	}
	want(t, "effects", s.effects(), "1 10 30")
}

func TestAFunctionThatCannotServeATaskIsRefusedAtTheStart(t *testing.T) {
	s := newShop(t)
	pgtest.Exec(t, s.pool, `
		create function app.number(n integer) returns void language sql as '';
		create function app.nothing() returns void language sql as '';
		create function app.more(payload json, n integer) returns void language sql as '';
		create function app.many(variadic payloads json[]) returns void language sql as '';
		create function app.step(state integer, payload json) returns integer language sql as 'select 1';
		create aggregate app.sum(json) (sfunc = app.step, stype = integer);
		create procedure app.out(payload json, inout n integer) language sql as 'select 1';
		create function app.two(payload json) returns void language sql as '';
		create function app.two(payload jsonb) returns void language sql as '';
		create function app.two(payload json, more integer default 1) returns void language sql as '';
		create function app.lists(payloads jsonb[]) returns void language sql as '';
		create function app.lists(payloads json[]) returns void language sql as '';
		create function app.list(payloads json[]) returns void language sql as '';
		create function app.value(payloads json[]) returns integer language sql as 'select 1';
		create function app.default(payloads json[], n integer default 1) returns void language sql as '';
		create function app.one(payload jsonb) returns void language sql as '';
		create procedure app.finish(payloads json[]) language sql as ''`)
	for _, c := range []struct {
		name  string
		batch int
		want  string
	}{
		{"", 0, `function ""`},
		{"work", 0, "must be a schema and a name"},
		{"a.app.work", 0, "must be a schema and a name"},
		{"app.work()", 0, "must be a schema and a name"},
		{"app.missing", 0, "function app.missing does not exist"},
		{"nowhere.f", 0, "function nowhere.f does not exist"},
		{"app.number", 0, "app.number(integer) does not take a payload"},
		{"app.number", 1, "app.number(integer) does not take an array, json[] or jsonb[], as its only argument"},
		{"app.nothing", 0, "app.nothing() does not take a payload"},
		{"app.more", 0, "app.more(json,integer) takes more arguments than the payload"},
		{"app.many", 0, "app.many(json[]) does not take a payload"},
		{"app.many", 1, "app.many(json[]) does not take an array"},
		{"app.sum", 0, "app.sum(json) is an aggregate"},
		{"app.sum", 1, "app.sum(json) is an aggregate"},
		{"app.out", 0, "takes more arguments than the payload"},
		{"app.two", 0, "function app.two is ambiguous: each of app.two(json), app.two(json,integer), app.two(jsonb) can serve the task"},
		{"app.lists", 1, "function app.lists is ambiguous: each of app.lists(json[]), app.lists(jsonb[]) can serve the task"},
		{"app.list", 0, "app.list(json[]) takes an array, which needs batch"},
		{"app.value", 1, "app.value(json[]) returns integer, but with batch it must return void, or a set or an array with a result for each job"},
		{"app.default", 1, `app."default"(json[],integer) takes more arguments than the array`},
		{"app.one", 1, "app.one(jsonb) takes one payload, but batch needs a function of an array, such as app.one(payloads jsonb[]); " +
			"declare that, or remove batch"},
		{"app.finish", 1, "app.finish(json[]) is a procedure, but batch needs a function"},
	} {
		_, err := task.SQL{Function: c.name, Batch: c.batch}.Task(t.Context(), s.pool, "a")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, batch %d: error %v, want one with %q", c.name, c.batch, err, c.want)
		}
	}
	_, err := task.SQL{Function: "app.missing", Timeout: 4 * time.Hour, Batch: 1001}.Task(t.Context(), s.pool, "a")
	for _, part := range []string{"app.missing", "timeout is 4h0m0s", "batch is 1001"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want one with %q", err, part)
		}
	}
}

// A function of a payload and one of an array may have the same name: batch selects.
func TestBatchSelectsTheFunctionOfAnArray(t *testing.T) {
	s := newShop(t)
	pgtest.Exec(t, s.pool, `
		create function app.same(payload json) returns void language sql as 'insert into app.effects (n) values (1)';
		create function app.same(payloads json[]) returns void language sql as 'insert into app.effects (n) values (2)'`)
	for _, batch := range []int{0, 1} {
		s.add("")
		s.work(task.SQL{Function: "app.same", Batch: batch})
	}
	want(t, "effects", s.effects(), "1 2")
}

func TestARoleThatMayNotCallTheFunctionIsToldSo(t *testing.T) {
	s := newShop(t)
	role := "gw_test_" + strings.ToLower(rand.Text())
	pgtest.Exec(t, s.pool, "create role "+role+" login password 'secret'")
	t.Cleanup(func() {
		if _, err := s.pool.Exec(context.Background(), "drop role "+role); err != nil {
			t.Error(err)
		}
	})
	pgtest.Exec(t, s.pool, `revoke execute on function app.work(json) from public`)
	address, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(role, "secret")
	pool := pgtest.Pool(t, address.String())
	_, err = task.SQL{Function: "app.work"}.Task(t.Context(), pool, "a")
	for _, part := range []string{
		"role " + role + " may not use the schema of app.work(json): grant usage on schema app",
		"role " + role + " may not execute app.work(json): grant execute on function app.work(json)",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want one with %q", err, part)
		}
	}
}

// A neighbour who may create functions in the schema must not get his code run with the rights of the worker.
func TestAFunctionOfANeighbourIsNotCalled(t *testing.T) {
	s := newShop(t)
	neighbour := pgtest.Role(t, s.pool)
	quoted := pgx.Identifier{neighbour}.Sanitize()
	pgtest.Exec(t, s.pool, `grant create, usage on schema app to `+quoted+`;
		create function app.f(payload jsonb) returns void language sql as 'insert into app.effects (n) values (1)';
		create function app.g(payload jsonb, more integer default 1) returns void language sql as 'insert into app.effects (n) values (2)'`)
	as := func(sql string) {
		t.Helper()
		pgtest.Exec(t, s.pool, `set role `+quoted+`; `+sql+`; reset role`)
	}
	f, g := task.SQL{Function: "app.f"}, s.worker(s.pool, task.SQL{Function: "app.g"})
	refused := func(name string, sql task.SQL, want string) {
		t.Helper()
		if _, err := sql.Task(t.Context(), s.pool, "a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	as(`create function app.own(payload json) returns void language sql as 'select 1'`)
	refused("his function", task.SQL{Function: "app.own"},
		"app.own(json) belongs to role "+neighbour+", which is neither ")
	refused("another owner in the config", task.SQL{Function: "app.own", Owner: "somebody"}, "owner: "+neighbour)
	if _, err := (task.SQL{Function: "app.own", Owner: neighbour}).Task(t.Context(), s.pool, "a"); err != nil {
		t.Errorf("the owner named in the config: %v", err)
	}
	as(`create function app.f(payload json) returns void language sql as 'select 1'`)
	refused("an overload", f, "function app.f is ambiguous: each of app.f(json), app.f(jsonb) can serve the task")
	pgtest.Exec(t, s.pool, `drop function app.f(jsonb)`)
	refused("an overload alone", f, "app.f(json) belongs to role "+neighbour)

	// An overload added after the start: PostgreSQL calls neither.
	as(`create function app.g(payload jsonb) returns void language sql as 'select 1 / 0'`)
	s.add("")
	s.run(g)
	if last := pgtest.Value[string](t, s.pool,
		`select last_error from graphile_worker._private_jobs`); !strings.Contains(last,
		"function app.g(jsonb) is not unique") {
		t.Errorf("the error is %q", last)
	}
	want(t, "effects", s.effects(), "")
	pgtest.Exec(t, s.pool, `drop owned by `+quoted+`; update graphile_worker._private_jobs set run_at = now()`)
	s.work(task.SQL{Function: "app.g"})
	want(t, "effects", s.effects(), "2")
}
