package migrate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestEveryFunctionAndTriggerOfAnInstallIsKnownAsOurs(t *testing.T) {
	for _, schema := range []string{migrate.DefaultSchema, `Odd "name" $$ it's 100% (x)`,
		"$$ $gw$ {{.schema}}\nnew line"} {
		database := pgtest.EmptyDatabase(t)
		up(t, database, migrate.Config{Schema: schema})
		status, err := newMigrator(t, database, migrate.Config{Schema: schema}).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if changed := status.Changed(); len(changed) > 0 {
			t.Errorf("schema %q: %v", schema, changed)
		}
		conn := connect(t, database)
		if told := texts(t, conn, "select d.subject from "+pgx.Identifier{schema,
			"doctor"}.Sanitize()+"() as d"); len(told) > 0 {
			t.Errorf("schema %q: doctor() tells of %q", schema, told)
		}
		there := texts(t, conn, `
			select p.proname::text from pg_proc as p where p.pronamespace = (select n.oid from pg_namespace as n where n.nspname = $1)
			union all
			select g.tgname::text
			  from pg_trigger as g join pg_class as c on c.oid = g.tgrelid join pg_namespace as n on n.oid = c.relnamespace
			 where n.nspname = $1 and not g.tgisinternal`, schema)
		if len(there) != len(status.Objects) {
			t.Errorf("schema %q has %d functions and triggers, %d are known", schema, len(there), len(status.Objects))
		}
	}
}

func TestWhatIsNotOursIsNamedAndPutBack(t *testing.T) {
	database := pgtest.Database(t)
	conn := connect(t, database)
	before := shape(t, conn)
	const freed = "create trigger _gw_queue_freed after update of locked_at on graphile_worker._private_job_queues for each row "
	for _, c := range []struct {
		name, change string
		object       string
		origin       migrate.Origin
	}{
		{
			"another body",
			"do $$ begin execute replace(pg_get_functiondef('graphile_worker.backoff'::regproc), '10', '11'); end $$",
			"function backoff(integer)", migrate.Unknown,
		},
		{
			"another language", `create or replace function graphile_worker.complete_jobs(job_ids bigint[])
			  returns setof graphile_worker._private_jobs language plpgsql as 'begin end'`,
			"function complete_jobs(bigint[])", migrate.Unknown,
		},
		{"a function is gone", "drop function graphile_worker.remove_job", "function remove_job(text)",
			migrate.Missing},
		{
			"a trigger is gone", "drop trigger _gw_queue_freed on graphile_worker._private_job_queues",
			"trigger _gw_queue_freed on _private_job_queues", migrate.Missing,
		},
		{
			"a trigger is off", "alter table graphile_worker._private_job_queues disable trigger _gw_queue_freed",
			"trigger _gw_queue_freed on _private_job_queues", migrate.Unknown,
		},
		{
			"a trigger has another condition", "drop trigger _gw_queue_freed on graphile_worker._private_job_queues; " +
				freed +
				"when (old.locked_at is null) execute function graphile_worker._gw_queue_freed()",
			"trigger _gw_queue_freed on _private_job_queues", migrate.Unknown,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			execute(t, conn, c.change)
			kind, name, _ := strings.Cut(c.object, " ")
			want := []migrate.Object{{Kind: migrate.Kind(kind), Name: name, Origin: c.origin}}
			var steps []migrate.Object
			m := newMigrator(t, database, migrate.Config{OnStep: func(s migrate.Step) {
				steps = append(steps,
					s.Object)
			}})

			status, err := m.Status(t.Context())
			if err != nil || status.State != migrate.Current || !slices.Equal(status.Changed(), want) ||
				len(status.Warnings) != 1 {
				t.Errorf("status: %v, warnings %q, %v", status.Changed(), status.Warnings, err)
			}
			if got := told(t, conn); !slices.Equal(got, []string{c.object}) {
				t.Errorf("doctor() tells of %q", got)
			}
			repaired, err := m.Repair(t.Context())
			if err != nil || !slices.Equal(repaired.Replaced, want) || !slices.Equal(steps, want) ||
				len(repaired.Left) > 0 {
				t.Errorf("repair: %+v, steps %v, %v", repaired, steps, err)
			}
			if found := differences(before, shape(t, conn)); found != nil {
				t.Errorf("afterwards: %v", found)
			}
			if got := told(t, conn); len(got) > 0 {
				t.Errorf("afterwards doctor() tells of %q", got)
			}
		})
	}
}

