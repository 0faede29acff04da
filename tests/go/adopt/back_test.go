package adopt_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// nodesFunctions is the query of docs/adopt.md that saves the functions of a database in which Graphile Worker was just installed.
const nodesFunctions = `
	select pg_get_functiondef(p.oid) || ';'
	  from pg_proc as p
	 where p.pronamespace = 'graphile_worker'::regnamespace`

func TestTheWayBackLeavesGraphileWorkersSchemaAndItsJobs(t *testing.T) {
	database, scratch := pgtest.EmptyDatabase(t), pgtest.EmptyDatabase(t)
	nodegw.Migrate(t, nodegw.V18, database, "")
	nodegw.Migrate(t, nodegw.V18, scratch, "")
	pool := pgtest.Pool(t, database)
	role, monitor := pgtest.Role(t, pool), pgtest.Role(t, pool)
	execute(t, pool, fmt.Sprintf("alter role %[1]s bypassrls;"+tableGrants, role))
	original := append(shape(t, pool, "graphile_worker"), details(t, pool)...)
	up(t, database, migrate.Config{Adopt: true})
	if _, err := migrator(t, database, migrate.Config{}).Grant(t.Context(),
		migrate.Grants{Monitors: []string{monitor}}); err != nil {
		t.Fatal(err)
	}
	execute(t, pool, `
		create table done (n integer);
		select graphile_worker.add_job('note', json_build_object('n', n), queue_name => 'q' || n % 3) from generate_series(1, 6) as n;
		-- One that was replaced while it ran, until Node's sweep freed it.
		select graphile_worker.add_job('note', '{"n": 7}', job_key => 'k', priority => -1);
		select from graphile_worker.get_job('gw');
		select graphile_worker.add_job('note', '{"n": 8}', job_key => 'k');
		update graphile_worker._private_jobs set locked_at = null, locked_by = null where locked_by = 'gw'`)

	goBack(t, database, saveFunctions(t, scratch))

	after := append(shape(t, pool, "graphile_worker"), details(t, pool)...)
	if found := differences(original, after); found != nil {
		t.Errorf("Graphile Worker's own differs: %s", strings.Join(found, "\n"))
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
	nodegw.Utils(t, nodegw.V18, database, "", nodegw.Call{"cleanup",
		map[string]any{"tasks": []string{"DELETE_PERMAFAILED_JOBS"}}})
	if got := texts(t, pool, "select j.id::text from graphile_worker.jobs as j"); len(got) > 0 {
		t.Errorf("left after a clean-up: %v", got)
	}
	up(t, database, migrate.Config{Adopt: true})
}

// The schema is adopted and returned five times while producers make calls, each at most one per 5 ms, which leaves the processor to
// the migrations.
func TestNoCallFailsOnTheWayBack(t *testing.T) {
	pgtest.OnOneVersion(t)
	database := pgtest.EmptyDatabase(t)
	nodegw.Migrate(t, nodegw.V18, database, "")
	pool := pgtest.Pool(t, database)
	saved := saveFunctions(t, database)
	statements := []string{
		"select graphile_worker.add_job('note', json_build_object('producer', $1::integer))",
		"select graphile_worker.add_job('note', job_key => 'k' || $1::integer, queue_name => 'q')",
		"select graphile_worker.remove_job('k' || $1::integer)",
	}
	var calls sync.WaitGroup
	stop := make(chan struct{})
	for producer := range 4 {
		calls.Go(func() {
			pace := time.NewTicker(5 * time.Millisecond)
			defer pace.Stop()
			for n := 0; ; n++ {
				select {
				case <-stop:
					t.Logf("a producer has made %d calls", n)
					return
				case <-pace.C:
				}
				if _, err := pool.Exec(t.Context(), statements[n%len(statements)], producer); err != nil {
					t.Errorf("call %d: %v", n, err)
				}
			}
		})
	}
	for range 5 {
		up(t, database, migrate.Config{Adopt: true})
		goBack(t, database, saved)
	}
	close(stop)
	calls.Wait()
}

// A call may have begun before Graphile Worker's functions were restored, without holding a lock that shows it: this one waits
// for a task name that another transaction inserts.
func TestTheWayBackWaitsForCallsThatHaveBegunInOurFunctions(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	nodegw.Migrate(t, nodegw.V18, database, "")
	pool := pgtest.Pool(t, database)
	saved := saveFunctions(t, database)
	up(t, database, migrate.Config{Adopt: true})
	other, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"select pg_advisory_xact_lock(graphile_worker._gw_name_lock('task', 'slow'))",
		"insert into graphile_worker._private_tasks (identifier) values ('slow')",
	} {
		if _, err := other.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	added := make(chan error, 1)
	go func() {
		_, err := pool.Exec(t.Context(), "select graphile_worker.add_job('slow', job_key => 'k') as call")
		added <- err
	}()
	pgtest.Await(t, pool, "select count(*) = 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")

	psql(t, database, saved)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		psql(t, database, "back.sql")
	}()
	pgtest.Await(t, pool, `
		select exists (select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep')
		    or not exists (select from pg_proc where proname = '_gw_add_keyed_job')`)
	if err := other.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-added; err != nil {
		t.Errorf("the call that had begun: %v", err)
	}
	<-gone
	if got := texts(t, pool, "select j.key from graphile_worker.jobs as j"); len(got) != 1 {
		t.Errorf("it has added %q", got)
	}
}

