package doctor_test

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestTablesWithDeadRowsWhereAutovacuumDoesNotComeAreTold(t *testing.T) {
	pool := install(t, pgtest.Server(t, map[string]string{"autovacuum_naptime": "1d"}).URL("postgres"))
	database := pool.Config().ConnString()
	const jobs, finding, subject = "graphile_worker._private_jobs", "dead rows", "table _private_jobs"
	dead := func(n string) {
		visit(t, database,
			"insert into "+jobs+" (task_id) select 1 from generate_series(1, "+n+")",
			"delete from "+jobs)
		pgtest.Await(t, pool, "select s.n_dead_tup >= $1 from pg_stat_user_tables as s where s.relname = '_private_jobs'", n)
	}
	cure := func() {
		pgtest.Exec(t, pool, remedy(t, pool, finding, subject))
		pgtest.Await(t, pool, "select s.n_dead_tup = 0 from pg_stat_user_tables as s where s.relname = '_private_jobs'")
		pgtest.Await(t, pool, over, finding, subject)
	}
	because := func(reason string) {
		t.Helper()
		detail := pgtest.Value[string](t, pool,
			"select d.detail from graphile_worker.doctor() as d where d.finding = $1", finding)
		if !strings.Contains(detail, reason) {
			t.Errorf("the reason is not %q: %s", reason, detail)
		}
	}

	dead("10001")
	if pgtest.Value[bool](t, pool, told, finding, subject) {
		t.Error("a burst is reported before autovacuum can have run")
	}
	const impatient = "select exists (select from graphile_worker._gw_find_dead_rows(patience => '0') as d where d.subject = $1)"
	if !pgtest.Value[bool](t, pool, impatient, subject) {
		t.Error("nothing is reported although the patience is 0")
	}

	visit(t, database, "alter table "+jobs+" set (autovacuum_enabled = off)")
	pgtest.Await(t, pool, told, finding, subject)
	because("autovacuum is off for it")
	cure()
	dead("10000")
	if pgtest.Value[bool](t, pool, told, finding, subject) {
		t.Error("fewer dead rows are reported")
	}
	visit(t, database, "vacuum "+jobs, "alter table "+jobs+" reset (autovacuum_enabled)")

	visit(t, database, "alter system set autovacuum = off", "select pg_reload_conf()")
	dead("10001")
	pgtest.Await(t, pool, told, finding, subject)
	because("autovacuum is off on this server")
	cure()

	// A long table is vacuumed less often.
	visit(t, database, "insert into "+jobs+" (task_id) select 1 from generate_series(1, 60000)", "analyze "+jobs)
	visit(t, database, "delete from "+jobs+" where id % 5 = 0")
	pgtest.Await(t, pool, "select s.n_dead_tup >= 12000 from pg_stat_user_tables as s where s.relname = '_private_jobs'")
	if pgtest.Value[bool](t, pool, told, finding, subject) {
		t.Error("dead rows below the threshold of autovacuum are reported")
	}
}
