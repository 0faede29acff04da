package limits

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/gwsql/gw/internal/pgtest"
)

// add_job and add_jobs create what is new in the same order. Here add_jobs has created one of its tasks when add_job,
// of the same task, begins.
func TestCallsThatCreateATaskWithALimitDoNotDeadlock(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	pgtest.Exec(t, pool, "select graphile_worker.set_limit('narrow', tasks => '{narrow}', max_running => 1)")
	callWhileHeld(t, pool, call{"select graphile_worker.add_job('other')", nil}, call{`
		select count(*)
		  from graphile_worker.add_jobs(array(
		         select row(task, null, null, null, null, null, null, null)::graphile_worker.job_spec
		           from unnest(array['narrow', 'other']) as u (task)))`, nil},
		call{"select graphile_worker.add_job('narrow')", nil})
}

// call is a statement with its arguments.
type call struct {
	sql  string
	args []any
}

// callWhileHeld runs a call in a transaction that is open until all of the others, each in a session of its own and
// begun in this order, wait for it. They must all succeed then.
func callWhileHeld(t *testing.T, pool *pgxpool.Pool, holder call, others ...call) {
	t.Helper()
	tx, err := pool.BeginTx(t.Context(), pgx.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), holder.sql, holder.args...); err != nil {
		t.Fatal(err)
	}
	var calls errgroup.Group
	for n, other := range others {
		calls.Go(func() error { _, err := pool.Exec(t.Context(), other.sql, other.args...); return err })
		pgtest.Await(t, pool, `
			select count(*) = $1
			  from pg_stat_activity as a
			 where a.datname = current_database() and a.wait_event_type = 'Lock' and a.wait_event = 'transactionid'`,
			n+1)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := calls.Wait(); err != nil {
		t.Error(err)
	}
}
