package beside

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// report is the beginning of each fixture: it writes everything that a program can see of its worker to a file.
const report = `#!/bin/sh
out=$REPORT/$GRAPHILE_WORKER_JOB_ID.$GRAPHILE_WORKER_JOB_ATTEMPTS
env | sort >"$out.environment"
pwd >"$out.folder"
printf '%s' "$*" >"$out.arguments"
cat >"$out.stdin"
`

// fixtures are the executable tasks: the rest of the script by the name of its file.
var fixtures = map[string]string{
	"fine":                 "",
	"with.extension.sh":    "",
	"folder/nested/fine":   "",
	"exits":                "echo 'no such host' >&2; exit 3",
	"killed":               "kill -KILL $$",
	"flaky":                `[ "$GRAPHILE_WORKER_JOB_ATTEMPTS" -gt 6 ]`,
	"leaves_stdin_unread":  "exec </dev/null",
	"prints_without_end":   "printf 'no line end'; printf 'none here' >&2",
	"succeeds_complaining": "echo 'that was close' >&2",
}

const addFixtureJobs = `
	select graphile_worker.add_job(identifier => t.task, payload => t.payload::json, job_key => t.key,
	                               run_at => '2026-01-02 03:04:05.678+00', priority => t.priority, max_attempts => t.max_attempts)
	  from (values ('fine', '{"text":"é \" \\ €","list":[1,2.5,null,true]}', 'a key', -3, 25),
	               ('fine', null, null, 0, 25),
	               ('with', '[1,2]', null, 0, 25),
	               ('folder/nested/fine', '"text"', null, 7, 1),
	               ('exits', '{}', null, 0, 25),
	               ('exits', '{}', null, 0, 1),
	               ('killed', '{}', 'killed', 0, 25),
	               ('flaky', '{"n":1}', null, 0, 25),
	               ('leaves_stdin_unread', '{}', null, 0, 25),
	               ('prints_without_end', '{}', null, 0, 25),
	               ('succeeds_complaining', '{}', null, 0, 25)) as t (task, payload, key, priority, max_attempts)`

// left selects the remaining jobs without last_error, for which Node always stores "An error occurred".
const left = `
	select string_agg(concat_ws(' ', id, task_identifier, attempts, max_attempts, key, locked_by, revision,
	                            case when run_at - exp(attempts) * interval '1 second' between now() - interval '1 minute' and now() then 'backed off' end),
	                  e'\n' order by id)
	  from graphile_worker.jobs`

func TestAnExecutableTaskSeesAndCausesTheSameOnBothSides(t *testing.T) {
	t.Parallel()
	tasks := t.TempDir()
	for name, rest := range fixtures {
		path := filepath.Join(tasks, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(report+rest+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(work func(q *queue, reports string) (stop func())) (files map[string]string, jobs string) {
		q := newQueue(t)
		reports := t.TempDir()
		q.exec(addFixtureJobs)
		q.tried(5)
		stop := work(q, reports)
		q.await("select count(*) = 4 and bool_and(locked_at is null and attempts in (1, 6)) from graphile_worker.jobs")
		jobs = value[string](q, left)
		q.exec("select graphile_worker.reschedule_jobs(array_agg(id), run_at => '2026-02-03') from graphile_worker.jobs where task_identifier = 'flaky'")
		q.await("select count(*) = 3 and bool_and(locked_at is null) from graphile_worker.jobs")
		stop()
		return read(t, reports), jobs
	}
	nodeSaw, nodeLeft := run(func(q *queue, reports string) func() {
		return nodegw.Start(t, nodegw.Options{DatabaseURL: q.url, TaskDir: tasks, PollInterval: nodePoll,
			Env: []string{"REPORT=" + reports}}).Stop
	})
	oursSaw, oursLeft := run(func(q *queue, reports string) func() { return q.gwrun(tasks, "REPORT="+reports) })

	equal(t, "the jobs that are left", oursLeft, nodeLeft)
	equal(t, "number of reports", len(nodeSaw), 4*12)
	for _, name := range slices.Sorted(maps.Keys(nodeSaw)) {
		if ours, nodes := withoutAdditions(oursSaw[name]), nodeSaw[name]; ours != nodes {
			t.Errorf("%s: only with gw-run %q, only with Node %q", name, without(ours, nodes), without(nodes, ours))
		}
	}
}

// withoutAdditions returns the lines of a report without the variables that only gw-run sets: those with which a program gives the
// job a result, saves steps and reports progress.
func withoutAdditions(report string) string {
	return strings.Join(slices.DeleteFunc(strings.SplitAfter(report, "\n"), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return slices.Contains([]string{"GW_WORKER_ID", "GW_LEASE", "GW_RESULT_FILE"}, name)
	}), "")
}

// without returns the lines of text that are not in other.
func without(text, other string) []string {
	others := strings.Split(other, "\n")
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return slices.Contains(others, line) })
}

// gwrun starts a gw-run on a folder of tasks, in the environment that Node workers have.
func (q *queue) gwrun(tasks string, env ...string) (stop func()) {
	q.t.Helper()
	cmd := exec.Command(pgtest.Program(q.t, "gw-run"), "-c", q.url, "--tasks", tasks)
	cmd.Env = append(nodegw.Environment(), env...)
	cmd.Stderr = q.t.Output()
	if err := cmd.Start(); err != nil {
		q.t.Fatal(err)
	}
	q.t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return func() {
		q.t.Helper()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			q.t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			q.t.Errorf("gw-run ended: %v", err)
		}
	}
}

// read returns the files of a folder by their names. The name of the folder, which differs between workers, is replaced by REPORTS.
func read(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = strings.ReplaceAll(string(content), folder, "REPORTS")
	}
	return files
}
