package doctor_test

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestAnIndexThatOnlyNodeNeedsAndNobodyReadsIsTold(t *testing.T) {
	database := pgtest.Database(t)
	pool := pgtest.Pool(t, database)
	const (
		addJobs = `select count(*) from graphile_worker.add_jobs(array(
		             select json_populate_record(null::graphile_worker.job_spec, '{"identifier": "a"}') from generate_series(1, 50)))`
		workJobs = `delete from graphile_worker._private_jobs`
		spare    = `select exists (select from graphile_worker._gw_find_spare_indexes(least_done => 50))`
		done     = `select s.n_tup_del = 50 from pg_stat_user_tables as s where s.relname = '_private_jobs'`
	)
	visit(t, database, addJobs, workJobs)
	pgtest.Await(t, pool, done)
	if pgtest.Value[bool](t, pool, spare) {
		t.Error("it is reported although no worker is registered, so that all workers may be Node's")
	}
	pgtest.Exec(t, pool, "select graphile_worker.register_worker('worker', '{a}')")
	if !pgtest.Value[bool](t, pool, spare) {
		t.Error("it is not reported")
	}

	// As Node's claims read it.
	visit(t, database, "set enable_seqscan = off; set enable_sort = off; select j.id from graphile_worker._private_jobs as j "+
		"where j.is_available = true order by j.priority, j.run_at limit 1")
	pgtest.Await(t, pool, "select not ("+spare+")")

	visit(t, database, "select pg_stat_reset()")
	visit(t, database, addJobs)
	pgtest.Await(t, pool, "select s.n_tup_ins = 50 from pg_stat_user_tables as s where s.relname = '_private_jobs'")
	if pgtest.Value[bool](t, pool, spare) {
		t.Error("it is reported before the existing jobs were claimed")
	}
	visit(t, database, workJobs)
	pgtest.Await(t, pool, done)
	pgtest.Await(t, pool, spare)
	const remedy = `select d.remedy like '%with: gw-migrate tune --without-node;%' from graphile_worker._gw_find_spare_indexes(least_done => 50) as d`
	if !pgtest.Value[bool](t, pool, remedy) {
		t.Error("it is reported without its remedy")
	}
	// Only now, because doctor() may read the index, and its session may say so only after the statistics are reset.
	if pgtest.Value[bool](t, pool, told, "spare index", "index jobs_main_index") {
		t.Error("it is reported after fifty jobs")
	}
	if _, err := migrator(t, database).Tune(t.Context(), migrate.WithoutNode); err != nil {
		t.Fatal(err)
	}
	if pgtest.Value[bool](t, pool, spare) {
		t.Error("it is reported after its remedy")
	}
}
