package gwrun

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// nodeFirst returns a PATH in which the Node.js that `make deps` installs comes first.
func nodeFirst(t *testing.T) string {
	t.Helper()
	return filepath.Dir(nodegw.Node(t)) + string(os.PathListSeparator) + os.Getenv("PATH")
}

// modules creates a folder of tasks with these files, none of them executable, and a config file beside it.
func modules(t *testing.T, config string, files map[string]string) (dir string) {
	t.Helper()
	dir = configured(t, config, nil)
	for name, text := range files {
		writeFile(t, filepath.Join(dir, "tasks", name), text)
	}
	return dir
}

// runModules starts a gw-run on such a folder.
func runModules(t *testing.T, databaseURL, dir string, args ...string) *process {
	t.Helper()
	return start(t, map[string]string{"PATH": nodeFirst(t)},
		append([]string{"-c", databaseURL, "--tasks", filepath.Join(dir, "tasks"), "--log-format", "json"}, args...)...)
}

func lastError(t *testing.T, pool *pgxpool.Pool, id int64) string {
	t.Helper()
	pgtest.Await(t, pool, "select last_error is not null and locked_at is null from graphile_worker._private_jobs where id = $1", id)
	return pgtest.Value[string](t, pool, "select last_error from graphile_worker._private_jobs where id = $1", id)
}

func TestModulesOfTheFolderAreServedAndTakenOverWhenTheyChange(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := modules(t, "tasks:\n  slow: {timeout: 100ms}\n", map[string]string{
		"say.js":   `module.exports = async (payload, { logger }) => logger.info("first " + payload.n + " in " + process.pid);`,
		"other.ts": `export default async (payload: { n: number }, { logger }: any): Promise<void> => logger.info("other " + payload.n);`,
		"slow.mjs": `export default async (payload, { abortPromise }) => abortPromise;`,
		"wrong.js": `module.exports = { task() {} };`,
	})
	p := runModules(t, databaseURL, dir, "--watch", "-j", "2")
	pgtest.Await(t, pool, hasTasks, "{other,say,slow,wrong}")
	if line := p.waitLog("the task's module cannot be loaded, its jobs will fail"); line.Level != "WARN" ||
		line.Task != "wrong" ||
		!strings.Contains(line.Error, "its default export is of type object; a task is a function") {
		t.Errorf("a module without a task is logged as %+v", line)
	}
	if got := lastError(t, pool, addJob(t, pool, "wrong", "{}")); !strings.Contains(got, "a task is a function") {
		t.Errorf("its job's last_error is %q", got)
	}
	id := addJob(t, pool, "say", `{"n":1}`)
	if line := p.waitLog("first 1 in "); line.Task != "say" || line.JobID != id || line.Level != "INFO" {
		t.Errorf("log line is %+v", line)
	}
	addJob(t, pool, "other", `{"n":2}`)
	p.waitLog("other 2")
	if got, want := lastError(t, pool, addJob(t, pool, "slow", "{}")), "timed out after 100ms"; got != want {
		t.Errorf("last_error is %q, want %q", got, want)
	}

	writeFile(t, filepath.Join(dir, "tasks", "say.js"),
		`module.exports = async (payload, { logger }) => logger.info("second " + payload.n);`)
	p.waitLog("tasks reloaded")
	addJob(t, pool, "say", `{"n":3}`)
	p.waitLog("second 3")
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}

func TestTheConfigFileNamesModules(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := modules(t, "tasks:\n  a/b: {node: ./lib/task.mjs, env: {WHO: them}, directory: lib, concurrency: 1}\n", nil)
	if err := os.Mkdir(filepath.Join(dir, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "lib", "task.mjs"),
		`export default (payload, { logger }) => { console.log("told " + process.env.WHO + " in " + process.cwd()); };`)
	p := runModules(t, databaseURL, dir)
	id := addJob(t, pool, "a/b", "{}")
	if line := p.waitLog("told them in "); !strings.HasSuffix(line.Msg, "/lib") || line.JobID != id ||
		line.Stream != "stdout" {
		t.Errorf("log line is %+v", line)
	}
	pgtest.Await(t, pool, queueIsEmpty)
}

