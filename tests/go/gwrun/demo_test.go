package gwrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// demoJobs is the number of lines that the demo prints for its own jobs.
const demoJobs = 9

func TestTheDemoEndsByItselfAndLeavesNothing(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	folder := temporaryFolder(t)
	p := start(t, map[string]string{"TMPDIR": folder}, "demo", "--once")
	p.wantExit(0)
	if lines := strings.Count(p.stdout.String(), " ms\n"); lines != demoJobs {
		t.Errorf("%d lines for jobs, want %d", lines, demoJobs)
	}
	wantEmpty(t, folder)
}

func TestTheDemoWaitsForJobsOfOthersUntilCtrlCAndLeavesNothing(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	folder := temporaryFolder(t)
	p := start(t, map[string]string{"TMPDIR": folder}, "demo")
	var invitation string
	p.stdout.wait(t, "an invitation to psql", func(line string) bool {
		invitation = strings.TrimSpace(line)
		return strings.HasPrefix(invitation, "psql ")
	})
	console := consoleURL(t, &p.stdout, "The console, to see the queue in a browser: ")
	awaitPage(t, console+"tasks", "hello")
	awaitPage(t, console+"task?task=ship_order", ">carriers</a>")
	awaitPage(t, console+"jobs?task=sales_report", "running")
	awaitPage(t, console+"history", "charge_card")
	psql(t, invitation)
	p.stdout.wait(t, "about the job that psql has added", func(line string) bool {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] != "hello" {
			return false
		}
		id, err := strconv.Atoi(fields[2])
		return err == nil && id > demoJobs
	})
	p.stderr.wait(t, "what that job prints", func(line string) bool { return strings.Contains(line, "Hello, you!") })

	url, _, _ := strings.Cut(strings.TrimPrefix(invitation, "psql '"), "'")
	data := psql(t, "psql '"+url+"' -XAtc 'show data_directory'")
	server, _, _ := strings.Cut(readFile(t, strings.TrimSpace(data), "postmaster.pid"), "\n")
	p.signal(syscall.SIGINT)
	p.wantExit(0)
	waitGone(t, pidBehind(t, server, ""))
	wantEmpty(t, folder)
}

func TestTheDemoLeavesOnlyTheQueueInADatabaseThatItWasGiven(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.EmptyDatabase(t)
	pool := pgtest.Pool(t, databaseURL)
	p := start(t, map[string]string{"DATABASE_URL": databaseURL}, "demo", "--once")
	p.wantExit(0)
	p.stdout.wait(t, "which database it uses", func(line string) bool {
		return strings.HasPrefix(line, "Database: postgres://") &&
			strings.HasSuffix(line, " (from DATABASE_URL), schema graphile_worker")
	})
	p.stdout.wait(t, "that the queue stays", func(line string) bool {
		return strings.HasSuffix(line, "drop schema graphile_worker cascade")
	})
	schemas := pgtest.Value[string](t, pool, `select string_agg(nspname, ' ' order by nspname) from pg_namespace
		where nspname !~ '^pg_' and nspname <> 'information_schema'`)
	if schemas != "graphile_worker public" {
		t.Errorf("schemas %s, want graphile_worker public", schemas)
	}
	pgtest.Await(t, pool, queueIsEmpty)

	// A table of the user is not touched.
	pgtest.Exec(t, pool, "create schema gw_demo create table guests (id int)")
	p = start(t, map[string]string{"DATABASE_URL": databaseURL}, "demo", "--once", "--existing")
	p.wantExit(1)
	p.stderr.wait(t, "about the schema", func(line string) bool {
		return strings.Contains(line,
			"drop schema gw_demo")
	})
	pgtest.Exec(t, pool, "select from gw_demo.guests")
}

func TestTheShopOfTheDemoLeavesOnlyTheQueueInADatabaseThatItWasGiven(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.EmptyDatabase(t)
	p := start(t, map[string]string{"DATABASE_URL": databaseURL}, "demo")
	awaitPage(t, consoleURL(t, &p.stdout, "The console, to see the queue in a browser: ")+"history", "send_receipt")
	p.signal(syscall.SIGINT)
	p.wantExit(0)
	pool := pgtest.Pool(t, databaseURL)
	pgtest.Await(t, pool, queueIsEmpty)
	if left := pgtest.Value[int](t, pool, `select (select count(*) from graphile_worker.cron_schedules) + (select count(*) from graphile_worker.list_limits())
		+ (select count(*) from graphile_worker.list_kept_tasks())`); left != 0 {
		t.Errorf("the demo has left %d schedules, limits and kept tasks", left)
	}
}

func TestTheDemoTouchesAQueueThatExistsOnlyWhenItIsToldTo(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	pgtest.Exec(t, pool, "select from graphile_worker.add_job('hello', '{}', run_at => now() - interval '1 day')")

	for _, p := range []*process{
		start(t, map[string]string{"DATABASE_URL": databaseURL}, "demo", "--once"),
		start(t, nil, "demo", "--once", "--connection", databaseURL),
	} {
		p.wantExit(1)
		p.stderr.wait(t, "about the queue", func(line string) bool {
			return strings.Contains(line, "schema graphile_worker already contains a queue") &&
				strings.Contains(line, "--existing")
		})
	}
	if !pgtest.Value[bool](t, pool, `select count(*) = 1 and max(j.attempts) = 0 and to_regnamespace('gw_demo') is null
		from graphile_worker.jobs as j`) {
		t.Error("the demo has touched the queue")
	}

	p := start(t, map[string]string{"DATABASE_URL": databaseURL}, "demo", "--once", "--existing")
	p.wantExit(0)
	pgtest.Await(t, pool, queueIsEmpty)
}

func TestTheDemoUpgradesNoQueue(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	pgtest.Exec(t, pool, "update graphile_worker._gw_schema_version set version = version - 1")
	p := start(t, map[string]string{"DATABASE_URL": databaseURL}, "demo", "--once", "--existing")
	p.wantExit(1)
	p.stderr.wait(t, "about the version", func(line string) bool {
		return strings.Contains(line, "is older than this program; gw-migrate upgrades it")
	})
}

func TestTheDemoOfADatabaseThatDoesNotAnswerTellsOfThePrivateServer(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	p := start(t, map[string]string{"DATABASE_URL": "postgres://127.0.0.1:1/app"}, "demo", "--once")
	p.wantExit(1)
	p.stderr.wait(t, "what else there is", func(line string) bool {
		return strings.Contains(line, "without DATABASE_URL, the demo starts a private server")
	})
}

// temporaryFolder creates a folder for temporary files. Unlike that of t.TempDir its path is short, because the server's socket
// is in it, and other users can enter it, because the server may run as another user.
func temporaryFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "gwrun")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

func wantEmpty(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

// psql runs a command line of psql and returns what it prints.
func psql(t *testing.T, line string) string {
	t.Helper()
	command := exec.Command("sh", "-c", line)
	command.Env = environment(nil)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, output)
	}
	return string(output)
}

func readFile(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
