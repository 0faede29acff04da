package gwrun

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// batchWorker starts a gw-run that serves the task many with a function of an array.
func batchWorker(t *testing.T, databaseURL string) *process {
	t.Helper()
	return configWorker(t, databaseURL, "many: {sql: app.many, batch: true}")
}

func configWorker(t *testing.T, databaseURL, task string) *process {
	t.Helper()
	config := filepath.Join(t.TempDir(), "gw.yaml")
	if err := os.WriteFile(config, []byte("tasks:\n  "+task+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, nil, "-c", databaseURL, "--config", config, "--log-format", "json", "-j", "2", "--quiet")
}

const manyTask = `
	create schema app;
	create table app.effects (n integer, transaction text default txid_current()::text);
	create function app.many(payloads json[]) returns void language plpgsql as $$
	begin
	  perform pg_sleep(0.01);
	  insert into app.effects (n) select (p ->> 'n')::integer from unnest(payloads) as p;
	end $$;
	select graphile_worker.add_job('many', json_build_object('n', n)) from generate_series(1, 20000) as n`

// wantEachOnce checks that each of the jobs has had its effects once, and that most have shared a transaction.
func wantEachOnce(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	pgtest.Await(t, pool, `select not exists (select from graphile_worker._private_jobs)`)
	if n := pgtest.Value[int](t, pool, `
		select count(*)::integer
		  from (select n from generate_series(1, 20000) as n left join app.effects as e using (n) group by n having count(e.n) <> 1) as wrong`); n > 0 {
		t.Errorf("%d jobs were not done once", n)
	}
	if n := pgtest.Value[int](t, pool, `select count(distinct transaction)::integer from app.effects`); n < 200 ||
		n > 2000 {
		t.Errorf("there were %d transactions for 20000 jobs, want up to 100 jobs in each", n)
	}
}

func TestJobsOfABatchWhoseWorkerIsKilledRunAgain(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	pgtest.Hurry(t, pool)
	pgtest.Exec(t, pool, manyTask)
	victim := batchWorker(t, databaseURL)
	pgtest.Await(t, pool, `select count(*) > 2000 from app.effects`)
	victim.signal(syscall.SIGKILL)
	<-victim.ended
	batchWorker(t, databaseURL)
	wantEachOnce(t, pool)
}

func TestTwoWorkersRunBatchesOfOneTask(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	pgtest.Exec(t, pool, manyTask)
	workers := []*process{batchWorker(t, databaseURL), batchWorker(t, databaseURL)}
	wantEachOnce(t, pool)
	for _, p := range workers {
		p.signal(syscall.SIGTERM)
		p.wantExit(0)
	}
}

func TestBatchWithAFunctionOfOnePayloadIsAnErrorOfTheConfig(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pgtest.Exec(t, pgtest.Pool(t, databaseURL), `
		create schema app;
		create function app.many(payload jsonb) returns void language sql as ''`)
	p := batchWorker(t, databaseURL)
	p.wantExit(1)
	want := "gw.yaml:2:3: task many: function app.many cannot serve a task: app.many(jsonb) takes one payload, " +
		"but batch needs a function of an array, such as app.many(payloads jsonb[])"
	if got := p.stderr.String(); !strings.Contains(got, want) {
		t.Errorf("the error is %q, want %q", got, want)
	}
}

func TestTheExampleOfABatchCountsEachView(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	function, err := os.ReadFile("../../../examples/count_views.sql")
	if err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, pool, string(function))
	pgtest.Exec(t, pool, `
		select graphile_worker.add_job('count_views', json_build_object('page', '/' || n % 7)) from generate_series(1, 1400) as n`)
	configWorker(t, databaseURL, "count_views: {sql: public.count_views, batch: 200}")
	pgtest.Await(t, pool, `select not exists (select from graphile_worker._private_jobs)`)
	got := pgtest.Value[string](t, pool, `select string_agg(page || ' ' || views, ', ' order by page) from page_views`)
	if want := "/0 200, /1 200, /2 200, /3 200, /4 200, /5 200, /6 200"; got != want {
		t.Errorf("the views are %s, want %s", got, want)
	}
}
