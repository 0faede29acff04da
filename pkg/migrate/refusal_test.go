package migrate_test

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestWhatIsNotOursIsRefusedAndStaysAsItIs(t *testing.T) {
	pgtest.OnOneVersion(t)
	const schema = "create schema graphile_worker; "
	const graphile = schema + `
		create table graphile_worker.migrations (id integer primary key, ts timestamptz not null default now(),
		                                         breaking boolean not null default false);
		create table graphile_worker._private_jobs (id bigint);
		create table graphile_worker._private_tasks (id bigint);`
	for _, c := range []struct {
		name, setup string
		install     bool // before the setup
		state       migrate.State
		reason      migrate.Reason
		message     []string
	}{
		{
			name: "tables and functions of somebody else",
			setup: schema + `create table graphile_worker.a ();
				create function graphile_worker.f() returns int language sql as 'select 1'`,
			state:   migrate.Foreign,
			reason:  migrate.ReasonForeign,
			message: []string{"table graphile_worker.a", "function graphile_worker.f()", "choose another schema"},
		},
		{
			name: "a type, and more than can be listed",
			setup: schema + `create type graphile_worker.e as enum ();
				do 'begin for i in 1..6 loop execute ''create sequence graphile_worker.s'' || i; end loop; end'`,
			state:  migrate.Foreign,
			reason: migrate.ReasonForeign, message: []string{"and 2 more"},
		},
		{
			name:   "a ledger of another tool",
			setup:  schema + "create table graphile_worker.jobs (); create table graphile_worker.migrations (name text)",
			state:  migrate.Foreign,
			reason: migrate.ReasonForeign, message: []string{"table migrations that is not Graphile Worker's"},
		},
		{
			name:   "Graphile Worker's schema",
			setup:  graphile + "insert into graphile_worker.migrations (id) select generate_series(1, 18)",
			state:  migrate.Graphile,
			reason: migrate.ReasonGraphile, message: []string{"revision 18", "another schema"},
		},
		{
			name:   "Graphile Worker's schema with an empty ledger",
			setup:  graphile,
			state:  migrate.HalfMade,
			reason: migrate.ReasonHalfMade, message: []string{"nothing in its table migrations"},
		},
		{
			name:    "ours without its version",
			install: true, setup: "drop table graphile_worker._gw_schema_version",
			state:  migrate.HalfMade,
			reason: migrate.ReasonHalfMade, message: []string{"no table _gw_schema_version",
				`drop schema "graphile_worker" cascade`},
		},
		{
			name:    "ours with no version in its table",
			install: true, setup: "delete from graphile_worker._gw_schema_version",
			state:  migrate.HalfMade,
			reason: migrate.ReasonHalfMade, message: []string{"holds [] instead of one version"},
		},
		{
			name:    "ours with a table missing",
			install: true, setup: "drop table graphile_worker._private_known_crontabs",
			state:  migrate.HalfMade,
			reason: migrate.ReasonHalfMade, message: []string{"no table _private_known_crontabs"},
		},
		{
			name: "version 0 with something in it",
			setup: schema + `create table graphile_worker._gw_schema_version as select 0 as version;
				create table graphile_worker.a ()`,
			state:  migrate.HalfMade,
			reason: migrate.ReasonHalfMade, message: []string{"at version 0", "table graphile_worker.a"},
		},
		{
			name:    "a newer schema that breaks this program",
			install: true, setup: `update graphile_worker._gw_schema_version set version = 99;
				insert into graphile_worker._gw_breaking_versions values (98)`,
			state:  migrate.Newer,
			reason: migrate.ReasonNewer, message: []string{"version 99", "version 98 is marked as breaking", "later"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			database := pgtest.EmptyDatabase(t)
			if c.install {
				up(t, database, migrate.Config{})
			}
			conn := connect(t, database)
			execute(t, conn, c.setup)
			before := identity(t, conn)

			m := newMigrator(t, database, migrate.Config{})
			_, err := m.Up(t.Context())
			refusal := refusalOf(t, err)
			if refusal.Reason != c.reason {
				t.Errorf("reason %q", refusal.Reason)
			}
			for _, want := range c.message {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("message without %q: %v", want, err)
				}
			}
			if changed := differences(before, identity(t, conn)); changed != nil {
				t.Errorf("changed: %v", changed)
			}
			if status, err := m.Status(t.Context()); err != nil || status.State != c.state || status.Refusal == nil {
				t.Errorf("status: %s, %v, %v", status.State, status.Refusal, err)
			}
		})
	}
}

