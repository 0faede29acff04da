package adopt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// hooks are functions of the user that PostgreSQL calls for the tables of the queue, and that depend on the caller's search_path.
const hooks = `
	create schema app;
	create table app.audit (what text);
	alter database %[1]s set search_path = app, public;
	create function app.audit_job() returns trigger language plpgsql as
	  $$ begin insert into audit values (tg_op); return coalesce(new, old); end $$;
	create trigger audit_job after insert or delete on graphile_worker._private_jobs for each row execute function app.audit_job();
	create function app.is_fine(payload json) returns boolean language plpgsql as
	  $$ begin return (select count(*) >= 0 from audit); end $$;
	alter table graphile_worker._private_jobs add constraint fine check (app.is_fine(payload)) not valid;
	create function app.pinned() returns trigger language plpgsql set search_path = app as $$ begin return new; end $$;
	create trigger pinned before insert on graphile_worker._private_jobs for each row execute function app.pinned();
	create function app.off() returns trigger language plpgsql as $$ begin return new; end $$;
	create trigger off before insert on graphile_worker._private_jobs for each row execute function app.off();
	alter table graphile_worker._private_jobs disable trigger off;
	create trigger quiet before update on graphile_worker._private_jobs for each row execute function suppress_redundant_updates_trigger()`

// hooked returns a database of Graphile Worker with hooks, which work there.
func hooked(t *testing.T) (database string, pool *pgxpool.Pool) {
	t.Helper()
	database = pgtest.EmptyDatabase(t)
	pool = pgtest.Pool(t, database)
	nodegw.Migrate(t, nodegw.V18, database, "")
	execute(t, pool, fmt.Sprintf(hooks, pool.Config().ConnConfig.Database))
	nodegw.Utils(t, nodegw.V18, database, "", nodegw.Call{"addJob", "note", map[string]any{"n": 1}})
	return database, pool
}

func TestFunctionsWithoutAPathAreNamedBeforeAnythingIsChanged(t *testing.T) {
	gwMigrate := pgtest.Program(t, "gw-migrate")
	database, pool := hooked(t)
	before := shape(t, pool, "graphile_worker")
	named := []string{
		"trigger audit_job on table graphile_worker._private_jobs calls app.audit_job()",
		"constraint fine on table graphile_worker._private_jobs calls app.is_fine(json)",
		"alter function app.audit_job() set search_path = app, public",
		"alter function app.is_fine(json) set search_path = app, public",
		"--function-paths=set", "--function-paths=keep",
	}
	run(t, gwMigrate, database, nil, 1, named...)
	run(t, gwMigrate, database, []string{"--dry-run"}, 1, named...)
	run(t, gwMigrate, database, []string{"status"}, 0, named...)
	run(t, gwMigrate, database, []string{"--function-paths", "mend"}, 2, "set or keep")
	if found := differences(before, shape(t, pool, "graphile_worker")); found != nil {
		t.Errorf("changed: %v", found)
	}
	status, err := migrator(t, database, migrate.Config{Adopt: true}).Status(t.Context())
	if err != nil || status.Refusal == nil || status.Refusal.Reason != migrate.ReasonPaths ||
		len(status.Unpinned) != 2 {
		t.Errorf("status: %+v, %v", status, err)
	}

	run(t, gwMigrate, database, []string{"--function-paths=keep"}, 0, "warning: "+named[0], "is now at version")
	if got := texts(t, pool, "select p.oid::regprocedure::text from pg_proc as p where p.proconfig is not null and p.pronamespace = 'app'::regnamespace"); !slices.Equal(got, []string{"app.pinned()"}) {
		t.Errorf("with a path there are %q", got)
	}
	run(t, gwMigrate, database, []string{"status"}, 0, "warning    "+named[0], named[2])
}

