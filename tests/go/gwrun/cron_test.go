package gwrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// queueBeside creates a folder of tasks with a crontab beside it, and returns the paths of both. With an empty text it creates no
// crontab.
func queueBeside(t *testing.T, crontab string) (folder, path string) {
	t.Helper()
	dir := t.TempDir()
	folder, path = filepath.Join(dir, "tasks"), filepath.Join(dir, "crontab")
	if err := os.Rename(tasks(t, map[string]string{"a": "exit 0"}), folder); err != nil {
		t.Fatal(err)
	}
	if crontab != "" {
		writeFile(t, path, crontab)
	}
	return folder, path
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// hasCrontab selects whether the only registered worker has a crontab with these identifiers.
const hasCrontab = `select coalesce(array_agg(w.crontab::text) = array[$1::text], false) from graphile_worker._gw_workers as w`

func TestTheCrontabBesideTheTasksIsUsed(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	folder, _ := queueBeside(t, "* * * * * b ?fill=1h {n: 1}\n")
	pgtest.Exec(t, pool, `
		insert into graphile_worker._private_known_crontabs (identifier, known_since) values ('b', now() - interval '90 seconds')`)
	p := work(t, databaseURL, folder+"/")
	pgtest.Await(t, pool, `select count(*) > 0 and bool_and(j.payload ->> 'n' = '1' and (j.payload #>> '{_cron,backfilled}')::boolean)
		from graphile_worker._private_jobs as j`)
	pgtest.Await(t, pool, hasCrontab, "{b}")
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}

// The backlog needs several calls, between which the worker's heartbeats go on.
func TestABacklogOfThousandsOfRunsIsCaughtUp(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	folder, _ := queueBeside(t, "* * * * * b ?fill=30d\n* * * * * c ?fill=30d\n* * * * * d ?fill=30d\n")
	pgtest.Exec(t, pool, `
		insert into graphile_worker._private_known_crontabs (identifier, known_since, last_execution)
		select i, now() - interval '40 days', date_trunc('minute', now()) - interval '900 minutes' from unnest('{b,c,d}'::text[]) as i`)
	p := work(t, databaseURL, folder+"/")
	pgtest.Await(t, pool, `select count(*) >= 3 * 899 and count(*) = count(distinct (task_id, run_at)) from graphile_worker._private_jobs`)
	pgtest.Await(t, pool, `select min(last_execution) > now() - interval '2 minutes' from graphile_worker._private_known_crontabs`)
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}

func TestACrontabIsReadAgainOnHangup(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	folder, _ := queueBeside(t, "")
	path := filepath.Join(t.TempDir(), "jobs.crontab")
	writeFile(t, path, "* * * * * a\n")
	p := work(t, databaseURL, folder, "--crontab", path)
	pgtest.Await(t, pool, hasCrontab, "{a}")

	writeFile(t, path, "* * * * * b\n* * * * c\n")
	p.signal(syscall.SIGHUP)
	if line := p.waitLog("crontab is invalid, previous one stays in use"); line.Level != "ERROR" {
		t.Errorf("a wrong crontab is logged as %s", line.Level)
	}
	writeFile(t, path, "* * * * * b ?tz=Europe/Atlantis\n")
	p.signal(syscall.SIGHUP)
	if line := p.waitLog("new recurring jobs were refused, previous ones stay in use"); line.Level != "ERROR" {
		t.Errorf("one that the database refuses is logged as %s", line.Level)
	}
	if !pgtest.Value[bool](t, pool, hasCrontab, "{a}") {
		t.Error("the worker no longer has the previous crontab")
	}

	writeFile(t, path, "* * * * * b\n")
	p.signal(syscall.SIGHUP)
	pgtest.Await(t, pool, hasCrontab, "{b}")
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}

func TestACrontabIsMissedOnlyIfItWasAskedFor(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	folder, path := queueBeside(t, "")
	p := work(t, databaseURL, folder)
	p.waitLog("no crontab")
	p.waitLog("worker started")
	p.signal(syscall.SIGTERM)
	p.wantExit(0)

	p = work(t, databaseURL, folder, "--crontab", path)
	p.wantExit(1)
	if want := "read crontab: open " + path; !strings.Contains(p.stderr.String(), want) {
		t.Errorf("stderr has no %q", want)
	}
}

func TestAWrongCrontabKeepsAWorkerFromStarting(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	folder, path := queueBeside(t, "60 * * * * a\n* * * * b\n")
	p := work(t, "postgres:///unused", folder)
	p.wantExit(1)
	for _, want := range []string{"read crontab " + path + ": 1:1: Too large value '60'", "\n2:", "gw-run cron check"} {
		if !strings.Contains(p.stderr.String(), want) {
			t.Errorf("stderr has no %q", want)
		}
	}

	folder, _ = queueBeside(t, "* * * * * a ?tz=Europe/Atlantis\n")
	p = work(t, pgtest.Database(t), folder)
	p.wantExit(1)
	if want := "Time zone 'Europe/Atlantis' is not known"; !strings.Contains(p.stderr.String(), want) {
		t.Errorf("stderr has no %q", want)
	}
}

func TestOnceRunsNoCron(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	folder, path := queueBeside(t, "* * * * * a ?fill=1h\n")
	pgtest.Exec(t, pool, `
		insert into graphile_worker._private_known_crontabs (identifier, known_since) values ('a', now() - interval '90 seconds')`)
	work(t, databaseURL, folder, "--once", "--crontab", path).wantExit(0)
	if !pgtest.Value[bool](t, pool, `select last_execution is null from graphile_worker._private_known_crontabs`) {
		t.Error("cron has run")
	}
}

// cron runs a command of gw-run cron.
func cron(t *testing.T, databaseURL string, args ...string) (output string, err error) {
	t.Helper()
	cmd := exec.Command(pgtest.Program(t, "gw-run"), slices.Concat([]string{"cron"}, args,
		[]string{"-c", databaseURL})...)
	cmd.Env = environment(nil)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

func TestWhatTheDatabaseKnowsIsListed(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	for _, statement := range []string{
		`select graphile_worker.register_worker('v'), graphile_worker.register_worker('w')`,
		`select graphile_worker.run_cron(
		   '[{"task": "both", "pattern": "* * * * *"}, {"task": "one", "pattern": "* * * * *"}]', worker_id => 'v')`,
		`select graphile_worker.run_cron('[{"task": "both", "pattern": "* * * * *"}]', worker_id => 'w')`,
		`insert into graphile_worker._private_known_crontabs (identifier, known_since, last_execution)
		 values ('gone', now(), '2026-06-16 08:10Z')`,
		`select graphile_worker.cron_schedule('nightly', '30 2 1 1 *', 'clean', time_zone => 'Asia/Tokyo')`,
		`select graphile_worker.cron_schedule('off', '0 0 * * *', 'clean')`,
		`select graphile_worker.cron_pause('off')`,
		`update graphile_worker._gw_schedules set last_job_id = 1 where identifier = 'nightly'`,
	} {
		pgtest.Exec(t, pool, statement)
	}
	next := pgtest.Value[string](t, pool, `
		select to_char(next_run at time zone 'UTC', 'YYYY-MM-DD HH24:MI') from graphile_worker.cron_schedules where identifier = 'nightly'`)
	want := [][]string{
		{"IDENTIFIER", "SOURCE", "TASK", "PATTERN", "ZONE", "NEXT RUN", "LAST RUN", "LAST OUTCOME"},
		{"both", "crontab of 2 workers", "-", "-", "-", "-", "-", "-"},
		{"gone", "crontab of no worker", "-", "-", "-", "-", "2026-06-16 08:10", "-"},
		{"nightly", "schedule", "clean", "30 2 1 1 *", "Asia/Tokyo", next, "-", "unknown"},
		{"off", "schedule", "clean", "0 0 * * *", "UTC", "paused", "-", "-"},
		{"one", "crontab of 1 worker", "-", "-", "-", "-", "-", "-"},
	}
	output, err := cron(t, databaseURL, "list")
	lines := strings.Split(strings.TrimSuffix(output, "\n"), "\n")
	const note = "Task, pattern and next run of a crontab's items are in the crontab: gw-run cron check FILE shows them."
	if last := len(lines) - 1; lines[last] != note {
		t.Errorf("the last line is %q", lines[last])
	} else {
		lines = lines[:last]
	}
	if err != nil || len(lines) != len(want) {
		t.Fatalf("%v, %d lines, want %d:\n%s", err, len(lines), len(want), output)
	}
	for i, line := range lines {
		if got := strings.Join(cells(line), "|"); got != strings.Join(want[i], "|") {
			t.Errorf("line %d is\n%s, want\n%s", i+1, got, strings.Join(want[i], "|"))
		}
	}
	for _, c := range []struct{ act, name, want string }{
		{"resume", "off", "The schedule off is resumed.\n"},
		{"pause", "off", "The schedule off is paused.\n"},
		{"run", "off", "The schedule off was run: a job was added.\n"},
		{"run", "none", "gw-run: there is no schedule none; gw-run cron list shows them\n"},
	} {
		if output, err := cron(t, databaseURL, c.act, c.name); output != c.want || (err != nil) != (c.name == "none") {
			t.Errorf("%s %s: %v and %q, want %q", c.act, c.name, err, output, c.want)
		}
	}
	pgtest.Await(t, pool, `
		select string_agg(a.act, ' ' order by a.id) = 'schedule schedule pause resume pause run' and bool_or(a.actor <> '')
		  from graphile_worker.list_audit() as a where a.act <> 'add'`)
}

// cells returns the columns of a line, which are separated by at least two spaces.
func cells(line string) (cells []string) {
	for cell := range strings.SplitSeq(line, "  ") {
		if cell = strings.TrimSpace(cell); cell != "" {
			cells = append(cells, cell)
		}
	}
	return cells
}

func TestNothingIsListedWhereThereIsNoQueue(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	output, err := cron(t, pgtest.EmptyDatabase(t), "list")
	if err == nil || !strings.Contains(output, "gw-migrate installs and upgrades the queue") {
		t.Errorf("got the error %v and\n%s", err, output)
	}
}