func TestARoleThatMayNotCreateTheSchemaIsRefusedUntilItIsCreatedForIt(t *testing.T) {
	role := newRole(t)
	database := pgtest.EmptyDatabase(t)
	conn := connect(t, database)
	before := identity(t, conn)

	m := newMigrator(t, as(t, database, role, ""), migrate.Config{})
	_, err := m.Up(t.Context())
	refusal := refusalOf(t, err)
	if refusal.Reason != migrate.ReasonPrivilege {
		t.Errorf("refused for %q", refusal.Reason)
	}
	if changed := differences(before, identity(t, conn)); changed != nil {
		t.Errorf("changed: %v", changed)
	}

	_, wayOut, _ := strings.Cut(refusal.WayOut, ": ")
	execute(t, conn, wayOut)
	if _, err := m.Up(t.Context()); err != nil {
		t.Errorf("after %s: %v", wayOut, err)
	}
}

func TestASchemaOfAnotherRoleIsRefusedUntilTheRoleIsSet(t *testing.T) {
	owner, member, stranger := newRole(t), newRole(t), newRole(t)
	database := pgtest.EmptyDatabase(t)
	conn := connect(t, database)
	execute(t, conn, "grant "+owner+" to "+member+"; create schema graphile_worker authorization "+owner)
	before := identity(t, conn)

	for _, role := range []string{"", member, stranger} {
		_, err := newMigrator(t, as(t, database, role, ""), migrate.Config{}).Up(t.Context())
		refusal := refusalOf(t, err)
		if refusal.Reason != migrate.ReasonOwner || !strings.Contains(refusal.WayOut, "PGOPTIONS='-c role="+owner+"'") {
			t.Errorf("as %q: %v", role, err)
		}
	}
	if changed := differences(before, identity(t, conn)); changed != nil {
		t.Errorf("changed: %v", changed)
	}

	up(t, as(t, database, member, "-c role="+owner), migrate.Config{})
	owners := texts(t, conn, `
		select distinct c.relowner::regrole::text
		  from pg_class as c
		 where c.relnamespace = 'graphile_worker'::regnamespace`)
	if len(owners) != 1 || owners[0] != owner {
		t.Errorf("owners: %v", owners)
	}
	_, err := newMigrator(t, as(t, database, stranger, ""), migrate.Config{}).Up(t.Context())
	if refusal := refusalOf(t, err); refusal.Reason != migrate.ReasonOwner {
		t.Errorf("a stranger who may not even look: %v", err)
	}
}

func TestAReadOnlySessionIsRefused(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	conn := connect(t, database)
	before := identity(t, conn)
	m := newMigrator(t, as(t, database, "", "-c default_transaction_read_only=on"), migrate.Config{})

	_, err := m.Up(t.Context())
	if refusal := refusalOf(t, err); refusal.Reason != migrate.ReasonReadOnly {
		t.Errorf("up: %v", err)
	}
	if status, err := m.Check(t.Context()); err != nil || status.Refusal == nil ||
		status.Refusal.Reason != migrate.ReasonReadOnly {
		t.Errorf("check: %v, %v", status.Refusal, err)
	}
	if status, err := m.Status(t.Context()); err != nil || status.State != migrate.Absent {
		t.Errorf("status: %s, %v", status.State, err)
	}
	if changed := differences(before, identity(t, conn)); changed != nil {
		t.Errorf("changed: %v", changed)
	}
}