// With a search_path of their own the functions work in calls of our functions and of Node's, and with both workers.
func TestFunctionsAreGivenAPathWhenThatIsAskedFor(t *testing.T) {
	gwMigrate := pgtest.Program(t, "gw-migrate")
	database, pool := hooked(t)
	execute(t, pool, "create table done (n integer, worker text)")
	node := nodegw.Start(t, nodegw.Options{
		DatabaseURL: database, PollInterval: 50 * time.Millisecond,
		Tasks: map[string]string{"other": `await helpers.query("insert into done (n, worker) values ($1, 'node')", [payload.n])`},
	})

	run(t, gwMigrate, database, []string{"--function-paths=set", "--dry-run"}, 0,
		"search_path will be set by: alter function app.audit_job()")
	run(t, gwMigrate, database, []string{"--function-paths=set"}, 0, "is now at version")

	nodegw.Utils(t, nodegw.V18, database, "", nodegw.Call{"addJob", "note", map[string]any{"n": 2}})
	execute(t, pool, `select graphile_worker.add_job('other', '{"n": 3}', queue_name => 'q')`)
	ours := startOurs(t, database)
	pgtest.Await(t, pool, "select count(*) = 3 from done")
	pgtest.Await(t, pool, "select not exists (select from graphile_worker._private_jobs)")
	ours()
	node.Stop()
	eachOnce(t, pool, 3)
	if got := texts(t, pool, "select string_agg(a.what, ' ' order by a.what) from app.audit as a"); got[0] != "DELETE DELETE DELETE INSERT INSERT INSERT" {
		t.Errorf("the trigger has noted %q", got)
	}
	run(t, gwMigrate, database, []string{"status", "--check"}, 0, "state      current")
}

func TestAFunctionOfAnotherRolesIsLeftToThatRole(t *testing.T) {
	database, pool := hooked(t)
	owner, other := pgtest.Role(t, pool), pgtest.Role(t, pool)
	execute(t, pool, fmt.Sprintf(`
		alter role %[1]s login;
		alter function app.audit_job() owner to %[2]s;
		alter function app.is_fine(json) owner to %[1]s;
		alter schema graphile_worker owner to %[1]s`, owner, other))
	for _, statement := range texts(t, pool, `
		select format('alter %s %s owner to %I', case when c.relkind = 'v' then 'view' else 'table' end, c.oid::regclass, $1::text)
		  from pg_class as c where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind in ('r', 'v')
		 union all
		select format('alter function %s owner to %I', p.oid::regprocedure, $1::text)
		  from pg_proc as p where p.pronamespace = 'graphile_worker'::regnamespace
		 union all
		select format('alter type graphile_worker.job_spec owner to %I', $1::text)`, owner) {
		execute(t, pool, statement)
	}
	_, err := migrator(t, asRole(t, database, owner),
		migrate.Config{Adopt: true, FunctionPaths: migrate.SetPaths}).Up(t.Context())
	if err == nil || !strings.Contains(err.Error(),
		"belongs to another role; its owner has to run: alter function app.audit_job()") {
		t.Errorf("got %v", err)
	}
}

func TestAFunctionWithoutAPathThatCameLaterIsTold(t *testing.T) {
	gwMigrate := pgtest.Program(t, "gw-migrate")
	database := pgtest.Database(t)
	pool := pgtest.Pool(t, database)
	execute(t, pool, fmt.Sprintf(hooks, pool.Config().ConnConfig.Database))
	if _, err := pool.Exec(t.Context(), "select graphile_worker.add_job('a')"); err == nil {
		t.Error("the trigger finds its table")
	}
	run(t, gwMigrate, database, []string{"status", "--check"}, 0,
		"warning    trigger audit_job on table graphile_worker._private_jobs calls app.audit_job()",
		"run: alter function app.audit_job() set search_path = app, public")
	run(t, gwMigrate, database, nil, 0, "warning: trigger audit_job")
	remedies := texts(t, pool, "select split_part(d.remedy, ' with: ', 2) from graphile_worker.doctor() as d where d.finding = 'function without a path'")
	if len(remedies) != 2 {
		t.Fatalf("the doctor says: %q", remedies)
	}
	execute(t, pool, strings.Join(remedies, "\n"))
	execute(t, pool, "select graphile_worker.add_job('a')")
	run(t, gwMigrate, database, nil, 0, "is up to date")
}
