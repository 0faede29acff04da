package limits

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/gwsql/gw/internal/pgtest"
)

// addTenants adds a job for each of these tenants in one call.
const addTenants = `
	select count(*)
	  from graphile_worker.add_jobs(array(
	         select row('tenant', json_build_object('tenant', tenant), null, null, null, null, null, null)::graphile_worker.job_spec
	           from unnest($1::integer[]) with ordinality as u (tenant, number)
	          order by number))`

// Two calls that create the same lanes, or the same groups, in different orders do not deadlock. Both wait for the tenant 0 of
// another transaction first, so that each is in the middle of its new names when it goes on.
func TestCallsThatCreateLanesInDifferentOrdersDoNotDeadlock(t *testing.T) {
	const limit = "select graphile_worker.set_limit('tenants', tasks => '{tenant}', by => 'payload:tenant', max_running => 2)"
	const moved = "; select graphile_worker._gw_move_jobs() from generate_series(1, 9)"
	for name, setup := range map[string]string{
		"lanes":  limit + moved,
		"groups": limit + moved + "; select graphile_worker.override_lane('tenants', n::text) from generate_series(0, 2) as n",
	} {
		t.Run(name, func(t *testing.T) {
			pool := pgtest.Pool(t, pgtest.Database(t))
			pgtest.Exec(t, pool, setup)
			callWhileHeld(t, pool, call{addTenants, []any{[]int{0}}}, call{addTenants, []any{[]int{1, 0, 2}}}, call{addTenants, []any{[]int{2, 0, 1}}})
			pgtest.Exec(t, pool, "select graphile_worker._gw_move_jobs() from generate_series(1, 9)")
			if got := pgtest.Value[string](t, pool, "select string_agg(l.key, ' ' order by l.key) from graphile_worker._gw_lanes as l"); got != "0 1 2" {
				t.Errorf("the lanes are %q", got)
			}
		})
	}
}

// add_job and add_jobs create what is new in the same order, names before lanes. Here add_jobs has created one of its tasks
// when add_job, of the same task, begins.
func TestCallsThatCreateATaskAndItsLaneDoNotDeadlock(t *testing.T) {
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

// callWhileHeld runs a call in a transaction that is open until all of the others, each in a session of its own and begun in
// this order, wait for it. They must all succeed then.
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
			 where a.datname = current_database() and a.wait_event_type = 'Lock' and a.wait_event = 'transactionid'`, n+1)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := calls.Wait(); err != nil {
		t.Error(err)
	}
}
