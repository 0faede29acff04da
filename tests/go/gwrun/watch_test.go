package gwrun

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// hasTasks selects whether the only registered worker serves these tasks.
const hasTasks = `select coalesce(array_agg(w.tasks::text) = array[$1::text], false) from graphile_worker._gw_workers as w`

// place creates an executable and moves it to its path, as an editor does.
func place(t *testing.T, path, body string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	draft := filepath.Join(t.TempDir(), "draft")
	if err := os.WriteFile(draft, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(draft, path); err != nil {
		t.Fatal(err)
	}
}

func TestChangesOfFilesAreTakenOverWithoutARestart(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := configured(t, "", map[string]string{"a": "exit 0"})
	config, crontab, folder := filepath.Join(dir, "gw.yaml"), filepath.Join(dir, "crontab"), filepath.Join(dir, "tasks")
	p := work(t, databaseURL, folder, "--watch")
	pgtest.Await(t, pool, hasTasks, "{a}")

	t.Log("new tasks, one in a new folder; a removed task")
	addJob(t, pool, "mail/send", "{}") // is added before the task exists
	place(t, filepath.Join(folder, "b.sh"), "exit 0")
	place(t, filepath.Join(folder, "mail", "send"), "exit 0")
	pgtest.Await(t, pool, hasTasks, "{a,b,mail/send}")
	pgtest.Await(t, pool, queueIsEmpty)
	if err := os.Remove(filepath.Join(folder, "a")); err != nil {
		t.Fatal(err)
	}
	pgtest.Await(t, pool, hasTasks, "{b,mail/send}")
	place(t, filepath.Join(folder, "mail", "read"), "exit 0")
	pgtest.Await(t, pool, hasTasks, "{b,mail/read,mail/send}")

	t.Log("a config file, and a wrong one")
	writeFile(t, config, "forbidden_flags: [no]\njobs: 5\ntasks:\n  c: {exec: [sh, -c, exit 0]}\n")
	pgtest.Await(t, pool, hasTasks, "{b,c,mail/read,mail/send}")
	p.waitLog("changed settings take effect after a restart")
	writeFile(t, config, "tasks:\n  c: {exec: ./missing}\n")
	if line := p.waitLog("config is invalid, previous one stays in use"); line.Level != "ERROR" {
		t.Errorf("a wrong config is logged as %s", line.Level)
	}
	writeFile(t, config, "tasks:\n  gone: {timeout: 5s}\n")
	p.waitLog("tasks are invalid, previous ones stay in use")
	addJob(t, pool, "c", "{}")
	pgtest.Await(t, pool, queueIsEmpty)
	forbidden := pgtest.Value[int64](t, pool, "select id from graphile_worker.add_job('c', flags => '{no}')")
	addJob(t, pool, "b", "{}")
	pgtest.Await(t, pool, "select array_agg(id) = array[$1::bigint] from graphile_worker._private_jobs", forbidden)
	writeFile(t, config, "tasks:\n  c: {exec: [sh, -c, exit 0]}\n")
	pgtest.Await(t, pool, queueIsEmpty)

	t.Log("a crontab, and a wrong one")
	writeFile(t, crontab, "* * * * * b\n")
	pgtest.Await(t, pool, hasCrontab, "{b}")
	writeFile(t, crontab, "60 * * * * b\n")
	p.waitLog("crontab is invalid, previous one stays in use")
	if !pgtest.Value[bool](t, pool, hasCrontab, "{b}") {
		t.Error("the worker no longer has the previous crontab")
	}
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}

func TestTheConfigFileIsReadAgainOnHangup(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := configured(t, "", map[string]string{"a": "exit 0"})
	p := work(t, databaseURL, filepath.Join(dir, "tasks"))
	pgtest.Await(t, pool, hasTasks, "{a}")
	writeFile(t, filepath.Join(dir, "gw.yaml"), "tasks:\n  b: {exec: [sh, -c, exit 0]}\n")
	p.signal(syscall.SIGHUP)
	pgtest.Await(t, pool, hasTasks, "{a,b}")
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}

func TestARunningJobIsNotDisturbedByAChangeOfItsTask(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := configured(t, "tasks: {ask: {persistent: ./old}}\n", nil)
	const script = "while read -r line; do\n  echo $0 has one >&2\n  until [ -e go ]; do sleep 0.01; done\n  id=${line#*\\\"id\\\":}; echo \"{\\\"id\\\":${id%%,*},\\\"ok\\\":true}\"\ndone"
	place(t, filepath.Join(dir, "old"), script)
	place(t, filepath.Join(dir, "new"), script)
	p := work(t, databaseURL, filepath.Join(dir, "tasks"), "-w", "-j", "2")
	addJob(t, pool, "ask", "{}")
	p.waitLog(filepath.Join(dir, "old") + " has one")
	writeFile(t, filepath.Join(dir, "gw.yaml"), "tasks: {ask: {persistent: ./new}}\n")
	p.waitLog("tasks reloaded")
	addJob(t, pool, "ask", "{}")
	p.waitLog(filepath.Join(dir, "new") + " has one")
	writeFile(t, filepath.Join(dir, "go"), "")
	pgtest.Await(t, pool, queueIsEmpty)
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}
