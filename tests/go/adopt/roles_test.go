package adopt_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// tableGrants are the grants that a role other than the owner needs to work with Graphile Worker's own schema. It needs no right
// to a sequence, because the ids come from identity columns.
const tableGrants = `
	grant usage on schema graphile_worker to %[1]s;
	grant select on graphile_worker.migrations to %[1]s;
	grant select, insert, update, delete on graphile_worker._private_jobs, graphile_worker._private_job_queues,
	  graphile_worker._private_tasks, graphile_worker._private_known_crontabs to %[1]s;
	grant select on graphile_worker.jobs to %[1]s`

// everyFunction calls each function that Graphile Worker has, too, through each of its branches.
const everyFunction = `
	select graphile_worker.add_job('other', '[1]', queue_name => 'other', job_key => 'a', flags => array['f'], priority => 3);
	select graphile_worker.add_job('other', '[2]', job_key => 'a', job_key_mode => 'preserve_run_at');
	select graphile_worker.add_job('other', job_key => 'a', job_key_mode => 'unsafe_dedupe');
	select graphile_worker.add_job('other', json_build_object('text', repeat('x', 3000)));
	select graphile_worker.add_jobs(array[row('other', '{}', 'q', null, null, 'b', null, array['f']),
	                                      row('another', '{}', null, null, null, null, null, null)]::graphile_worker.job_spec[]);
	select graphile_worker.add_jobs(array[row('other', '{}', null, null, null, null, null, null)]::graphile_worker.job_spec[]);
	select graphile_worker.remove_job('a');
	select graphile_worker.reschedule_jobs(array(select j.id from graphile_worker._private_jobs as j where j.key = 'b'), now());
	select graphile_worker.permanently_fail_jobs(array(select j.id from graphile_worker._private_jobs as j where j.key = 'b'));
	select graphile_worker.add_job('other', job_key => 'b');
	select graphile_worker.complete_jobs(array(select j.id from graphile_worker.jobs as j where j.task_identifier like '%other'));
	select graphile_worker.force_unlock_workers(array['pool-gone']);
	commit;
	begin isolation level repeatable read;
	select graphile_worker.add_job('other', job_key => 'c');
	rollback`

// Producers and a Node worker with a role other than the owner keep working during the adoption and after it.
func TestRolesBesideTheOwnerGoOnThroughAnAdoption(t *testing.T) {
	for _, c := range []struct{ name, access string }{
		{"a role that bypasses row security", `alter role %[1]s bypassrls`},
		{"a role with policies", `
			create policy app on graphile_worker._private_jobs to %[1]s using (true) with check (true);
			create policy app on graphile_worker._private_job_queues to %[1]s using (true) with check (true);
			create policy app on graphile_worker._private_tasks to %[1]s using (true) with check (true);
			create policy app on graphile_worker._private_known_crontabs to %[1]s using (true) with check (true)`},
		{"where nobody may call a new function", `
			alter role %[1]s bypassrls;
			alter default privileges revoke execute on functions from public`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			database := pgtest.EmptyDatabase(t)
			pool := pgtest.Pool(t, database)
			role := pgtest.Role(t, pool)
			nodegw.Migrate(t, nodegw.V18, database, "")
			execute(t, pool, fmt.Sprintf("alter role %[1]s login;"+tableGrants+";"+c.access, role))
			execute(t, pool, fmt.Sprintf("create table done (n integer, worker text); grant all on done to %s", role))
			app := pgtest.Pool(t, asRole(t, database, role))
			execute(t, app, everyFunction)
			worker := nodegw.Start(t, nodegw.Options{
				DatabaseURL: asRole(t, database, role), Concurrency: 2, PollInterval: 50 * time.Millisecond,
				Tasks: map[string]string{"note": `await helpers.query("insert into done (n, worker) values ($1, 'node')", [payload.n])`},
			})
			producers := startProducers(t, app)
			pgtest.Await(t, pool, "select count(*) > 50 from done")

			up(t, database, migrate.Config{Adopt: true})

			execute(t, app, everyFunction)
			execute(t, pool, "select graphile_worker.set_limit('limit', '{other}', max_running => 1)") // producers ask whether one applies
			execute(t, app, everyFunction)
			execute(t, pool, `
				select graphile_worker.add_job('other', job_key => 'b', queue_name => 'q');
				insert into graphile_worker._gw_suspects (job_id, queue_name) select j.id, 'q' from graphile_worker._private_jobs as j where j.key = 'b';
				update graphile_worker._private_jobs set job_queue_id = -2 where key = 'b'`)
			execute(t, app, "select graphile_worker.reschedule_jobs(array(select j.id from graphile_worker._private_jobs as j where j.key = 'b'))")
			execute(t, app, everyFunction)
			pgtest.Await(t, pool, "select count(*) > $1 from done", producers.count()+50)
			total := producers.stop()
			pgtest.Await(t, pool, "select not exists (select from graphile_worker._private_jobs)")
			worker.Stop()
			eachOnce(t, pool, total)
			if output := worker.Output(); strings.Contains(output, "ERROR") || strings.Contains(output, "Failed task") {
				t.Errorf("Node complains: %s", output)
			}
			status, err := migrator(t, database, migrate.Config{}).Status(t.Context())
			if err != nil || len(status.Warnings) > 0 || len(status.Roles) != 1 || status.Roles[0].Name != role ||
				strings.Join(status.Roles[0].Privileges, " ") != "delete insert select update" {
				t.Errorf("status: %+v, %v", status, err)
			}
			if found := texts(t, pool, "select d.subject from graphile_worker.doctor() as d where d.finding = 'role without rights'"); len(found) > 0 {
				t.Errorf("the doctor says: %q", found)
			}
		})
	}
}

