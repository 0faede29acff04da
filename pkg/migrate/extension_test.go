package migrate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/pkg/migrate"
)

// One server for all: its files are not those of a database.
func TestTheExtension(t *testing.T) {
	server := newExtensionServer(t)
	for name, test := range map[string]func(*testing.T, *extensionServer){
		"is what Up installs":               isWhatUpInstalls,
		"belongs to a role without rights":  belongsToItsCreator,
		"takes any name for its schema":     takesAnyName,
		"leaves a schema that is there":     leavesOthersAlone,
		"saves what users put in":           savesWhatUsersPutIn,
		"survives a dump with its data":     survivesADump,
		"is upgraded by PostgreSQL alone":   isUpgraded,
		"is installed by make":              isInstalledByMake,
		"is registered with pg_tle":         isRegisteredWithPgTLE,
		"leaves nothing when it is dropped": leavesNothing,
	} {
		t.Run(name, func(t *testing.T) { test(t, server) })
	}
}

func isWhatUpInstalls(t *testing.T, server *extensionServer) {
	server.install(t, migrate.DefaultSchema)
	created, migrated := server.database(t, "created"), server.database(t, "migrated")
	conn := connect(t, created)
	execute(t, conn, "create extension graphile_worker")
	up(t, migrated, migrate.Config{})
	if found := differences(shape(t, connect(t, migrated)), shape(t, conn)); found != nil {
		t.Errorf("differences:\n%s", strings.Join(found, "\n"))
	}
	if result := up(t, created, migrate.Config{}); result.Before != available(t) || result.Applied != nil {
		t.Errorf("a later Up: %+v", result)
	}
	if told := texts(t, conn, "select d.finding from graphile_worker.doctor() as d"); len(told) > 0 {
		t.Errorf("doctor() of a fresh extension: %v", told)
	}
}

func belongsToItsCreator(t *testing.T, server *extensionServer) {
	server.install(t, migrate.DefaultSchema)
	database := server.database(t, "of_app")
	conn := connect(t, database)
	execute(t, conn, "create extension graphile_worker; select graphile_worker.add_job('greet')")
	if owners := texts(t, conn, "select distinct c.relowner::regrole::text from pg_class as c where c.relnamespace = 'graphile_worker'::regnamespace"); !slices.Equal(owners, []string{"app"}) {
		t.Errorf("it belongs to %v", owners)
	}
	status, err := newMigrator(t, database, migrate.Config{}).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("graphile_worker %d", available(t)); status.Extension != want ||
		status.State != migrate.Current {
		t.Errorf("status %+v, want extension %s", status, want)
	}

	// Objects that Repair restores still belong to the extension.
	execute(t, conn, "create or replace function graphile_worker.backoff(attempts integer) returns interval language sql as 'select null::interval'")
	repaired, err := newMigrator(t, database, migrate.Config{}).Repair(t.Context())
	if err != nil || len(repaired.Replaced) != 1 {
		t.Fatalf("repaired %v, %v", repaired, err)
	}
	members := texts(t, conn, `
		select p.proname::text
		  from pg_proc as p
		 where p.pronamespace = 'graphile_worker'::regnamespace
		   and not exists (select from pg_depend as d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')`)
	if len(members) > 0 {
		t.Errorf("functions outside the extension: %v", members)
	}
}

func takesAnyName(t *testing.T, server *extensionServer) {
	const schema = `Odd "name" $$ it's :x 100%`
	server.install(t, schema)
	database := server.database(t, "odd")
	conn := connect(t, database)
	execute(t, conn, "create extension graphile_worker")
	execute(t, conn, fmt.Sprintf("select %s.add_job('greet')", pgx.Identifier{schema}.Sanitize()))
	if result := up(t, database, migrate.Config{Schema: schema}); result.Applied != nil {
		t.Errorf("a later Up: %+v", result)
	}
}

