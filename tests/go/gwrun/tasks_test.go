package gwrun

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

const queueIsEmpty = "select not exists (select from graphile_worker._private_jobs)"

func TestExecutablesServeJobsThatThenDisappear(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	p := work(t, databaseURL, tasks(t, map[string]string{
		"hello.sh":     `echo "hello got $(cat)"`,
		"mail/in/read": `echo "read got $(cat)"; echo careful >&2`,
	}))
	hello := addJob(t, pool, "hello", `{"name": "you"}`)
	read := addJob(t, pool, "mail/in/read", `[1]`)
	pgtest.Await(t, pool, queueIsEmpty)

	for want, message := range map[logLine]string{
		{Level: "INFO", Stream: "stdout", Task: "hello", JobID: hello}:       `hello got {"payload":{"name":"you"}}`,
		{Level: "INFO", Stream: "stdout", Task: "mail/in/read", JobID: read}: `read got {"payload":[1]}`,
		{Level: "WARN", Stream: "stderr", Task: "mail/in/read", JobID: read}: `careful`,
	} {
		got := p.waitLog(message)
		want.Msg, want.WorkerID = message, got.WorkerID
		if got != want || got.WorkerID == "" {
			t.Errorf("log line %+v, want %+v with a worker id", got, want)
		}
	}
}

func TestAFailureIsStoredWithExitCodeAndStderr(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	work(t, databaseURL, tasks(t, map[string]string{"broken": `printf 'a \377 b\000' >&2; exit 3`}))
	id := addJob(t, pool, "broken", "{}")
	pgtest.Await(t, pool, "select last_error is not null from graphile_worker._private_jobs where id = $1", id)
	wantJob(t, pool, id, 1)
	const want = "exit code 3\na \uFFFD b\uFFFD"
	if got := pgtest.Value[string](t, pool, "select last_error from graphile_worker._private_jobs where id = $1",
		id); got != want {
		t.Errorf("last_error %q, want %q", got, want)
	}
	if !pgtest.Value[bool](t, pool, "select run_at > now() from graphile_worker._private_jobs where id = $1", id) {
		t.Error("the job is due at once")
	}
}

func TestOnceWorksWhatIsRunnableAndEnds(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"--no-prepared-statements=false", "--no-prepared-statements"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			databaseURL := pgtest.Database(t)
			pool := pgtest.Pool(t, databaseURL)
			pgtest.Exec(t, pool, "select graphile_worker.add_job('a', run_at => now() + interval '1 hour')")
			pgtest.Exec(t, pool, "select graphile_worker.add_job('other')")
			pgtest.Exec(t, pool, "select graphile_worker.add_job('a', queue_name => 'q') from generate_series(1, 20)")
			p := work(t, databaseURL, tasks(t, map[string]string{"a": "exit 0"}), "--once", "-j", "2", "--quiet", mode)
			p.wantExit(0)
			left := pgtest.Value[string](t, pool,
				"select string_agg(task_identifier, ' ' order by id) from graphile_worker.jobs")
			if left != "a other" {
				t.Errorf("jobs left: %s, want the scheduled job and the job of an unknown task", left)
			}
			if strings.Contains(p.stderr.String(), `"duration_ms"`) {
				t.Error("--quiet logs completed jobs")
			}
		})
	}
}

func TestAnEmptyDatabaseIsInstalledInto(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.EmptyDatabase(t)
	pool := pgtest.Pool(t, databaseURL)
	folder := tasks(t, map[string]string{"a": "exit 0"})

	p := work(t, databaseURL, folder, "--no-migrate", "--once")
	p.wantExit(1)
	p.stderr.wait(t, "about gw-migrate", func(line string) bool { return strings.Contains(line, "run gw-migrate") })

	p = start(t, map[string]string{"DATABASE_URL": databaseURL, "GRAPHILE_WORKER_SCHEMA": `odd "name"`},
		"--schema-only")
	p.wantExit(0)
	pgtest.Exec(t, pool, `select "odd ""name""".add_job('a')`)
	work(t, databaseURL, folder, "--schema", `odd "name"`, "--once").wantExit(0)
	if !pgtest.Value[bool](t, pool, `select not exists (select from "odd ""name"""._private_jobs)`) {
		t.Error("the job is still there")
	}
}