// A role subject to row security has policies for the tables of Graphile Worker, and none for ours.
func TestARoleWithPoliciesGoesByTheSettings(t *testing.T) {
	database, role := adoptedWithRole(t, `
		create policy app on graphile_worker._private_jobs to %[1]s using (true) with check (true);
		create policy app on graphile_worker._private_tasks to %[1]s using (true) with check (true)`)
	execute(t, pgtest.Pool(t, database), "select graphile_worker.set_setting('max_payload', '1048576')")
	_, err := pgtest.Pool(t, asRole(t, database, role)).Exec(t.Context(),
		"select graphile_worker.add_job('a', json_build_object('text', repeat('x', 2000000)))")
	if err == nil || !strings.Contains(err.Error(), "GWBPL") {
		t.Errorf("a payload of two megabytes: %v", err)
	}
}

func TestTheCommandsNameRolesBesideTheOwner(t *testing.T) {
	pgtest.OnOneVersion(t)
	gwMigrate := pgtest.Program(t, "gw-migrate")
	database := pgtest.EmptyDatabase(t)
	pool := pgtest.Pool(t, database)
	role, late := pgtest.Role(t, pool), pgtest.Role(t, pool)
	nodegw.Migrate(t, nodegw.V18, database, "")
	execute(t, pool, fmt.Sprintf("alter role %[1]s login bypassrls;"+tableGrants, role))

	run(t, gwMigrate, database, []string{"status"}, 0,
		"role       "+role+": delete, insert, select, update on _private_jobs")
	run(t, gwMigrate, database, []string{"--dry-run"}, 0, "would grant role "+role+" the rights")
	run(t, gwMigrate, database, nil, 0, "grant role "+role+" the rights")

	execute(t, pool, fmt.Sprintf("alter role %[1]s login bypassrls;"+tableGrants, late))
	remedy := "grant select on table graphile_worker._gw_settings to " + late
	run(t, gwMigrate, database, []string{"status"}, 0, "warning    role "+late+" lacks rights", "run: "+remedy)
	remedies := texts(t, pool, "select split_part(d.remedy, ' with: ', 2) from graphile_worker.doctor() as d where d.finding = 'role without rights'")
	if len(remedies) != 1 || !strings.HasPrefix(remedies[0], remedy) {
		t.Fatalf("the doctor says: %q", remedies)
	}
	execute(t, pool, remedies[0])
	execute(t, pgtest.Pool(t, asRole(t, database, late)), everyFunction)
}

