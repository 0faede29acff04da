package grants

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/tests/go/nodegw"
)

const oddSchema = `Odd "name" it's 100%`

func TestEachRoleMayDoWhatItsKindDoesAndNothingElse(t *testing.T) {
	for _, schema := range []string{"graphile_worker", oddSchema} {
		t.Run(schema, func(t *testing.T) {
			t.Parallel()
			q := newQueue(t, schema, nil)
			q.grant()
			q.wantPrivileges("graphile_worker_api and nothing else")
		})
	}
}

func TestDefaultPrivilegesThatGrantTooMuchGiveNobodyMore(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", func(q *queue) {
		for _, to := range []string{"public", "{producer}", "{monitor}", "{limited}"} {
			q.exec("alter default privileges grant all on functions to " + to)
			q.exec("alter default privileges grant all on tables to " + to)
			q.exec("alter default privileges grant all on sequences to " + to)
			q.exec("alter default privileges grant all on schemas to " + to)
		}
	})
	q.grant()
	q.wantPrivileges("with default privileges for everybody")

	// Rights of a role without grants of the queue are reported, not revoked.
	q.exec("alter default privileges grant all on functions to {bystander}")
	q.exec("alter default privileges grant all on schemas to {bystander}")
	q.exec("grant select on S.jobs to {bystander}")
	if _, err := q.migrator().Revoke(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := q.migrator().Grant(t.Context(), q.limited()); err != nil {
		t.Fatal(err)
	}
	done, err := q.migrator().Grant(t.Context(), q.everybody())
	if err != nil || !slices.Equal(done.Others, []string{q.roles["bystander"]}) {
		t.Errorf("others: %q, %v", done.Others, err)
	}
	q.exec("revoke select on S.jobs from {bystander}")
	q.wantPrivileges("with default privileges for a stranger")
}

func TestWhatIsMadeAnewIsClosedAgain(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", nil)
	q.grant()

	for _, definition := range q.lines(`
		select pg_get_functiondef(p.oid) from pg_proc as p where p.pronamespace in ('S'::regnamespace, 'API'::regnamespace)`) {
		q.exec(definition)
	}
	q.wantPrivileges("after every function was replaced by itself")

	// The end of every migration, after rights were granted by hand.
	q.exec(`
		grant all on all functions in schema "graphile_worker_api" to public, {producer}, {bystander};
		grant all on all tables in schema "graphile_worker_api" to public, {monitor};
		grant all on schema "graphile_worker_api" to public, {worker};
		grant all on all tables in schema "graphile_worker" to public, {monitor};
		grant all on all functions in schema "graphile_worker" to public;
		grant usage on schema "graphile_worker" to public;
		drop view API.jobs; drop function API.enqueue;
		create function API.loophole() returns text language sql security definer as 'select current_user::text'`)
	if _, err := q.poolAs("owner").Exec(t.Context(), q.text("select S._gw_finish_migration()")); err != nil {
		t.Fatal(err)
	}
	q.wantPrivileges("after a migration")
}

func TestNodesOwnFunctionsOverOursOpenNothing(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", nil)
	q.grant()
	q.exec("delete from S.migrations where id = 20")
	nodegw.Migrate(t, nodegw.V18, q.as("owner"), "")
	status, err := q.migrator().Status(t.Context())
	if err != nil || len(status.Changed()) != 2 {
		t.Fatalf("changed: %v, %v", status.Changed(), err)
	}
	// Drop and create a function, as a migration of Node that changes its arguments would: PUBLIC may call it then, and it runs with
	// the rights of the caller.
	definition := q.lines("select pg_get_functiondef(p.oid) from pg_proc as p where p.pronamespace = 'S'::regnamespace and p.proname = 'add_job'")
	q.exec("drop function S.add_job")
	q.exec(definition[0])
	if got := q.roleLines("S", "function"); len(got) == 0 {
		t.Error("PUBLIC may call no function: this test would check nothing")
	}
	if got := q.effective("S"); len(got) > 0 {
		t.Errorf("can be used: %q", got)
	}
	producer := q.poolAs("producer")
	q.refused(producer, "42501", "select S.add_job('task')")
	q.execAs(producer, "select API.enqueue('task')")

	repaired, err := q.migrator().Repair(t.Context())
	if err != nil || len(repaired.Replaced) != 2 {
		t.Fatalf("repaired: %+v, %v", repaired, err)
	}
	q.wantPrivileges("after the repair")
	q.execAs(producer, "select API.enqueue('task')")
	if n := pgtest.Value[int64](t, q.pool, "select count(*) from graphile_worker.jobs"); n != 2 {
		t.Errorf("%d jobs", n)
	}
}

