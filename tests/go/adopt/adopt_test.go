// Package adopt_test takes over schemas that the real Graphile Worker has created, and returns them to it.
package adopt_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/tests/go/nodegw"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestEachReleaseIsAdoptedWithItsJobsIntoWhatAFreshInstallHas(t *testing.T) {
	for _, c := range []struct {
		version  nodegw.Version
		schema   string
		revision int32
	}{
		{nodegw.V18, "graphile_worker", 20},
		{nodegw.V17, "graphile_worker", 19},
		{nodegw.V16, "graphile_worker", 18},
		{nodegw.V18, `Odd "name" it's 100%`, 20},
	} {
		t.Run(fmt.Sprintf("%s in %s", c.version, c.schema), func(t *testing.T) {
			t.Parallel()
			database := pgtest.EmptyDatabase(t)
			nodegw.Utils(t, c.version, database, c.schema,
				nodegw.Call{"addJob", "greet", map[string]any{"n": 1}},
				nodegw.Call{"addJob", "greet", map[string]any{"n": 2}, map[string]any{"queueName": "q", "jobKey": "k"}},
				nodegw.Call{"addJob", "greet", map[string]any{"n": 3},
					map[string]any{"queueName": "q", "flags": []string{"f"}}},
				nodegw.Call{"addJob", "greet", map[string]any{"n": 4}, map[string]any{"queueName": "busy"}},
			)
			pool := pgtest.Pool(t, database)
			schema := pgx.Identifier{c.schema}.Sanitize()
			execute(t, pool, `
				update `+schema+`._private_jobs set locked_at = now(), locked_by = 'pool-1', attempts = 1 where id = 4;
				update `+schema+`._private_job_queues set locked_at = now(), locked_by = 'pool-1' where queue_name = 'busy'`)
			before := contents(t, pool, schema)
			cfg := migrate.Config{Schema: c.schema, Adopt: true, From18: c.revision == 18}

			status, err := migrator(t, database, cfg).Status(t.Context())
			if err != nil || status.State != migrate.Graphile || status.Revision != c.revision ||
				status.Refusal != nil {
				t.Fatalf("before: %+v, %v", status, err)
			}
			for _, object := range status.Objects {
				if object.Origin != migrate.Nodes {
					t.Errorf("%s is classified as %s", object, object.Origin)
				}
			}
			if len(status.Objects) != 7 {
				t.Errorf("%d functions are Graphile Worker's", len(status.Objects))
			}

			up(t, database, cfg)

			if found := differences(before, contents(t, pool, schema)); found != nil {
				t.Errorf("tables: %v", found)
			}
			fresh := pgtest.EmptyDatabase(t)
			up(t, fresh, migrate.Config{Schema: c.schema})
			if found := differences(shape(t, pgtest.Pool(t, fresh), c.schema), shape(t, pool, c.schema)); found != nil {
				t.Errorf("a fresh install differs: %v", found)
			}
			if status, err := migrator(t, database, cfg).Status(t.Context()); err != nil ||
				len(status.Changed()) != 0 ||
				status.State != migrate.Current || status.Revision != 20 {
				t.Errorf("after: %+v, %v", status, err)
			}
			got := texts(t, pool, "select j.payload ->> 'n' from "+schema+".get_job_batch('w', null, 9) as j")
			if !slices.Equal(got, []string{"1", "2"}) { // 3 comes after 2, and 4 is running
				t.Errorf("claimed %v", got)
			}

			installed := shape(t, pool, c.schema)
			nodegw.Migrate(t, nodegw.V18, database, c.schema)
			nodegw.Migrate(t, nodegw.V17, database, c.schema)
			if found := differences(installed, shape(t, pool, c.schema)); found != nil {
				t.Errorf("Graphile Worker has changed: %v", found)
			}
		})
	}
}

