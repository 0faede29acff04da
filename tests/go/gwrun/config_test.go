package gwrun

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// configured creates a folder with a config file and a folder of tasks, and returns its path.
func configured(t *testing.T, config string, scripts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Rename(tasks(t, scripts), filepath.Join(dir, "tasks")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "gw.yaml"), config)
	return dir
}

func TestThePersistentExamplesServeTheirTasks(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	node := filepath.Dir(nodegw.Node(t))
	p := prepare(t, nil, "-c", databaseURL, "--config", "../../../examples/persistent/gw.yaml", "--log-format", "json",
		"-j", "4")
	p.cmd.Env = append(p.cmd.Env, "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+node,
		"PYTHONDONTWRITEBYTECODE=1")
	p.start()
	for _, task := range []string{"greet/python", "greet/node"} {
		pgtest.Exec(t, pool, `select graphile_worker.add_job($1, json_build_object('name', $1 || n)) from generate_series(1, 20) as n`, task)
		wrong := addJob(t, pool, task, "{}")
		if line := p.waitLog("hello, " + task + "20"); line.Task != task || line.Stream != "stderr" {
			t.Errorf("log line is %+v", line)
		}
		pgtest.Await(t, pool, `select attempts = max_attempts and last_error like '%''name''' and locked_at is null
			from graphile_worker._private_jobs where id = $1`, wrong)
	}
	pgtest.Await(t, pool, "select count(*) = 2 from graphile_worker._private_jobs")
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}

// startStubborn starts gw-run with a persistent program that does not end by itself, and returns its process id.
func startStubborn(t *testing.T) (p *process, pid int) {
	t.Helper()
	databaseURL := pgtest.Database(t)
	dir := configured(t, "tasks:\n  ask: {persistent: ./ask, kill_delay: 100ms}\n", nil)
	place(t, filepath.Join(dir, "ask"), `
		trap '' TERM
		while read -r line; do echo pid $$ >&2; echo '{"id":1,"ok":true}'; done
		while :; do sleep 0.05; done`)
	pool := pgtest.Pool(t, databaseURL)
	addJob(t, pool, "ask", "{}")
	p = work(t, databaseURL, filepath.Join(dir, "tasks"))
	pid = pidBehind(t, p.waitLog("pid ").Msg, "pid ")
	pgtest.Await(t, pool, queueIsEmpty)
	return p, pid
}

func TestPersistentProgramsEndBeforeTheWorkerDoes(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	p, pid := startStubborn(t)
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
	if err := pgtest.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the program is still running: %v", err)
	}
}

func TestTheConfigFileSaysHowTasksRun(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := configured(t, `
jobs: 3
quiet: true
tasks:
  slow: {timeout: 2s, backoff: [1h, 2h]}
  one: {concurrency: 1}
  told: {exec: [./tell, it, "${WHAT}"], env: {WHO: "them"}, directory: tasks}
`, map[string]string{"slow": "exec sleep 1000", "one": `echo one began; until [ -e "$0.go" ]; do sleep 0.01; done`})
	place(t, filepath.Join(dir, "tell"), "echo told $WHO $* in $(basename $PWD)")
	slow := addJob(t, pool, "slow", "{}")
	pgtest.Exec(t, pool, "select graphile_worker.add_job('one') from generate_series(1, 5)")
	p := start(t, map[string]string{"WHAT": "all of it"}, "-c", databaseURL, "--config", filepath.Join(dir, "gw.yaml"),
		"--tasks", filepath.Join(dir, "tasks"), "--log-format", "json")
	pgtest.Await(t, pool, `select last_error = 'timed out after 2s, killed by signal SIGTERM (15)' and locked_at is null
		and run_at between now() + interval '59 minutes' and now() + interval '61 minutes' from graphile_worker._private_jobs where id = $1`, slow)
	p.waitLog("one began")
	addJob(t, pool, "told", "{}")
	p.waitLog("told them it all of it in tasks")
	if n := pgtest.Value[int](t, pool, "select count(*) from graphile_worker._private_jobs where locked_at is not null and max_attempts = 25"); n > 2 {
		t.Errorf("%d jobs are claimed, want only the running job and the job that reported", n)
	}
	writeFile(t, filepath.Join(dir, "tasks", "one.go"), "")
	pgtest.Await(t, pool, "select count(*) = 1 from graphile_worker._private_jobs")
}

func TestAWrongConfigFileKeepsAWorkerFromStarting(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	dir := configured(t, "jobs: 0\ntasks:\n  a: {exec: ./missing}\n", map[string]string{"a": "exit 0"})
	p := work(t, "postgres:///unused", filepath.Join(dir, "tasks"))
	p.wantExit(1)
	for _, want := range []string{"gw.yaml:1:7: jobs is 0", "gw.yaml:3:13: exec: there is no file"} {
		if !strings.Contains(p.stderr.String(), want) {
			t.Errorf("stderr has no %q", want)
		}
	}
}

func TestForbiddenFlagsFollowAQueryWhileItFailsNot(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := configured(t, "forbidden_flags: {query: select flag from paused}\n", map[string]string{"a": "exit 0"})
	p := work(t, databaseURL, filepath.Join(dir, "tasks"))
	p.wantExit(1)
	if want := `gw.yaml:1:18: ask for forbidden flags: ERROR: relation "paused" does not exist`; !strings.Contains(p.stderr.String(), want) {
		t.Errorf("stderr has no %q", want)
	}

	pgtest.Exec(t, pool, "create table paused as select 'slow' as flag")
	add := func(flag string) int64 {
		return pgtest.Value[int64](t, pool, "select id from graphile_worker.add_job('a', flags => array[$1])", flag)
	}
	p = work(t, databaseURL, filepath.Join(dir, "tasks"))
	slow := add("slow")
	pgtest.Await(t, pool, isDone, add("fast"))
	pgtest.Exec(t, pool, "update paused set flag = 'fast'")
	pgtest.Await(t, pool, isDone, slow)
	fast := add("fast")

	pgtest.Exec(t, pool, "alter table paused rename to resumed")
	if line := p.waitLog("query for forbidden flags failed, previous flags stay in use"); line.Level != "ERROR" {
		t.Errorf("it is logged as %s", line.Level)
	}
	pgtest.Await(t, pool, isDone, add("slow"))
	if pgtest.Value[bool](t, pool, isDone, fast) {
		t.Error("the last answer does not count any more")
	}
	pgtest.Exec(t, pool, "truncate resumed")
	pgtest.Exec(t, pool, "alter table resumed rename to paused")
	p.waitLog("query for forbidden flags succeeds again")
	pgtest.Await(t, pool, isDone, fast)
}