// told returns the functions and triggers that doctor() reports, in the form of [migrate.Object].
func told(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	return texts(t, conn, `
		select replace(d.subject, 'graphile_worker.', '')
		  from graphile_worker.doctor() as d
		 where d.finding in ('replaced function', 'overloaded function')`)
}

// Otherwise doctor() would report users' changes of their own functions.
func TestAnAdoptionRemembersOnlyWhatItMakes(t *testing.T) {
	database := graphile(t, 20)
	conn := connect(t, database)
	execute(t, conn, "create function graphile_worker.mine() returns void language sql as ''")
	up(t, database, migrate.Config{Adopt: true})
	recorded := texts(t, conn, "select i.object from graphile_worker._gw_installed as i order by i.object")
	if slices.Contains(recorded, "function graphile_worker.mine()") {
		t.Error("it remembers a function that was there")
	}
	if !slices.Contains(recorded, "function graphile_worker.remove_job(text)") {
		t.Error("it does not remember a function that it replaced")
	}
}

func TestAnOverloadOfASharedFunctionIsReportedAndLeft(t *testing.T) {
	database := pgtest.Database(t)
	conn := connect(t, database)
	execute(t, conn, `create function graphile_worker.add_job(identifier text, priority smallint) returns void language sql as ''`)
	before := identity(t, conn)
	want := []migrate.Object{{Kind: migrate.Function, Name: "add_job(text, smallint)", Origin: migrate.Unknown}}
	if got := told(t, conn); !slices.Equal(got, []string{"function add_job(text,smallint)"}) {
		t.Errorf("doctor() tells of %q", got)
	}
	repaired, err := newMigrator(t, database, migrate.Config{}).Repair(t.Context())
	if err != nil || repaired.Replaced != nil || !slices.Equal(repaired.Left, want) {
		t.Errorf("got %+v, %v", repaired, err)
	}
	if changed := differences(before, identity(t, conn)); changed != nil {
		t.Errorf("changed: %v", changed)
	}
}

func TestRepairIsAllOrNothing(t *testing.T) {
	pgtest.OnOneVersion(t)
	database := pgtest.Database(t)
	conn := connect(t, database)
	execute(t, conn, `
		drop function graphile_worker.backoff;
		drop trigger _gw_queue_freed on graphile_worker._private_job_queues`)
	before := identity(t, conn)
	holder := connect(t, database)
	execute(t, holder, "begin; lock table graphile_worker._private_job_queues in row exclusive mode")
	m := newMigrator(t, database, migrate.Config{LockTimeout: shortLockTimeout})

	_, err := m.Repair(t.Context())
	if err == nil || !strings.Contains(err.Error(), "nothing is changed; another session holds the lock") {
		t.Errorf("got %v", err)
	}
	if changed := differences(before, identity(t, conn)); changed != nil {
		t.Errorf("changed: %v", changed)
	}
	execute(t, holder, "rollback")
	if repaired, err := m.Repair(t.Context()); err != nil || len(repaired.Replaced) != 2 {
		t.Errorf("got %+v, %v", repaired, err)
	}
}

func TestRepairTouchesOnlyWhatIsOurs(t *testing.T) {
	role := newRole(t)
	for _, c := range []struct {
		name     string
		database func(t *testing.T) string
		reason   migrate.Reason
	}{
		{"nothing", func(t *testing.T) string { return pgtest.EmptyDatabase(t) }, migrate.ReasonAbsent},
		{"Graphile Worker's schema", func(t *testing.T) string { return graphile(t, 20) }, migrate.ReasonAbsent},
		{"half of ours", func(t *testing.T) string {
			return changed(t, "drop table graphile_worker._private_tasks cascade")
		}, migrate.ReasonHalfMade},
		{"ours after a breaking revision", func(t *testing.T) string {
			return changed(t, "drop function graphile_worker.backoff; insert into graphile_worker.migrations (id, breaking) values (21, true)")
		}, migrate.ReasonGraphile},
		{"of another role", func(t *testing.T) string {
			return as(t, changed(t, "grant usage on schema graphile_worker to "+role+
				"; grant select on all tables in schema graphile_worker to "+role), role, "")
		}, migrate.ReasonOwner},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newMigrator(t, c.database(t), migrate.Config{Adopt: true}).Repair(t.Context())
			if refusal := refusalOf(t, err); refusal.Reason != c.reason {
				t.Errorf("reason %q: %v", refusal.Reason, err)
			}
		})
	}
}

// changed returns the URL of a database with our schema, changed by statements.
func changed(t *testing.T, statements string) string {
	t.Helper()
	database := pgtest.Database(t)
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, conn, statements)
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return database
}