func leavesOthersAlone(t *testing.T, server *extensionServer) {
	server.install(t, migrate.DefaultSchema)
	database := server.database(t, "taken")
	up(t, database, migrate.Config{})
	conn := connect(t, database)
	before := identity(t, conn)
	_, err := conn.Exec(t.Context(), "create extension graphile_worker")
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "42P06" || !strings.Contains(refused.Hint, "gw-migrate") {
		t.Errorf("got %v", err)
	}
	if found := differences(before, identity(t, conn)); found != nil {
		t.Errorf("changed:\n%s", strings.Join(found, "\n"))
	}
}

// Every table and sequence is either saved by pg_dump or known to need no saving.
func savesWhatUsersPutIn(t *testing.T, server *extensionServer) {
	unsaved := []string{
		"migrations", "_gw_schema_version", "_gw_installed", "_gw_breaking_versions", // the extension brings them
		"_gw_sleepers", "_gw_turns", "_gw_claim_cursors", "_gw_claim_turn", "_gw_second_claim_turn",
		"_gw_cron_patterns", // come again by themselves
		"_gw_job_context_cursor", "_gw_step_cursor", "_gw_progress_cursor", "_gw_watch_cursor", "_gw_mends",
		"_gw_mends_id_seq", "_gw_lane_cursor",
		"_gw_cancels", "_gw_recovery", "_gw_progress", // are about workers of the server that was
		"_gw_ended", "_gw_history", // have partitions, which are saved
	}
	server.install(t, migrate.DefaultSchema)
	conn := connect(t, server.database(t, "saved"))
	execute(t, conn, "create extension graphile_worker")
	found := texts(t, conn, `
		select c.relname::text
		  from pg_class as c
		 where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind in ('r', 'p', 'S')
		   and c.oid not in (select unnest(x.extconfig) from pg_extension as x where x.extname = 'graphile_worker')`)
	if wrong := differences(unsaved, found); wrong != nil {
		t.Errorf("name it in sql/extension/dump.sql, or here:\n%s", strings.Join(wrong, "\n"))
	}
}

func survivesADump(t *testing.T, server *extensionServer) {
	server.install(t, migrate.DefaultSchema)
	if !server.hasDump(t) {
		t.Skip("this machine's pg_dump is older than the server")
	}
	from, to := server.database(t, "dumped"), server.database(t, "restored")
	conn := connect(t, from)
	execute(t, conn, "create extension graphile_worker")
	execute(t, conn, `
		select graphile_worker.add_job('greet', json_build_object('n', n), queue_name := 'q' || n % 2, job_key := 'k' || n)
		  from generate_series(1, 20) as n;
		select graphile_worker._gw_put_job_contexts(array[5, 6], array[0, 0], '{"traceparent": "x"}');
		select graphile_worker.register_worker('w', '{greet}');
		select from graphile_worker.get_job_batch('w', '{greet}', 3);
		select graphile_worker.save_step('w', id, null, 'step', '1') from graphile_worker.jobs where locked_by = 'w';
		select graphile_worker.permanently_fail_jobs('{9}', 'no');
		select graphile_worker.set_setting('notify', 'idle');
		select graphile_worker.cron_schedule('nightly', '0 4 * * *', 'greet');
		insert into graphile_worker._gw_grants (role, kind) values ('jobs', 'worker')`)
	server.copyDatabase(t, from, to)

	restored := connect(t, to)
	for _, table := range []string{
		"_private_jobs", "_private_tasks", "_private_job_queues", "_private_known_crontabs", "migrations",
		"_gw_settings", "_gw_workers", "_gw_job_context", "_gw_steps", "_gw_schedules", "_gw_grants",
		"_gw_schema_version",
	} {
		want := rows(t, conn, table)
		if len(want) == 0 {
			t.Errorf("%s: nothing in it to dump", table)
		}
		if found := differences(want, rows(t, restored, table)); found != nil &&
			table != "migrations" { // has its own times
			t.Errorf("%s:\n%s", table, strings.Join(found, "\n"))
		}
	}
	if found := differences(shape(t, conn), shape(t, restored)); found != nil {
		t.Errorf("differences:\n%s", strings.Join(found, "\n"))
	}
	if ids := texts(t, restored, `
		select (graphile_worker.add_job('new task', queue_name := 'new queue')).id::text`); !slices.Equal(ids,
		[]string{"21"}) {
		t.Errorf("the next job is %v", ids)
	}
	if told := texts(t, restored, "select d.finding from graphile_worker.doctor() as d where d.finding like '%function%'"); len(told) > 0 {
		t.Errorf("doctor() after the restore: %v", told)
	}
}