func TestWithoutNodeModulesServeNoTaskAndThatIsAWarning(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := modules(t, "", map[string]string{"module.js": "export default () => {};"})
	place(t, filepath.Join(dir, "tasks", "a"), "exit 0")
	config := []string{"-c", databaseURL, "--tasks", filepath.Join(dir, "tasks"), "--log-format", "json"}
	none := map[string]string{"PATH": t.TempDir()}
	p := start(t, none, config...)
	pgtest.Await(t, pool, hasTasks, "{a}")
	if line := p.waitLog("file serves no task"); line.Level != "WARN" {
		t.Errorf("it is logged as %s", line.Level)
	}
	if text := p.stderr.String(); !strings.Contains(text,
		"it is a module for Node.js, and there is no program node in $PATH") {
		t.Errorf("the log is\n%s", text)
	}
	writeFile(t, filepath.Join(dir, "gw.yaml"), "tasks:\n  b: {node: tasks/module.js}\n")
	p = start(t, none, config...)
	p.wantExit(1)
	if want := "gw.yaml:2:3: task b: find Node.js: there is no program node in $PATH"; !strings.Contains(p.stderr.String(), want) {
		t.Errorf("stderr has no %q", want)
	}
}

func TestAHelperThatNeedsPgSaysSo(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := modules(t, "", map[string]string{"ask.mjs": `export default async (payload, { query }) => { await query("select 1"); };`})
	runModules(t, databaseURL, dir)
	const want = "this helper needs the package pg, which "
	if got := lastError(t, pool, addJob(t, pool, "ask", "{}")); !strings.HasPrefix(got, want) ||
		!strings.Contains(got, "npm install pg") {
		t.Errorf("last_error is %q", got)
	}
}

func TestAWorkerThatIsKilledTakesItsNodeProcessWithIt(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	dir := modules(t, "", map[string]string{"a.js": `module.exports = (payload, { logger }) => new Promise(() => logger.info("pid " + process.pid));`})
	addJob(t, pgtest.Pool(t, databaseURL), "a", "{}")
	p := runModules(t, databaseURL, dir)
	pid := pidBehind(t, p.waitLog("pid ").Msg, "pid ")
	p.signal(syscall.SIGKILL)
	<-p.ended
	waitGone(t, pid)
}

func TestAStopWaitsForModulesAndThenFiresTheirAbortSignals(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := modules(t, "", map[string]string{
		"long.mjs": `
			import { existsSync } from "node:fs";
			export default async (payload, { logger }) => {
			  logger.info("long is here");
			  while (!existsSync(payload.file)) await new Promise((go) => setTimeout(go, 10));
			};`,
		"deaf.mjs": `export default (payload, { logger, abortSignal }) => new Promise((_, reject) => {
			logger.info("deaf is here");
			abortSignal.addEventListener("abort", () => { logger.info("aborted: " + abortSignal.reason.message); reject(new Error("cut")); });
		});`,
	})
	p := runModules(t, databaseURL, dir, "-j", "2", "--grace", "1h")
	file := filepath.Join(dir, "go")
	addJob(t, pool, "long", `{"file":"`+file+`"}`)
	deaf := addJob(t, pool, "deaf", "{}")
	p.waitLog("long is here")
	p.waitLog("deaf is here")
	p.signal(syscall.SIGTERM)
	p.waitLog("worker is stopping")
	writeFile(t, file, "")
	pgtest.Await(t, pool, "select array_agg(id) = array[$1::bigint] from graphile_worker._private_jobs", deaf)
	p.signal(syscall.SIGTERM) // a second signal ends the grace time
	if line := p.waitLog("aborted: "); line.JobID != deaf || line.Msg != "aborted: worker is shutting down" {
		t.Errorf("log line is %+v", line)
	}
	p.wantExit(143) // a job was interrupted
	const returned = `select array_agg(id) = array[$1::bigint] and bool_and(attempts = 0 and locked_at is null and last_error is null)
		from graphile_worker._private_jobs`
	if !pgtest.Value[bool](t, pool, returned, deaf) {
		t.Error("the interrupted job was not returned to the queue unchanged, or the worker did not wait for the other job")
	}
}