func TestTheWayBackWantsGraphileWorkersFunctionsFirst(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	nodegw.Migrate(t, nodegw.V18, database, "")
	saved := saveFunctions(t, database)
	up(t, database, migrate.Config{Adopt: true})
	before := shape(t, pgtest.Pool(t, database), "graphile_worker")
	for _, files := range [][]string{{"back.sql"}, {saved, "back.sql"}} {
		if output, err := tryPsql(t, database, files...); err == nil ||
			!strings.Contains(output, "in a transaction of its own") {
			t.Errorf("%v: %v\n%s", files, err, output)
		}
	}
	if found := differences(before, shape(t, pgtest.Pool(t, database), "graphile_worker")); found != nil {
		t.Errorf("changed: %v", found)
	}
}

// goBack follows the instructions of docs/adopt.md for the way back, one transaction after the other.
func goBack(t *testing.T, database, functions string) {
	t.Helper()
	psql(t, database, functions)
	psql(t, database, "back.sql")
}

func psql(t *testing.T, database string, files ...string) {
	t.Helper()
	if output, err := tryPsql(t, database, files...); err != nil {
		t.Errorf("psql: %v\n%s", err, output)
	}
}

// tryPsql runs files in one transaction.
func tryPsql(t *testing.T, database string, files ...string) (output string, err error) {
	t.Helper()
	args := []string{"--no-psqlrc", "--quiet", "--single-transaction", "--set", "ON_ERROR_STOP=1", "--dbname", database}
	for _, file := range files {
		args = append(args, "--file", file)
	}
	printed, err := exec.CommandContext(t.Context(), "psql", args...).CombinedOutput()
	return string(printed), err
}

// saveFunctions writes the functions of a schema of Graphile Worker's own into a file.
func saveFunctions(t *testing.T, database string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "functions.sql")
	text := strings.Join(texts(t, pgtest.Pool(t, database), nodesFunctions), "\n")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// details describes what shape omits: comments, storage and policies. Together they cover everything that pg_dump saves.
func details(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	return texts(t, pool, `
		select format('%s is %s', pg_describe_object(d.classoid, d.objoid, d.objsubid), d.description)
		  from pg_description as d
		 where pg_describe_object(d.classoid, d.objoid, d.objsubid) like '%graphile_worker%'
		union all
		select format('%s: %s in %s', c.oid::regclass, c.reloptions, c.reltablespace)
		  from pg_class as c
		 where c.relnamespace = 'graphile_worker'::regnamespace
		union all
		select format('policy %s on %s', p.polname, p.polrelid::regclass)
		  from pg_policy as p
		union all
		select format('schema %s acl %s', n.nspname, n.nspacl)
		  from pg_namespace as n
		 where n.nspname like 'graphile%'
		 order by 1`)
}

// Graphile Worker does not see the jobs of limits, nor those of workers that died, so they would wait for ever.
func TestTheWayBackWantsTheEndOfLimitsFirst(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	nodegw.Migrate(t, nodegw.V18, database, "")
	saved := saveFunctions(t, database)
	up(t, database, migrate.Config{Adopt: true})
	pool := pgtest.Pool(t, database)
	pgtest.Exec(t, pool, "select graphile_worker.set_limit('api', tasks => '{note}', max_running => 1)")
	pgtest.Exec(t, pool, `
		select graphile_worker.add_job('note', payload => to_json(n)) from generate_series(1, 3) as n;
		select graphile_worker.fail_job('gw', g.id, 'for good', permanent => true) from graphile_worker.get_job('gw') as g;
		select graphile_worker.add_job('held', queue_name => 'q');
		insert into graphile_worker._gw_suspects (job_id, queue_name) select j.id, j.queue_name from graphile_worker.jobs as j where j.queue_name = 'q';
		update graphile_worker._private_jobs set job_queue_id = -2 where job_queue_id > 0`)
	psql(t, database, saved)
	if output, err := tryPsql(t, database, "back.sql"); err == nil ||
		!strings.Contains(output, "There are limits or pauses") {
		t.Errorf("%v\n%s", err, output)
	}
	pgtest.Exec(t, pool, "select graphile_worker.drop_limit('api')")
	psql(t, database, "back.sql")
	got := texts(t, pool, `
		select concat_ws(' ', t.identifier, j.attempts, q.queue_name, j.job_queue_id < 0)
		  from graphile_worker._private_jobs as j
		  join graphile_worker._private_tasks as t on t.id = j.task_id
		  left join graphile_worker._private_job_queues as q on q.id = j.job_queue_id
		 order by j.id`)
	if want := []string{"note 25", "note 0", "note 0", "held 0 q f"}; !slices.Equal(got, want) {
		t.Errorf("jobs that are left: %q, want %q", got, want)
	}
}
