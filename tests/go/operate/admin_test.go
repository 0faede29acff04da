package operate

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestWorkersAreUnlockedByThoseWhoSayYes(t *testing.T) {
	b := newBench(t)
	b.exec(`select .register_worker('dead'), .register_worker('alive')`,
		`update ._gw_workers set last_seen_at = now() - interval '3 hours 1 minute'`,
		`select .add_job('t', queue_name => 'q' || n) from generate_series(1, 3) as n`,
		`select from .get_job_batch('dead', batch_size => 2)`, `select from .get_job('alive')`)
	b.want(b.run("unlock", "dead", "nobody"), result{1, "",
		"dead holds 2 jobs and 2 queues, and was last seen 3 h ago\ngw-run: without a terminal, --yes is required to confirm\n"})
	if !b.is("select count(*) = 3 from .jobs where locked_by is not null") {
		t.Error("the workers were unlocked nevertheless")
	}
	b.want(b.run("unlock", "dead", "nobody", "--yes"),
		result{1, "dead: freed 2 jobs and 2 queues\nnobody: holds nothing and is not registered\n",
			"gw-run: not registered and holding nothing: 1 of 2 workers\n"})
	if got := b.value("select string_agg(locked_by, ' ') from .jobs"); got != "alive" {
		t.Errorf("jobs are still held by %s", got)
	}
	b.wantPart(b.run("unlock", "alive", "--yes", "--json"), 0, `{"worker_id":"alive","jobs":1,"queues":1,`, "")
	b.wantPart(b.run("unlock"), 2, "", "which workers?")
}

func TestAWorkerIsDrained(t *testing.T) {
	b := newBench(t)
	b.exec(`select .register_worker('w', '{t}', 4)`)
	b.want(b.run("drain", "w", "nobody"), result{1,
		"w: claims no more jobs from its next heartbeat on\nnobody: is not registered\n",
		"gw-run: not registered: 1 of 2 workers\n"})
	if !b.is("select drained from .heartbeat('w')") {
		t.Error("the worker is not drained")
	}
	b.wantPart(b.run("workers"), 0, "drained", "")
	b.want(b.run("drain", "--undo", "w"), result{stdout: "w: claims jobs again from its next heartbeat on\n"})
	b.want(b.run("drain", "--json", "w"), result{stdout: `{"worker_id":"w","is_registered":true}` + "\n"})
	b.wantPart(b.run("drain"), 2, "", "which workers?")
}

func TestWhatPilesUpIsRemoved(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_job('failed', job_key => 'k', queue_name => 'q')`, `select .permanently_fail_jobs('{1}')`,
		`select .add_job('gone', job_key => 'gone', queue_name => 'gone')`,
		`select .add_job('kept', job_key => 'kept')`,
		`select .remove_job('gone'), .remove_job('kept')`)
	b.want(b.run("cleanup"), result{stdout: "GC_JOB_QUEUES: 1 removed\n"})
	b.want(b.run("cleanup", "GC_TASK_IDENTIFIERS", "--keep", "kept"),
		result{stdout: "GC_TASK_IDENTIFIERS: 1 removed\n"})
	b.want(b.run("cleanup", "DELETE_PERMAFAILED_JOBS", "GC_JOB_QUEUES", "--json"),
		result{stdout: `{"task":"DELETE_PERMAFAILED_JOBS","rows":1}` + "\n" + `{"task":"GC_JOB_QUEUES","rows":1}` +
			"\n"})
	b.wantPart(b.run("cleanup", "EVERYTHING"), 2, "", `there is no cleanup task "EVERYTHING"`)
	b.exec(`select .add_job('held')`, `select from .get_job('node')`)
	b.wantPart(b.run("cleanup", "GC_TASK_IDENTIFIERS"), 1, "", "Stop the Node workers first")
	b.want(b.run("cleanup", "GC_TASK_IDENTIFIERS", "--force"), result{stdout: "GC_TASK_IDENTIFIERS: 2 removed\n"})
}

// As with Graphile Worker's command, the names of the worker's own tasks are kept.
func TestTheWorkersFlagCleansUpAndExits(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_job(t, job_key => t, queue_name => t) from unnest(array['file', 'folder', 'gone']) as t`,
		`select .remove_job(t) from unnest(array['file', 'folder', 'gone']) as t`)
	dir := t.TempDir()
	tasks, config := filepath.Join(dir, "tasks"), filepath.Join(dir, "gw.yaml")
	if err := errors.Join(os.Mkdir(tasks, 0o755), os.WriteFile(filepath.Join(tasks, "folder"), []byte("#!/bin/sh\n"),
		0o755),
		os.WriteFile(config, []byte("tasks:\n  file:\n    exec: ./tasks/folder\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	b.want(b.run("--tasks", tasks, "--cleanup", "GC_TASK_IDENTIFIERS,GC_JOB_QUEUES", "--cleanup",
		"DELETE_PERMAFAILED_JOBS"),
		result{stdout: "DELETE_PERMAFAILED_JOBS: 0 removed\nGC_TASK_IDENTIFIERS: 1 removed\nGC_JOB_QUEUES: 3 removed\n"})
	if got := b.value("select string_agg(task_identifier, ' ') from .list_tasks()"); got != "file folder" {
		t.Errorf("remaining tasks: %s", got)
	}
	b.wantPart(b.run("--cleanup", "GC_EVERYTHING"), 2, "", `there is no cleanup task "GC_EVERYTHING"`)
}

