package limits

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// A transaction that began before a limit may add jobs outside of the limit's lanes, so the move of jobs lasts until it ends. Later
// transactions see the limit: the move ends, and jobs without a lane run, although such transactions are open at any time.
func TestAMoveOfJobsWaitsForNoTransactionThatBeganAfterIt(t *testing.T) {
	for name, holder := range map[string]string{
		"name locks": "select",
		// Producers lock rows instead if somebody else has these locks.
		"rows": `select pg_advisory_lock(graphile_worker._gw_name_lock('task', '') - (graphile_worker._gw_name_lock('task', '') & 63) + n)
		           from generate_series(0, 63) as n`,
	} {
		t.Run(name, func(t *testing.T) {
			pool := pgtest.Pool(t, pgtest.Database(t))
			pgtest.Exec(t, pool, "select graphile_worker.add_job('task') from generate_series(1, 3)")
			_ = begin(t, pool, holder)
			before := begin(t, pool, `select graphile_worker.add_job('task', flags => '{tenant:1}')`)
			pgtest.Exec(t, pool, "select graphile_worker.set_limit('tenants', tasks => '{task}', by => 'flag:tenant', max_running => 1)")
			pgtest.Exec(t, pool, "select graphile_worker._gw_move_jobs() from generate_series(1, 9)")
			if pgtest.Value[int](t, pool, "select count(*) from graphile_worker._gw_moves") != 1 {
				t.Error("the move does not wait for a transaction that began before it")
			}
			if name != "rows" {
				_ = begin(t, pool, `select graphile_worker.add_job('task', flags => '{tenant:2}')`)
			}
			_ = begin(t, pool, "select from graphile_worker._private_jobs where id = 1 for update")
			if err := before.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			pgtest.Await(t, pool, "select not graphile_worker._gw_move_jobs() and not exists (select from graphile_worker._gw_moves)")
			got := pgtest.Value[string](t, pool, "select string_agg(b.id::text, ' ' order by b.id) from graphile_worker.get_job_batch('worker', batch_size => 10) as b")
			if got != "2 3 4" {
				t.Errorf("the claim takes the jobs %q", got)
			}
			if lanes := pgtest.Value[int](t, pool, "select count(*) from graphile_worker._gw_slots(array(select id from graphile_worker._gw_lanes))"); lanes != 1 {
				t.Errorf("%d of them are limited", lanes)
			}
		})
	}
}

// A claim that moves jobs into a lane that another transaction has just created does not wait for this transaction.
func TestAClaimThatMovesJobsWaitsForNoNewLane(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	pgtest.Exec(t, pool, `
		select graphile_worker.add_job('task', '{"tenant": 1}');
		select graphile_worker.add_job('other') from generate_series(1, 5);
		select graphile_worker.set_limit('tenants', tasks => '{task}', by => 'payload:tenant', max_running => 1);
		select graphile_worker.get_job_batch('worker', '{none}')`) // begins a pass
	creates := begin(t, pool, `select graphile_worker.add_job('task', '{"tenant": 1}')`)
	claims := begin(t, pool, "set local statement_timeout = '5s'")
	for n := range 5 {
		var claimed int
		if err := claims.QueryRow(t.Context(), "select count(*) from graphile_worker.get_job('worker')").Scan(&claimed); err != nil || claimed != 1 {
			t.Fatalf("claim %d takes %d jobs: %v", n+1, claimed, err)
		}
	}
	for _, tx := range []pgx.Tx{claims, creates} {
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	pgtest.Await(t, pool, "select count(*) = 1 from graphile_worker.get_job('worker')")
}

// begin makes a call in a transaction, which ends with the test.
func begin(t *testing.T, pool *pgxpool.Pool, sql string) pgx.Tx {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(t.Context()) })
	if _, err := tx.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
	return tx
}