func TestALaterStartOfNodeThatReplacesOurFunctionsIsNoticedAndRepaired(t *testing.T) {
	database := pgtest.Database(t)
	pool := pgtest.Pool(t, database)
	before := shape(t, pool, "graphile_worker")
	execute(t, pool, "delete from graphile_worker.migrations where id = 20")
	nodegw.Migrate(t, nodegw.V18, database, "")

	m := migrator(t, database, migrate.Config{})
	status, err := m.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var changed []string
	for _, object := range status.Changed() {
		changed = append(changed, string(object.Origin)+" "+object.Name)
	}
	want := []string{
		"node's add_job(text, json, text, timestamp with time zone, integer, text, integer, text[], text)",
		"node's add_jobs(job_spec[], boolean)",
	}
	if !slices.Equal(changed, want) {
		t.Errorf("changed: %q", changed)
	}
	if _, err := m.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := differences(before, shape(t, pool, "graphile_worker")); found != nil {
		t.Errorf("after the repair: %v", found)
	}
}

func migrator(t *testing.T, database string, cfg migrate.Config) *migrate.Migrator {
	t.Helper()
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	m, err := migrate.New(config, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func up(t *testing.T, database string, cfg migrate.Config) {
	t.Helper()
	if _, err := migrator(t, database, cfg).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, pool *pgxpool.Pool, statements string) {
	t.Helper()
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), statements, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
}

func texts(t *testing.T, pool *pgxpool.Pool, query string, args ...any) []string {
	t.Helper()
	rows, err := pool.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return lines
}

// contents lists the rows of the shared tables, and the files of the tables: a table that was rewritten has another file.
func contents(t *testing.T, pool *pgxpool.Pool, schema string) []string {
	t.Helper()
	return texts(t, pool, `
		select 'job ' || to_jsonb(j)::text from `+schema+`._private_jobs as j
		union all
		select 'queue ' || to_jsonb(q)::text from `+schema+`._private_job_queues as q
		union all
		select 'task ' || to_jsonb(k)::text from `+schema+`._private_tasks as k
		union all
		select 'file ' || c.relname || c.relfilenode
		  from pg_class as c
		 where c.relnamespace = $1::text::regnamespace and c.relkind = 'r' and c.relname like '\_private\_%'
		order by 1`, schema)
}

// shape describes everything in a schema except comments and the aliases in the view.
func shape(t *testing.T, pool *pgxpool.Pool, schema string) []string {
	t.Helper()
	return texts(t, pool, `
		with s as (select n.oid from pg_namespace as n where n.nspname = $1)
		select format('relation %I kind %s acl %s rls %s', c.relname, c.relkind, array(
		                select x::text
		                  from unnest(coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))) as x
		                 order by 1), c.relrowsecurity)
		  from pg_class as c join s on s.oid = c.relnamespace
		union all
		select format('column %I.%I #%s %s not null %s identity %s generated %s default %s', c.relname, a.attname, a.attnum,
		              format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid))
		  from pg_attribute as a join pg_class as c on c.oid = a.attrelid join s on s.oid = c.relnamespace
		  left join pg_attrdef as d on d.adrelid = c.oid and d.adnum = a.attnum
		 where a.attnum > 0 and c.relkind <> 'i'
		union all
		select format('constraint %I %s', k.conname, pg_get_constraintdef(k.oid))
		  from pg_constraint as k join s on s.oid = k.connamespace
		 where k.contype <> 'n' -- the columns say so; PostgreSQL 18 gives them names beside
		union all
		select format('index %s', pg_get_indexdef(i.indexrelid))
		  from pg_index as i join pg_class as c on c.oid = i.indexrelid join s on s.oid = c.relnamespace
		union all
		select format('trigger %s', pg_get_triggerdef(g.oid))
		  from pg_trigger as g join pg_class as c on c.oid = g.tgrelid join s on s.oid = c.relnamespace
		union all
		select format('function %s acl %s', pg_get_functiondef(p.oid),
		              array(select x::text from unnest(coalesce(p.proacl, acldefault('f', p.proowner))) as x order by 1))
		  from pg_proc as p join s on s.oid = p.pronamespace
		order by 1`, schema)
}

// differences returns the elements that are in only one of the lists.
func differences(a, b []string) []string {
	var found []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			found = append(found, "- "+line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			found = append(found, "+ "+line)
		}
	}
	return found
}
