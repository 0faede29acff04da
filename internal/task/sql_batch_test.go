package task_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// call calls a function for jobs that no worker has claimed, and commits.
func (s *shop) call(sql task.SQL, jobs ...*shim.Job) error {
	s.t.Helper()
	served := s.task(sql)
	return pgx.BeginFunc(s.t.Context(), s.pool, func(tx pgx.Tx) error { return served.ManyTx(s.t.Context(), tx, jobs) })
}

func TestAnArrayHasThePayloadsOrTheJobsInTheirOrder(t *testing.T) {
	s := newShop(t)
	pgtest.Exec(t, s.pool, `
		create table app.calls (name text, elements text);
		create function app.note(name text, elements text) returns void language sql as $$ insert into app.calls values (name, elements) $$;
		create function app.texts(payloads json[]) returns void language sql as $$ select app.note('json', payloads::text) $$;
		create function app.values(elements jsonb[]) returns void language sql as $$ select app.note('jsonb', elements::text) $$;
		create function app.unnamed(json[]) returns void language sql as $$ select app.note('unnamed', $1::text) $$;
		create function app.rows(jobs json[], out id integer, out task text) returns setof record language sql as
		  $$ select app.note('json jobs', jobs::text); select 1, 'a'::text from unnest(jobs) $$;
		create function app.described(jobs jsonb[]) returns void language sql as $$ select app.note('jsonb jobs', to_jsonb(jobs)::text) $$`)
	jobs := []*shim.Job{
		{ID: 7, TaskIdentifier: "a", Payload: json.RawMessage(`{"b": 1,  "a": "it's \"\\ ü"}`), Attempts: 1,
			MaxAttempts: 25},
		{ID: 3, TaskIdentifier: "a", Payload: json.RawMessage(`null`), Attempts: 2, MaxAttempts: 3, Key: "k",
			QueueName: "q", Priority: -1},
		{ID: 5, TaskIdentifier: "a", Payload: json.RawMessage(`[1]`), Attempts: 1, MaxAttempts: 25},
	}
	for _, name := range []string{"app.texts", "app.values", "app.unnamed", "app.rows", "app.described"} {
		if err := s.call(task.SQL{Function: name, Batch: 100}, jobs...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	const texts = `{"{\"b\": 1,  \"a\": \"it's \\\"\\\\ ü\"}","null",[1]}`
	const described = `[{"id": 7, "key": null, "task": "a", "queue": null, "run_at": null, "attempt": 1, "payload": {"a": "it's \"\\ ü", "b": 1}, ` +
		`"priority": 0, "max_attempts": 25}, ` +
		`{"id": 3, "key": "k", "task": "a", "queue": "q", "run_at": null, "attempt": 2, "payload": null, "priority": -1, "max_attempts": 3}, ` +
		`{"id": 5, "key": null, "task": "a", "queue": null, "run_at": null, "attempt": 1, "payload": [1], "priority": 0, "max_attempts": 25}]`
	for name, wanted := range map[string]string{"json": texts, "unnamed": texts, "jsonb jobs": described} {
		want(t, name, pgtest.Value[string](t, s.pool, `select elements from app.calls where name = $1`, name), wanted)
	}
	want(t, "jsonb", pgtest.Value[string](t, s.pool,
		`select to_jsonb(elements::jsonb[])::text from app.calls where name = 'jsonb'`),
		`[{"a": "it's \"\\ ü", "b": 1}, null, [1]]`)
	want(t, "json jobs", pgtest.Value[string](t, s.pool, `
		select to_jsonb(elements::jsonb[])::text from app.calls where name = 'json jobs'`), described)
}

func TestAFunctionOfAnArrayReturnsAsManyResultsAsJobs(t *testing.T) {
	s := newShop(t)
	pgtest.Exec(t, s.pool, `
		create function app.less(payloads json[]) returns setof json language sql as $$ select p from unnest(payloads) as p limit 1 $$;
		create function app.more(payloads json[]) returns setof json language sql as $$ select p from unnest(payloads || payloads) as p $$;
		create function app.list(payloads jsonb[]) returns jsonb[] language sql as $$ select payloads[:cardinality(payloads) - 1] $$;
		create function app.absent(payloads jsonb[]) returns jsonb[] language sql as $$ select null::jsonb[] $$;
		create function app.same(payloads jsonb[]) returns jsonb[] language sql as $$ select payloads $$`)
	jobs := []*shim.Job{{ID: 1, Payload: json.RawMessage(`{"n": 1}`)}, {ID: 2, Payload: json.RawMessage(`{"n": 2}`)}}
	for name, results := range map[string]int{"app.less": 1, "app.more": 4, "app.list": 1, "app.absent": 0} {
		var log bytes.Buffer
		err := s.call(task.SQL{Function: name, Batch: 2, Logger: slog.New(slog.NewTextHandler(&log, nil))}, jobs...)
		message := fmt.Sprintf("%s returned the wrong number of results: %d for an array of 2", name, results)
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: error %v, want %q", name, err, message)
		}
		if !strings.Contains(log.String(), message) {
			t.Errorf("%s: the log is %q, want the error", name, &log)
		}
	}
	if err := s.call(task.SQL{Function: "app.same", Batch: 2}, jobs...); err != nil {
		t.Error(err)
	}
}

func TestTheElementsOfAnArrayAreTheResultsOfTheJobs(t *testing.T) {
	s := newShop(t)
	s.keep(true)
	pgtest.Exec(t, s.pool, `
		create function app.list(payloads jsonb[]) returns app.effects_of[] language sql as
		  $$ select array(select row((p ->> 'n')::integer)::app.effects_of from unnest(payloads) with ordinality as u (p, at) order by at) $$`)
	s.addMany(300, nil)
	s.work(task.SQL{Function: "app.list", Batch: 7})
	s.wantLeft()
	wrong := pgtest.Value[int](t, s.pool, `
		select count(*)::integer from graphile_worker.job_results(array(select generate_series(1, 300))) as r
		 where r.result::text is distinct from format('{"n":%s}', r.id)`)
	if wrong > 0 {
		t.Errorf("%d of 300 jobs have a wrong result", wrong)
	}
}

func TestTheJobsOfACallAreInTheirOrder(t *testing.T) {
	s := newShop(t)
	pgtest.Exec(t, s.pool, `
		create table app.calls (id serial, numbers integer[]);
		create function app.number(payloads json[]) returns void language sql as $$
		  insert into app.calls (numbers) select array(select (p ->> 'n')::integer from unnest(payloads) with ordinality as u (p, at) order by at) $$`)
	s.addMany(1000, nil)
	s.work(task.SQL{Function: "app.number", Batch: 100})
	got := pgtest.Value[string](t, s.pool, `
		select format('%s jobs, %s in order, at most %s in a call', count(*), count(*) filter (where n = row), max(size))
		  from (select n, row_number() over (order by c.id, at) as row, cardinality(c.numbers) as size
		          from app.calls as c, unnest(c.numbers) with ordinality as u (n, at)) as called`)
	want(t, "what was called", got, "1000 jobs, 1000 in order, at most 100 in a call")
}

func TestOneBadJobAmongAHundredFailsAlone(t *testing.T) {
	s := newShop(t)
	s.retryLater()
	s.warmUp()
	s.addMany(100, map[int]string{57: "raise"})
	s.work(task.SQL{Function: "app.work", Batch: 100})
	s.wantOnce(100, 57)
	s.wantLeft("57:1")
	want(t, "outcomes other than completed", strings.TrimSpace(strings.ReplaceAll(s.outcomes, "completed", "")),
		"failed")
}

func TestAWrongNumberOfResultsFailsEachJobThatGetsItAlone(t *testing.T) {
	s := newShop(t)
	s.retryLater()
	pgtest.Exec(t, s.pool, `
		create function app.twice(payloads json[]) returns setof integer language sql as $$
		  insert into app.effects (n) select (p ->> 'n')::integer from unnest(payloads) as p;
		  select 1 from unnest(payloads) as p, generate_series(1, case when p ->> 'do' = 'twice' then 2 else 1 end) $$`)
	s.addMany(100, map[int]string{40: "twice"})
	s.work(task.SQL{Function: "app.twice", Batch: 100})
	s.wantOnce(100, 40)
	s.wantLeft("40:1")
	message := pgtest.Value[string](t, s.pool, `select last_error from graphile_worker.jobs`)
	if !strings.Contains(message, "app.twice returned the wrong number of results: 2 for an array of 1") {
		t.Errorf("error %q", message)
	}
}

// What belongs to a transaction is not shared by jobs that have not asked for it.
func TestFunctionsWithTemporaryTablesWorkForEachJob(t *testing.T) {
	s := newShop(t)
	pgtest.Exec(t, s.pool, `
		create function app.dropped(payload json) returns void language plpgsql as $$
		begin
		  create temp table work_of on commit drop as select (payload ->> 'n')::integer as n;
		  insert into app.effects (n) select n from work_of;
		end $$;
		create function app.created(payload json) returns void language plpgsql as $$
		begin
		  set local client_min_messages = warning;
		  create temp table if not exists rows_of (n integer) on commit delete rows;
		  insert into rows_of values ((payload ->> 'n')::integer);
		  insert into app.effects (n) select n from rows_of;
		end $$`)
	for _, function := range []string{"app.dropped", "app.created"} {
		s.empty(t)
		s.addMany(200, nil)
		s.work(task.SQL{Function: function})
		s.wantOnce(200)
		s.wantLeft()
	}
}

// stuck starts a worker whose call for several jobs waits for a lock in job 50, and returns the functions that end the
// wait and wait for the end of the worker.
func (s *shop) stuck() (release, wait func()) {
	s.t.Helper()
	s.warmUp()
	s.addMany(100, map[int]string{50: "wait"})
	gate, err := s.pool.Begin(s.t.Context())
	if err == nil {
		_, err = gate.Exec(s.t.Context(), `select pg_advisory_xact_lock(1)`)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	worker := s.worker(s.pool, task.SQL{Function: "app.work", Batch: 100})
	done := make(chan error, 1)
	go func() { done <- worker.RunOnce(context.Background()) }()
	pgtest.Await(s.t, s.pool, `select exists (select from pg_locks where locktype = 'advisory' and not granted
		and database = (select oid from pg_database where datname = current_database()))`)
	release = func() {
		if err := gate.Rollback(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}
	return release, func() {
		if err := <-done; err != nil {
			s.t.Error(err)
		}
	}
}

func TestTheNeighboursOfALostJobRunAgainWithoutIt(t *testing.T) {
	s := newShop(t)
	release, wait := s.stuck()
	pgtest.Exec(t, s.pool, `
		update graphile_worker._private_jobs set locked_by = 'other', locked_at = clock_timestamp() where payload ->> 'n' = '50'`)
	release()
	wait()
	s.wantOnce(100, 50)
	s.wantLeft("50:1")
	want(t, "owner", pgtest.Value[string](t, s.pool, `select locked_by from graphile_worker.jobs`), "other")
}

func TestTheNeighboursOfACanceledJobRunAgainWithoutIt(t *testing.T) {
	s := newShop(t)
	release, wait := s.stuck()
	defer release()
	pgtest.Exec(t, s.pool, `
		select graphile_worker.cancel_jobs(array(select id from graphile_worker._private_jobs where payload ->> 'n' = '50'), 'not needed')`)
	wait()
	s.wantOnce(100, 50)
	s.wantLeft("50:3")
}

// The timeout is that of a call, for one job and for several.
func TestACallForManyJobsHasTheTimeoutOfOne(t *testing.T) {
	s := newShop(t)
	s.retryLater()
	s.warmUp()
	s.addMany(100, map[int]string{50: "sleep"})
	s.work(task.SQL{Function: "app.work", Batch: 100, Timeout: 200 * time.Millisecond})
	s.wantOnce(100, 50)
	s.wantLeft("50:1")
	message := pgtest.Value[string](t, s.pool, `select last_error from graphile_worker.jobs`)
	if !strings.Contains(message, "statement timeout (SQLSTATE 57014)") {
		t.Errorf("error %q, want the time-out", message)
	}
}
