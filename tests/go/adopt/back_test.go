package adopt_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// nodesFunctions is what docs/adopt.md saves of a database that Graphile Worker has just installed into.
const nodesFunctions = `
	select pg_get_functiondef(p.oid) || ';'
	  from pg_proc as p
	 where p.pronamespace = 'graphile_worker'::regnamespace`

func TestTheWayBackLeavesGraphileWorkersSchemaAndItsJobs(t *testing.T) {
	database, scratch := pgtest.EmptyDatabase(t), pgtest.EmptyDatabase(t)
	nodegw.Migrate(t, nodegw.V18, database, "")
	nodegw.Migrate(t, nodegw.V18, scratch, "")
	pool := pgtest.Pool(t, database)
	original := shape(t, pool, "graphile_worker")
	up(t, database, migrate.Config{Adopt: true})
	execute(t, pool, `
		create table done (n integer);
		select graphile_worker.add_job('note', json_build_object('n', n), queue_name => 'q' || n % 3) from generate_series(1, 6) as n;
		-- One that was replaced while it ran, until Node's sweep freed it.
		select graphile_worker.add_job('note', '{"n": 7}', job_key => 'k', priority => -1);
		select from graphile_worker.get_job('gw');
		select graphile_worker.add_job('note', '{"n": 8}', job_key => 'k');
		update graphile_worker._private_jobs set locked_at = null, locked_by = null where locked_by = 'gw'`)

	saved := filepath.Join(t.TempDir(), "functions.sql")
	text := strings.Join(texts(t, pgtest.Pool(t, scratch), nodesFunctions), "\n")
	if err := os.WriteFile(saved, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	psql := exec.CommandContext(t.Context(), "psql", "--no-psqlrc", "--quiet", "--single-transaction",
		"--set", "ON_ERROR_STOP=1", "--file", saved, "--file", "back.sql", database)
	if output, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, output)
	}

	if found := differences(original, shape(t, pool, "graphile_worker")); found != nil {
		t.Errorf("Graphile Worker's own differs: %v", found)
	}
	worker := nodegw.Start(t, nodegw.Options{DatabaseURL: database, Tasks: map[string]string{
		"note": `await helpers.query("insert into done (n) values ($1)", [payload.n])`,
	}})
	nodegw.Utils(t, nodegw.V18, database, "", nodegw.Call{"addJob", "note", map[string]any{"n": 9}})
	pgtest.Await(t, pool, "select count(*) = 8 from done")
	worker.Stop()
	if got := texts(t, pool, "select string_agg(d.n::text, ' ' order by d.n) from done as d"); got[0] != "1 2 3 4 5 6 8 9" {
		t.Errorf("done: %v", got)
	}
	nodegw.Utils(t, nodegw.V18, database, "", nodegw.Call{"cleanup", map[string]any{"tasks": []string{"DELETE_PERMAFAILED_JOBS"}}})
	if got := texts(t, pool, "select j.id::text from graphile_worker.jobs as j"); len(got) > 0 {
		t.Errorf("left after a clean-up: %v", got)
	}
	up(t, database, migrate.Config{Adopt: true})
}
