package neighbours

import (
	"strings"
	"testing"
)

// apiMark is the comment by which gw-migrate recognizes its schema for roles.
const apiMark = "What roles may do with the queue in schema graphile_worker; made by gw-migrate grants."

func TestASchemaForRolesThatSomebodyElseHasMadeIsRefused(t *testing.T) {
	s := newStreet(t, true)
	s.mustRun("gw-migrate")
	s.as(s.mallory, "create schema graphile_worker_api", "comment on schema graphile_worker_api is '"+apiMark+"'")
	s.isRefused(s.mallory, "gw-migrate", "grants", "--producer", s.mallory)
	s.isRefused(s.mallory, "gw-migrate")
	if output, _ := s.run("gw-migrate", "status"); !strings.Contains(output, s.mallory) {
		t.Errorf("status does not report it: %s", output)
	}
	s.as(s.mallory, "drop schema graphile_worker_api")
	s.mustRun("gw-migrate")
}

// A superuser is a member of every role, but must not trust all of them.
func TestASchemaForRolesThatSomebodyElseHasMadeIsRefusedToASuperuser(t *testing.T) {
	s := newStreet(t, true)
	if output, err := s.runAs("", "gw-migrate"); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	s.as(s.mallory, "create schema graphile_worker_api", "comment on schema graphile_worker_api is '"+apiMark+"'")
	s.isRefusedTo("", s.mallory, "gw-migrate", "grants", "--producer", s.victim)
}

func TestNothingOfTheNeighboursIsReadInAHostileSchema(t *testing.T) {
	policy := `create policy p on graphile_worker.%s using (public.lure(true))`
	lure := `create function public.lure(boolean) returns boolean language plpgsql as
	         $$ begin perform public.mark('lure'); return true; end $$`
	secured := func(table string) []string {
		return []string{
			lure, strings.ReplaceAll(policy, "%s", table),
			"alter table graphile_worker." + table + " enable row level security",
		}
	}
	open := []string{"grant all on schema graphile_worker to public",
		"grant all on all tables in schema graphile_worker to public"}
	for name, attack := range map[string][]string{
		"a version table with a policy": append([]string{
			"create table graphile_worker._gw_schema_version (version integer)",
			"insert into graphile_worker._gw_schema_version values (4)",
		}, secured("_gw_schema_version")...),
		"a ledger with a policy": append([]string{
			"create table graphile_worker.migrations (id integer, ts timestamptz default now(), breaking boolean)",
			"create table graphile_worker._private_jobs (id bigint)",
			"insert into graphile_worker.migrations values (18)",
		}, secured("migrations")...),
		"a ledger with a cast": {
			"create type public.trap as (a integer)",
			`create function public.told(public.trap) returns json language plpgsql as
			 $$ begin perform public.mark('cast'); return '{}'; end $$`,
			"create cast (public.trap as json) with function public.told(public.trap)",
			"create table graphile_worker.migrations (id integer, ts timestamptz default now(), breaking boolean, trap public.trap)",
			"create table graphile_worker._private_jobs (id bigint)",
			"insert into graphile_worker.migrations values (18, now(), false, row(1))",
		},
		"a view in place of the version table": {
			lure, "create view graphile_worker._gw_schema_version as select 4 as version where public.lure(true)",
		},
		"nothing in it": nil,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStreet(t, true)
			s.as(s.mallory, append(append([]string{"create schema graphile_worker"}, attack...), open...)...)
			s.isRefused(s.mallory, "gw-migrate")
			s.isRefused(s.mallory, "gw-run", "--schema-only")
			for _, role := range []string{s.victim, ""} {
				output, _ := s.runAs(role, "gw-migrate", "status")
				if strings.Contains(output, "mark of the neighbour") {
					t.Errorf("status as %q: %s", role, output)
				}
			}
			s.isUnharmed()
		})
	}
}

// The neighbour installs a correct queue, grants it to all roles, and then changes a function.
func TestAQueueThatTheNeighbourHasInstalledIsRefused(t *testing.T) {
	s := newStreet(t, true)
	if output, err := s.runAs(s.mallory, "gw-migrate"); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	s.as(s.mallory, "grant all on schema graphile_worker to public",
		"grant all on all tables in schema graphile_worker to public",
		`create or replace function graphile_worker._gw_breaking_revision() returns integer language plpgsql as
		 $$ begin perform public.mark('function'); return 0; end $$`)
	s.isRefused(s.mallory, "gw-run", "--schema-only")
	s.isRefused(s.mallory, "gw-migrate", "repair")
}