func TestStatisticsAreTold(t *testing.T) {
	b := newBench(t)
	fill(b)
	b.want(b.run("stats", "--over", "0s"), result{stdout: `
ready      1, the oldest for 90 m
scheduled  1
running    1, the longest for 2 m
failed     1
workers    1
`[1:]})
	pgtest.Await(t, b.pool, inQueue("select added = 4 and gone = 0 from .queue_stats()"))
	got := b.run("stats", "--over", "0s", "--json")
	want := `^{"ready":1,"scheduled":1,"running":1,"failed":1,"is_estimate":false,"scale":1,"oldest_ready_seconds":54[0-9.]+,` +
		`"longest_running_seconds":15[0-9.]+,"workers":1,"added":4,"gone":0,"added_per_second":null,"gone_per_second":null}\n$`
	if !regexp.MustCompile(want).MatchString(got.stdout) || got.code != 0 {
		t.Errorf("exit code %d:\n%s, want\n%s", got.code, got.stdout, want)
	}
	b.wantPart(b.run("stats", "--over", "10ms"), 0, "added      0.0 a second\ngone       0.0 a second\n", "")
	b.wantPart(b.run("stats", "--over", "-1s"), 2, "", "must not be negative")
	b.exec(`select .complete_jobs('{1,2}')`)
	pgtest.Await(t, b.pool, inQueue("select gone = 2 from .queue_stats()"))
}

func TestDoctorSaysWhatHurtsAndExitsByIt(t *testing.T) {
	b := newBench(t)
	b.want(b.run("doctor"), result{stdout: "All is well.\n"})
	b.want(b.run("doctor", "--json"), result{})
	b.exec(`select .register_worker('w', '{a}')`, `select .add_job('b')`)
	got := b.run("doctor")
	b.wantPart(got, 1, "warning: task without worker: task b\n  Due jobs: 1, ", "the findings above need attention")
	if !strings.Contains(got.stdout, "\n  -> Start a worker with this task") {
		t.Errorf("no remedy:\n%s", got.stdout)
	}
	for severity, code := range map[string]int{"critical": 0, "warning": 1, "info": 1, "never": 0} {
		b.wantPart(b.run("doctor", "--fail-on", severity), code, "task without worker", "")
	}
	b.wantPart(b.run("doctor", "--fail-on", "bad"), 2, "", "must be critical, warning, info or never")
}

func TestJobsThatWaitWhileNoWorkerIsThereAreNotHealthy(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_job('t')`)
	b.wantPart(b.run("healthcheck", "--timeout", "1m"), 0, "nothing critical", "")
	b.exec(`update ._private_jobs set run_at = now() - interval '20 minutes'`,
		`update ._private_jobs set updated_at = run_at`)
	b.wantPart(b.run("doctor"), 1, "critical: no worker: schema graphile_worker\n  Due jobs: 1, the oldest for 00:20:",
		"need attention")
	b.wantPart(b.run("healthcheck", "--timeout", "1m"), 1,
		"FAIL  doctor    no worker: schema graphile_worker: Due jobs: 1, the oldest for 00:20:", "not healthy")
	b.exec(`select .register_worker('w', '{t}')`)
	b.want(b.run("doctor"), result{stdout: "All is well.\n"})
	b.wantPart(b.run("healthcheck", "--timeout", "1m"), 0, "nothing critical", "")
}

func TestTheHealthOfTheQueueIsChecked(t *testing.T) {
	b := newBench(t)
	b.exec(`select .register_worker('w')`, `select .add_job('t', run_at => now() - interval '90 seconds')`)
	got := b.run("healthcheck", "--timeout", "1m", "--max-age", "1h", "--workers", "1")
	got.stdout = regexp.MustCompile(`version \d+|\d+m\d+s`).ReplaceAllString(got.stdout, "N")
	b.want(got, result{stdout: `
ok    database  it answers
ok    schema    N
ok    doctor    nothing critical
ok    age       the oldest ready job has been due for N
ok    workers   registered and seen: 1
`[1:]})
	if got := b.run("healthcheck", "--timeout", "1m"); got.code != 0 || strings.Contains(got.stdout, "age") {
		t.Errorf("exit code %d:\n%s", got.code, got.stdout)
	}
	b.wantPart(b.run("healthcheck", "--timeout", "1m", "--max-age", "1m"), 1, "longer than 1m0s", "not healthy")
	b.wantPart(b.run("healthcheck", "--timeout", "1m", "--workers", "2", "--json"), 1,
		`{"check":"workers","is_healthy":false,"detail":"registered and seen: 1, fewer than 2"}`, "not healthy")
	b.exec(`alter sequence .jobs_id_seq1 maxvalue 10`, `select setval('graphile_worker.jobs_id_seq1', 10)`)
	b.exec(`drop function .complete_job(text, bigint, bigint, json)`)
	b.wantPart(b.run("healthcheck", "--timeout", "1m"), 1, "FAIL  doctor", "not healthy")
	b.exec(`update ._gw_schema_version set version = version - 1`)
	b.wantPart(b.run("healthcheck", "--timeout", "1m"), 1, "gw-migrate upgrades it", "not healthy")
	b.url = strings.Replace(b.url, "/gw_test", "/gone_gw_test", 1)
	b.wantPart(b.run("healthcheck"), 1, "FAIL  database  connect: ", "not healthy")
	b.wantPart(b.run("healthcheck", "--timeout", "0s"), 2, "", "--timeout must be positive")
}