// wantPrivileges compares the server's catalogue with testdata/privileges.txt, which lists for each function and view in the roles'
// schema the roles that may use it. In the queue's own schema only the owner may have rights.
func (q *queue) wantPrivileges(when string) {
	q.t.Helper()
	const golden = "testdata/privileges.txt"
	got := strings.Join(q.effective("API"), "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			q.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		q.t.Fatal(err)
	}
	if got != string(want) {
		q.t.Errorf("%s, want:\n%s\ngot:\n%s", when, want, got)
	}
	for _, kind := range []string{"schema", "function", "relation", "column"} {
		if got := q.roleLines("S", kind); len(got) > 0 {
			q.t.Errorf("%s, in the queue's own schema: %q", when, got)
		}
	}
	if got := q.roleLines("API", "schema"); !slices.Equal(got, []string{
		"usage: admin, limited, monitor, producer, scheduler, worker",
	}) {
		q.t.Errorf("%s, on the schema: %q", when, got)
	}
	if got := q.lines(`
		select p.proname::text
		  from pg_proc as p
		 where p.pronamespace = 'API'::regnamespace
		   and p.prokind <> 'p' -- wait_for_job commits, so it can have neither, and begins each transaction with its search_path
		   and (p.prosecdef = (p.proname = '_gw_enqueue_jobs') or pg_get_userbyid(p.proowner) <> current_user or p.proconfig is distinct from '{"search_path=pg_catalog, pg_temp"}')`,
	); len(got) > 0 {
		q.t.Errorf("%s: without the right owner rights, or without a search_path: %q", when, got)
	}
}

// effective returns the objects that roles may use: those to which they have rights, in schemas that they may use.
func (q *queue) effective(schema string) []string {
	q.t.Helper()
	var found []string
	usage := strings.Join(q.roleLines(schema, "schema"), "")
	for _, kind := range []string{"function", "relation"} {
		for _, line := range q.roleLines(schema, kind) {
			thing, roles, _ := strings.Cut(line, ": ")
			may := slices.DeleteFunc(strings.Split(roles, ", "),
				func(role string) bool { return !strings.Contains(usage, role) })
			if len(may) > 0 {
				found = append(found, thing+": "+strings.Join(may, ", "))
			}
		}
	}
	return found
}

// roleLines returns the rights of roles other than the owner to objects of a kind: "right object: role, role".
func (q *queue) roleLines(schema, kind string) []string {
	q.t.Helper()
	things := map[string]string{
		"schema": `
			select r.right, r.kind
			  from (select k.*, p.right
			          from pg_temp_kinds as k cross join unnest(array['usage', 'create']) as p (right)) as r
			 where has_schema_privilege(r.name, 'NS'::regnamespace, r.right)`,
		"function": `
			select 'execute ' || p.proname, k.kind
			  from pg_temp_kinds as k
			  join pg_proc as p on p.pronamespace = 'NS'::regnamespace
			 where has_function_privilege(k.name, p.oid, 'execute')`,
		"relation": `
			select r.right || ' ' || c.relname, k.kind
			  from pg_temp_kinds as k
			  join pg_class as c on c.relnamespace = 'NS'::regnamespace and c.relkind in ('r', 'v', 'S')
			 cross join unnest(case c.relkind when 'S' then array['usage', 'select', 'update']
			                   else array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger'] end) as r (right)
			 where case c.relkind when 'S' then has_sequence_privilege(k.name, c.oid, r.right)
			       else has_table_privilege(k.name, c.oid, r.right) end`,
		"column": `
			select r.right || ' column of ' || c.relname, k.kind
			  from pg_temp_kinds as k
			  join pg_class as c on c.relnamespace = 'NS'::regnamespace and c.relkind in ('r', 'v')
			 cross join unnest(array['select', 'insert', 'update', 'references']) as r (right)
			 where has_any_column_privilege(k.name, c.oid, r.right)`,
	}[kind]
	names := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		if kind != "owner" {
			names = append(names, "('"+kind+"', '"+q.roles[kind]+"'::name)")
		}
	}
	things = strings.ReplaceAll(things, "'NS'", "'"+schema+"'")
	things = strings.ReplaceAll(things, ".right", `."right"`)
	things = strings.ReplaceAll(things, "(right)", `("right")`)
	return q.lines(`
		with pg_temp_kinds (kind, name) as (values ` + strings.Join(names, ", ") + `), found (thing, kind) as (` +
		things + `)
		select f.thing || ': ' || string_agg(distinct f.kind, ', ' order by f.kind)
		  from found as f
		 group by f.thing
		 order by f.thing collate "C"`)
}

// lines returns the rows of a query as a superuser, who can read the rights of all roles.
func (q *queue) lines(query string) []string {
	q.t.Helper()
	literal := func(name string) string { return "'" + strings.ReplaceAll(quote(name), "'", "''") + "'" }
	query = strings.ReplaceAll(query, "'API'", literal(q.schema+"_api"))
	query = strings.ReplaceAll(query, "'S'", literal(q.schema))
	return pgtest.Value[[]string](q.t, q.pool,
		q.text("select coalesce(array_agg(l.line), '{}') from ("+query+") as l (line)"))
}
