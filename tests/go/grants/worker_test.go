package grants

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// gw-run has only the rights that gw-migrate grants gives a worker, and runs jobs that succeed, that fail, that recur, and that are
// added while it sleeps.
func TestGwRunWorksUnderARoleWithTheRightsOfAWorker(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", nil)
	q.grant()
	folder := t.TempDir()
	tasks := filepath.Join(folder, "tasks")
	writeTasks(t, tasks, map[string]string{"good": "exit 0", "bad": "echo it went wrong >&2; exit 1"})
	crontab := filepath.Join(folder, "crontab")
	if err := os.WriteFile(crontab, []byte("* * * * * recur ?id=often&fill=10m\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// The item has been known for long, so that its runs of the last minutes are backfilled when the worker starts.
	q.exec(`insert into S._private_known_crontabs (identifier, known_since) values ('often', now() - interval '1 day')`)
	q.exec(`select S.set_setting('notify', 'idle')`) // so that the worker marks itself as sleeping
	producer := q.poolAs("producer")
	q.execAs(producer, `select API.enqueue('good', queue_name => 'q'), API.enqueue('bad') from generate_series(1, 3) as n`)

	log := filepath.Join(folder, "log")
	file, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	output := func() string {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	worker := exec.CommandContext(t.Context(), pgtest.Program(t, "gw-run"), "-c", q.as("worker"), "--no-migrate",
		"--schema", "graphile_worker_api", "--tasks", tasks, "--crontab", crontab, "-j", "2", "--poll-interval", "1h",
		"--http", "127.0.0.1:0")
	worker.Stdout, worker.Stderr = file, file
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if t.Failed() {
			_ = worker.Process.Kill()
			_ = worker.Wait()
			t.Log(output())
		}
	}()
	pgtest.Await(t, q.pool, `
		select count(*) filter (where j.task_identifier = 'good') = 0
		   and count(*) filter (where j.task_identifier = 'bad' and j.last_error like '%it went wrong%' and j.attempts = 1) = 3
		   and count(*) filter (where j.task_identifier = 'recur') >= 10
		  from graphile_worker.jobs as j`)
	pgtest.Await(t, q.pool, `select count(*) = 1 from graphile_worker._gw_sleepers`)
	q.execAs(producer, `select API.enqueue('good')`)
	pgtest.Await(t, q.pool, `select count(*) = 0 from graphile_worker.jobs as j where j.task_identifier = 'good'`)
	if n := pgtest.Value[int64](t, q.poolAs("monitor"), `
		select count(*) from graphile_worker_api.list_workers() as w where w.is_registered and 'good' = any (w.tasks)`); n != 1 {
		t.Errorf("%d workers", n)
	}

	wantServed(t, output())

	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := worker.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if strings.Contains(output(), "42501") || strings.Contains(output(), "permission denied") {
		t.Error("the worker lacks a right")
	}
	if n := pgtest.Value[int64](t, q.pool, `select count(*) from graphile_worker._gw_workers`); n != 0 {
		t.Errorf("%d workers left", n)
	}
}

// writeTasks writes shell scripts for tasks in a new folder.
func writeTasks(t *testing.T, folder string, scripts map[string]string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// wantServed checks what a worker with this log serves over HTTP.
func wantServed(t *testing.T, log string) {
	t.Helper()
	address := regexp.MustCompile(`msg="serving HTTP" address=(\S+)`).FindStringSubmatch(log)
	if address == nil {
		t.Fatal("the address of the HTTP server was not logged")
	}
	for path, want := range map[string]string{"/readyz": "ok", "/metrics": "gw_queue_up 1\n"} {
		response, err := http.Get("http://" + address[1] + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, %v, without %s:\n%s", path, response.Status, err, want, text)
		}
	}
}

func TestGwRunsCommandsWorkUnderTheRoleOfAnAdminAndOfAMonitor(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", nil)
	q.grant()
	q.exec(`select S.add_job('task', '{"a":"SECRET"}') from generate_series(1, 3) as n`)
	q.exec(`select S.register_worker('w')`)
	call := func(kind string, args ...string) (string, error) {
		args = append(args, "-c", q.as(kind), "--schema", "graphile_worker_api")
		output, err := exec.CommandContext(t.Context(), pgtest.Program(t, "gw-run"), args...).CombinedOutput()
		return string(output), err
	}
	doctor := []string{"doctor", "--fail-on", "never"} // sessions of other tests are on this server
	for _, args := range [][]string{
		{"stats"}, {"tasks"}, {"queues"}, {"workers"}, doctor, {"jobs"}, {"show", "1"}, {"cron", "list"},
		{"fail", "--yes", "1"},
		{"retry", "--yes", "1"}, {"reschedule", "--yes", "--in", "1h", "2"}, {"complete", "--yes", "3"},
		{"unlock", "--yes", "w"},
	} {
		if output, err := call("admin", args...); err != nil {
			t.Errorf("%s: %v\n%s", args, err, output)
		}
	}
	if got := pgtest.Value[string](t, q.pool, `
		select string_agg(j.id || ' ' || (j.run_at > now() + interval '50 minutes'), ', ' order by j.id) from graphile_worker.jobs as j`,
	); got != "1 false, 2 true" {
		t.Errorf("jobs: %s", got)
	}
	for _, args := range [][]string{{"stats"}, {"tasks"}, {"queues"}, {"workers"}, doctor} {
		if output, err := call("monitor", args...); err != nil || strings.Contains(output, "SECRET") {
			t.Errorf("%s: %v\n%s", args, err, output)
		}
	}
	output, err := call("monitor", "show", "1")
	if err == nil || !strings.Contains(output, "permission denied") ||
		!strings.Contains(output, "; gw-migrate grants") {
		t.Errorf("a monitor sees a job: %v\n%s", err, output)
	}
}