func TestGwRunWorksWithASchemaThatIsNewerUnlessItBreaksIt(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	folder := tasks(t, map[string]string{"a": "exit 0"})
	pgtest.Exec(t, pool, "update graphile_worker._gw_schema_version set version = 99")
	addJob(t, pool, "a", "{}")
	p := work(t, databaseURL, folder, "--once")
	p.wantExit(0)
	p.stderr.wait(t, "about the newer schema", func(line string) bool {
		return strings.Contains(line, "is at version 99, newer than this program") &&
			strings.Contains(line, "works with it")
	})
	pgtest.Await(t, pool, queueIsEmpty)

	pgtest.Exec(t, pool, "insert into graphile_worker._gw_breaking_versions values (98)")
	for _, option := range []string{"--once", "--no-migrate"} {
		p = work(t, databaseURL, folder, option)
		p.wantExit(57)
		p.stderr.wait(t, "about version 98", func(line string) bool { return strings.Contains(line, "version 98") })
	}
}

func TestAForeignSchemaIsRefusedWithAWordAboutGwMigrate(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.EmptyDatabase(t)
	pgtest.Exec(t, pgtest.Pool(t, databaseURL), "create schema graphile_worker create table ours (id int)")
	p := work(t, databaseURL, tasks(t, map[string]string{"a": "exit 0"}))
	p.wantExit(1)
	p.stderr.wait(t, "about gw-migrate", func(line string) bool { return strings.Contains(line, "gw-migrate") })
}

func TestAnUpToDateSchemaNeedsNoRightToChangeIt(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	// Role names are shared by all databases of the server, so this one contains the unique name of the database.
	role := pgtest.Value[string](t, pool, "select current_database() || '_role'")
	quoted := pgx.Identifier{role}.Sanitize()
	pgtest.Exec(t, pool, "create role "+quoted+" login bypassrls password 'secret'")
	t.Cleanup(func() { // the role is dropped before the database
		_, err := pool.Exec(context.Background(), "drop owned by "+quoted+"; drop role "+quoted)
		if err != nil {
			t.Error(err)
		}
	})
	pgtest.Exec(t, pool, "grant usage on schema graphile_worker to "+quoted)
	pgtest.Exec(t, pool, "grant select, insert, update, delete on all tables in schema graphile_worker to "+quoted)
	pgtest.Exec(t, pool, "grant usage on all sequences in schema graphile_worker to "+quoted)
	limited, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	limited.User = url.UserPassword(role, "secret")
	addJob(t, pool, "a", "{}")
	work(t, limited.String(), tasks(t, map[string]string{"a": "exit 0"}), "--once").wantExit(0)
	pgtest.Await(t, pool, queueIsEmpty)
}

func TestABreakingMigrationEndsTheWorkerWith57(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	folder := tasks(t, map[string]string{"a": "exit 0"})
	p := work(t, databaseURL, folder)
	p.waitLog("worker started")

	// A migration that is not breaking has no effect, although it is announced.
	announce := func(revision int, breaking bool) {
		t.Helper()
		pgtest.Exec(t, pool, "insert into graphile_worker.migrations (id, breaking) values ($1, $2)", revision,
			breaking)
		message, err := json.Marshal(map[string]any{"migrationNumber": revision, "breaking": breaking})
		if err != nil {
			t.Fatal(err)
		}
		pgtest.Exec(t, pool, "select pg_notify('worker:migrate', $1)", string(message))
	}
	announce(21, false)
	addJob(t, pool, "a", "{}")
	pgtest.Await(t, pool, queueIsEmpty)
	announce(22, true)
	p.wantExit(57)

	work(t, databaseURL, folder, "--once").wantExit(57)
}