func isUpgraded(t *testing.T, server *extensionServer) {
	next := laterRelease(t)
	server.install(t, migrate.DefaultSchema)
	database, migrated := server.database(t, "old"), server.database(t, "new")
	conn := connect(t, database)
	execute(t, conn, "create extension graphile_worker; select graphile_worker.add_job('greet')")

	execute(t, connect(t, server.url), "create role jobs")
	granted := server.database(t, "granted")
	execute(t, connect(t, granted), "create extension graphile_worker")
	if _, err := newMigrator(t, granted, migrate.Config{}).Grant(t.Context(),
		migrate.Grants{Workers: []string{"jobs"}}); err != nil {
		t.Fatal(err)
	}

	_, err := newMigratorFrom(t, database, migrate.Config{}, next).Up(t.Context())
	refusal := refusalOf(t, err)
	if refusal.Reason != migrate.ReasonExtension ||
		!strings.Contains(refusal.WayOut, `alter extension "graphile_worker" update`) {
		t.Errorf("refusal %+v", refusal)
	}

	server.installFrom(t, migrate.DefaultSchema, next)
	execute(t, conn, `alter extension "graphile_worker" update`)
	execute(t, connect(t, granted), `alter extension "graphile_worker" update`)
	if may := texts(t, connect(t, granted), `
		select has_function_privilege('jobs', 'graphile_worker_api.wake_up(text)', 'execute')::text`); may[0] != "true" {
		t.Error("the update takes the rights of a role")
	}
	result, err := newMigratorFrom(t, database, migrate.Config{}, next).Up(t.Context())
	if err != nil || result.Before != available(t)+1 || result.Applied != nil {
		t.Errorf("Up after the update: %+v, %v", result, err)
	}
	if _, err := newMigratorFrom(t, migrated, migrate.Config{}, next).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := differences(shape(t, connect(t, migrated)), shape(t, conn)); found != nil {
		t.Errorf("differences:\n%s", strings.Join(found, "\n"))
	}
	if jobs := texts(t, conn, "select task_identifier from graphile_worker.jobs"); !slices.Equal(jobs,
		[]string{"greet"}) {
		t.Errorf("jobs after the update: %v", jobs)
	}
	if told := texts(t, conn, "select d.subject from graphile_worker.doctor() as d"); len(told) > 0 {
		t.Errorf("doctor() after the update: %v", told)
	}
	if !server.hasDump(t) {
		return
	}
	execute(t, conn, "insert into graphile_worker._gw_later default values")
	copied := server.database(t, "copied")
	server.copyDatabase(t, database, copied)
	if found := rows(t, connect(t, copied), "_gw_later"); !slices.Equal(found, []string{"(1)"}) {
		t.Errorf("the new table after a restore: %v", found)
	}
}

func leavesNothing(t *testing.T, server *extensionServer) {
	server.install(t, migrate.DefaultSchema)
	conn := connect(t, server.database(t, "emptied"))
	before := identity(t, conn)
	execute(t, conn, "create extension graphile_worker; select graphile_worker.add_job('greet', queue_name := 'q')")
	execute(t, conn, "drop extension graphile_worker")
	if found := differences(before, identity(t, conn)); found != nil {
		t.Errorf("left behind:\n%s", strings.Join(found, "\n"))
	}
}
