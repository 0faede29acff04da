package gwrun

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// sqlWorker starts a gw-run that serves the tasks slow and other in SQL, with its name as the worker's id.
func sqlWorker(t *testing.T, databaseURL, tasks string) *process {
	t.Helper()
	config := filepath.Join(t.TempDir(), "gw.yaml")
	if err := os.WriteFile(config, []byte("tasks:\n"+tasks), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, nil, "-c", databaseURL, "--config", config, "--log-format", "json", "-j", "2", "--quiet")
}

const slowTask = `
	create schema app;
	create table app.effects (n integer, transaction text default txid_current()::text);
	create function app.slow(payload json) returns void language plpgsql as $$
	begin
	  insert into app.effects values ((payload ->> 'n')::integer);
	  perform pg_sleep(0.001);
	end $$;
	select graphile_worker.add_job('slow', json_build_object('n', n)) from generate_series(1, 3000) as n`

// wantEachOnce checks that each of the 3000 jobs has had its effects once.
func wantEachOnce(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	pgtest.Await(t, pool, `select not exists (select from graphile_worker._private_jobs)`)
	if n := pgtest.Value[int](t, pool, `
		select count(*)::integer
		  from (select n from generate_series(1, 3000) as n left join app.effects as e using (n) group by n having count(e.n) <> 1) as wrong`); n > 0 {
		t.Errorf("%d jobs were not done once", n)
	}
}

func TestJobsOfABatchWhoseWorkerIsKilledRunOnceAndThenAlone(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	pgtest.Hurry(t, pool)
	pgtest.Exec(t, pool, slowTask)
	victim := sqlWorker(t, databaseURL+"&application_name=victim", "  slow: {sql: app.slow}\n")
	pgtest.Await(t, pool, `
		select exists (select from graphile_worker._gw_batches)
		   and (select count(*) from app.effects) > 100
		   and (select count(*) from graphile_worker._private_jobs where locked_at is not null) <= 2`) // the first claims have ended
	victim.signal(syscall.SIGKILL)
	<-victim.ended
	pgtest.Await(t, pool, `select not exists (select from pg_stat_activity where application_name = 'victim' and datname = current_database())`)
	recorded := pgtest.Value[int](t, pool, `select coalesce(sum(jobs), 0)::integer from graphile_worker._gw_batches`)
	if recorded == 0 {
		t.Fatal("the worker died between its batches")
	}
	claimed := pgtest.Value[int](t, pool, `select count(*)::integer from graphile_worker._private_jobs where locked_at is not null`)

	sqlWorker(t, databaseURL, "  other: {sql: app.slow}\n")
	pgtest.Await(t, pool, `select not exists (select from graphile_worker._gw_batches)`)
	if n := pgtest.Value[int](t, pool, `select count(*)::integer from graphile_worker._gw_suspects`); n < recorded || n > recorded+claimed {
		t.Errorf("%d jobs are suspects, want %d of batches and %d of claims at most", n, recorded, claimed)
	}
	sqlWorker(t, databaseURL, "  slow: {sql: app.slow}\n")
	wantEachOnce(t, pool)
}

func TestTwoWorkersRunBatchesOfOneTask(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	pgtest.Exec(t, pool, slowTask)
	workers := []*process{
		sqlWorker(t, databaseURL, "  slow: {sql: app.slow}\n"),
		sqlWorker(t, databaseURL, "  slow: {sql: app.slow}\n"),
	}
	wantEachOnce(t, pool)
	for _, p := range workers {
		p.signal(syscall.SIGTERM)
		p.wantExit(0)
	}
	if n := pgtest.Value[int](t, pool, `select count(distinct transaction)::integer from app.effects`); n > 2000 {
		t.Errorf("there were %d transactions for 3000 jobs", n)
	}
}
