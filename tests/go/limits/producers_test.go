package limits

import (
	"testing"

	"github.com/jackc/pgx/v5"
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
	for name, place := range map[string]struct {
		setup, first string
		args         []any
	}{
		"lanes":  {limit + moved, addTenants, []any{[]int{1, 0, 2}}},
		"groups": {limit + moved + "; select graphile_worker.override_lane('tenants', n::text) from generate_series(0, 2) as n", addTenants, []any{[]int{1, 0, 2}}},
		"lanes of waiting jobs": {`
			select graphile_worker.add_job('tenant', json_build_object('tenant', u.tenant)) from unnest(array[1, 0, 2]) as u (tenant);
			` + limit + "; select graphile_worker._gw_move_jobs()", "select graphile_worker._gw_move_jobs()", nil},
	} {
		t.Run(name, func(t *testing.T) {
			pool := pgtest.Pool(t, pgtest.Database(t))
			pgtest.Exec(t, pool, place.setup)
			tx, err := pool.BeginTx(t.Context(), pgx.TxOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback(t.Context()) }()
			if _, err := tx.Exec(t.Context(), addTenants, []int{0}); err != nil {
				t.Fatal(err)
			}

			var calls errgroup.Group
			calls.Go(func() error { _, err := pool.Exec(t.Context(), place.first, place.args...); return err })
			calls.Go(func() error { _, err := pool.Exec(t.Context(), addTenants, []int{2, 0, 1}); return err })
			pgtest.Await(t, pool, `
				select count(*) = 2
				  from pg_stat_activity as a
				 where a.datname = current_database() and a.wait_event_type = 'Lock' and a.wait_event = 'transactionid'`)
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := calls.Wait(); err != nil {
				t.Error(err)
			}
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
	tx, err := pool.BeginTx(t.Context(), pgx.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), "select graphile_worker.add_job('other')"); err != nil {
		t.Fatal(err)
	}

	var calls errgroup.Group
	for n, call := range []string{`
		select count(*)
		  from graphile_worker.add_jobs(array(
		         select row(task, null, null, null, null, null, null, null)::graphile_worker.job_spec
		           from unnest(array['narrow', 'other']) as u (task)))`,
		"select graphile_worker.add_job('narrow')",
	} {
		calls.Go(func() error { _, err := pool.Exec(t.Context(), call); return err })
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