// gw-migrate grants revokes the rights of PUBLIC in the schema. A role keeps the rights that it was granted by name, and the
// additional ones that it needs.
func TestRolesBesideTheOwnerGoOnAfterGrantsToOthers(t *testing.T) {
	database, role := adoptedWithRole(t, "alter role %[1]s bypassrls")
	pool := pgtest.Pool(t, database)
	monitor := pgtest.Role(t, pool)
	m := migrator(t, database, migrate.Config{})
	app := pgtest.Pool(t, asRole(t, database, role))
	if _, err := m.Grant(t.Context(), migrate.Grants{Monitors: []string{monitor}}); err != nil {
		t.Fatal(err)
	}
	execute(t, app, everyFunction)
	if _, err := m.Revoke(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, app, everyFunction)

	printed, err := m.GrantSQL(t.Context(), migrate.Grants{Monitors: []string{monitor}})
	if err != nil {
		t.Fatal(err)
	}
	execute(t, pool, "begin;"+printed+"commit")
	execute(t, app, everyFunction)
	if _, err := m.Revoke(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Such a role is granted no more rights than the functions need.
func TestARoleBesideTheOwnerGetsNoOtherRights(t *testing.T) {
	database, role := adoptedWithRole(t, "alter role %[1]s bypassrls")
	got := texts(t, pgtest.Pool(t, database), `
		select format('%s on %s', x.privilege_type, c.relname)
		  from pg_class as c
		 cross join aclexplode(c.relacl) as x
		 where c.relnamespace = 'graphile_worker'::regnamespace and x.grantee = $1::regrole
		   and c.relname not like '\_private\_%' and c.relname not in ('migrations', 'jobs')
		 union all
		select format('%s on %s', x.privilege_type, p.proname)
		  from pg_proc as p
		 cross join aclexplode(p.proacl) as x
		 where p.pronamespace = 'graphile_worker'::regnamespace and x.grantee = $1::regrole
		 order by 1`, role)
	want := []string{"INSERT on _gw_audit", "SELECT on _gw_audit", "SELECT on _gw_settings", "SELECT on _gw_sleepers",
		"UPDATE on _gw_audit",
		"USAGE on jobs_id_seq1"}
	if !slices.Equal(got, want) {
		t.Errorf("it was given %q", got)
	}
}

// adoptedWithRole returns an adopted database and a role that worked on Graphile Worker's tables before.
func adoptedWithRole(t *testing.T, access string) (database, role string) {
	t.Helper()
	database = pgtest.EmptyDatabase(t)
	pool := pgtest.Pool(t, database)
	role = pgtest.Role(t, pool)
	nodegw.Migrate(t, nodegw.V18, database, "")
	execute(t, pool, fmt.Sprintf("alter role %[1]s login;"+tableGrants+";"+access, role))
	up(t, database, migrate.Config{Adopt: true})
	return database, role
}

// asRole returns the database's URL for a role, which needs no password.
func asRole(t *testing.T, database, role string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(role)
	return u.String()
}

// If new functions are not executable by PUBLIC, such a role is granted those that the functions of Graphile Worker call, but for
// what a security definer function calls with the rights of its owner.
func TestTheFunctionsThatGraphileWorkersCallAreTheOnesThatRolesGet(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	called := func(name string) []string {
		return texts(t, pool, `
			select o.proname::text
			  from pg_proc as p
			  join pg_proc as o on o.pronamespace = p.pronamespace and p.prosrc ~ ('graphile_worker"?\.' || o.proname || '\(')
			 where p.pronamespace = 'graphile_worker'::regnamespace and p.proname = $1 and not p.prosecdef
			 order by 1`, name)
	}
	left := []string{"add_job", "add_jobs", "remove_job", "complete_jobs", "permanently_fail_jobs", "reschedule_jobs",
		"force_unlock_workers"}
	var reached []string
	for ; len(left) > 0; left = left[1:] {
		for _, name := range called(left[0]) {
			if !slices.Contains(reached, name) {
				reached = append(reached, name)
				left = append(left, name)
			}
		}
	}
	slices.Sort(reached)

	role := pgtest.Role(t, pool)
	execute(t, pool, "revoke execute on all functions in schema graphile_worker from public; grant insert on graphile_worker._private_jobs to "+role)
	got := texts(t, pool, `
		select substring(l.right_to from '^execute on function graphile_worker\.(\w+)')
		  from graphile_worker._gw_direct_roles() as d
		 cross join unnest(d.lacks) as l (right_to)
		 where l.right_to like 'execute%'
		 order by 1`)
	if !slices.Equal(got, reached) {
		t.Errorf("roles get %q\nand need %q", got, reached)
	}
}
