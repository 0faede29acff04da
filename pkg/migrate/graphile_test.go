package migrate_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

// graphileFunctions have the signatures of Graphile Worker's functions, and empty bodies.
const graphileFunctions = `
	create function graphile_worker.add_job(identifier text, payload json default null, queue_name text default null,
	  run_at timestamptz default null, max_attempts integer default null, job_key text default null,
	  priority integer default null, flags text[] default null, job_key_mode text default 'replace')
	  returns graphile_worker._private_jobs language sql as 'select null::graphile_worker._private_jobs';
	create function graphile_worker.add_jobs(specs graphile_worker.job_spec[], job_key_preserve_run_at boolean default false)
	  returns setof graphile_worker._private_jobs language sql as 'select null::graphile_worker._private_jobs';
	create function graphile_worker.complete_jobs(job_ids bigint[])
	  returns setof graphile_worker._private_jobs language sql as 'select null::graphile_worker._private_jobs';
	create function graphile_worker.force_unlock_workers(worker_ids text[]) returns void language sql as '';
	create function graphile_worker.permanently_fail_jobs(job_ids bigint[], error_message text default null)
	  returns setof graphile_worker._private_jobs language sql as 'select null::graphile_worker._private_jobs';
	create function graphile_worker.remove_job(job_key text)
	  returns graphile_worker._private_jobs language sql strict as 'select null::graphile_worker._private_jobs';
	create function graphile_worker.reschedule_jobs(job_ids bigint[], run_at timestamptz default null,
	  priority integer default null, attempts integer default null, max_attempts integer default null)
	  returns setof graphile_worker._private_jobs language sql as 'select null::graphile_worker._private_jobs';`

// guests are objects of others in the schema: of Graphile Worker Pro, and of the application.
const guests = `
	create table graphile_worker._private_pro_pools (pool_id text primary key);
	create table graphile_worker.mine as select 1 as one;
	create function graphile_worker.backoff(mine text) returns integer language sql as 'select 1';`

// graphile returns the URL of a database with a schema as Graphile Worker has it at a revision: tables by our first
// migration, which the tests with the real one prove the same, and jobs: ready, running, in a queue, failed.
func graphile(t *testing.T, revision int) string {
	t.Helper()
	database := pgtest.EmptyDatabase(t)
	files := copyFiles(t)
	first := fstest.MapFS{"migrations/000001_contract.sql": files["migrations/000001_contract.sql"]}
	if _, err := newMigratorFrom(t, database, migrate.Config{}, first).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, database)
	execute(t, conn, "drop table graphile_worker._gw_schema_version;"+graphileFunctions)
	execute(t, conn, `
		insert into graphile_worker._private_tasks (identifier) values ('greet');
		insert into graphile_worker._private_job_queues (queue_name, locked_at, locked_by)
		values ('q', now(), 'pool-1'), ('r', null, null);
		insert into graphile_worker._private_jobs (task_id, job_queue_id, attempts, locked_at, locked_by, key)
		select 1, nullif(n % 3, 0), 0, null, null, 'k' || n from generate_series(1, 50) as n
		union all
		select 1, 1, 1, now(), 'pool-1', null
		union all
		select 1, null, 25, null, null, null`)
	execute(t, conn, fmt.Sprintf(`
		delete from graphile_worker.migrations where id > %[1]d;
		insert into graphile_worker.migrations (id) select generate_series(21, %[1]d)`, revision))
	return database
}

// ledgerOf lists the revisions, with a mark on those that break.
func ledgerOf(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return strings.Join(texts(t, conn, `
		select m.id || case when m.breaking then '!' else '' end from graphile_worker.migrations as m order by m.id`),
		" ")
}

const nodesLedger = "1! 2 3! 4 5 6 7 8 9 10 11! 12 13! 14! 15 16! 17 18 19! 20"

// contents lists what the contract's tables hold, and where: a table that was rewritten is elsewhere.
func contents(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	return texts(t, conn, `
		select format('job %s', to_jsonb(j)) from graphile_worker._private_jobs as j
		union all
		select format('queue %s', to_jsonb(q)) from graphile_worker._private_job_queues as q
		union all
		select format('task %s', to_jsonb(k)) from graphile_worker._private_tasks as k
		union all
		select format('file %s %s', c.relname, c.relfilenode)
		  from pg_class as c
		 where c.relnamespace = 'graphile_worker'::regnamespace
		   and c.relkind = 'r' and c.relname not like '\_gw\_%'
		order by 1`)
}
