package task_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"testing"
	"time"

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
		create function app.both(payload jsonb) returns void language sql as 'insert into app.effects (n) values (20)';
		create function app.both(payload json) returns void language sql as 'insert into app.effects (n) values (30)'`)
	for _, name := range []string{`"My ""App"""."Send; it"`, ` App . Both `, "app.work"} {
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
		create procedure app.out(payload json, inout n integer) language sql as 'select 1'`)
	for name, part := range map[string]string{
		"":            `function ""`,
		"work":        "must be a schema and a name",
		"a.app.work":  "must be a schema and a name",
		"app.work()":  "must be a schema and a name",
		"app.missing": "function app.missing does not exist",
		"nowhere.f":   "function nowhere.f does not exist",
		"app.number":  "app.number(integer) does not take a payload",
		"app.nothing": "app.nothing() does not take a payload",
		"app.more":    "app.more(json,integer) takes more arguments than the payload",
		"app.many":    "app.many(json[]) does not take a payload",
		"app.sum":     "app.sum(json) is an aggregate",
		"app.out":     "takes more arguments than the payload",
	} {
		_, err := task.SQL{Function: name}.Task(t.Context(), s.pool, "a")
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v, want one with %q", name, err, part)
		}
	}
	_, err := task.SQL{Function: "app.missing", Timeout: 4 * time.Hour, Batch: 65}.Task(t.Context(), s.pool, "a")
	for _, part := range []string{"app.missing", "timeout is 4h0m0s", "batch is 65"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want one with %q", err, part)
		}
	}
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
