package operate

import (
	"regexp"
	"strings"
	"testing"
)

// fill creates jobs in all states, and workers.
func fill(b bench) {
	b.t.Helper()
	b.exec(
		`select .add_job('mail', '{"to": "you"}', run_at => now() - interval '90 minutes 10 seconds', job_key => 'ready', priority => -5)`,
		`select .add_job('mail', run_at => now() + interval '3 hours 30 minutes', queue_name => 'letters', flags => '{slow,b}')`,
		`select .add_job('resize', job_key => 'running', max_attempts => 3)`,
		`select .add_job('resize', job_key => 'failed', max_attempts => 2)`,
		`update ._private_jobs set attempts = 1, locked_by = 'w1', locked_at = now() - interval '150 seconds' where key = 'running'`,
		`update ._private_jobs set attempts = 2, last_error = e'no such \x1b[31mpicture\nat resize.js:1', run_at = now() where key = 'failed'`,
		`update ._private_jobs set created_at = now() - interval '3 days 1 hour'`,
		`select .register_worker('w1', '{mail,resize}', 4, 'host', 17, 'v1')`,
		`update ._gw_workers set started_at = now() - interval '10 minutes 10 seconds', last_seen_at = now() - interval '4 minutes 10 seconds'`,
	)
}

func TestJobsAreListedInTheWordsOfTheirStates(t *testing.T) {
	b := newBench(t)
	fill(b)
	b.want(b.run("jobs"), result{stdout: `
ID  STATE      TASK    QUEUE    KEY      PRIORITY  ATTEMPTS  WHEN          ADDED    LAST ERROR
 1  ready      mail    -        ready          -5      0/25  due 90 m ago  3 d ago  -
 2  scheduled  mail    letters  -               0      0/25  in 3 h        3 d ago  -
 3  running    resize  -        running         0       1/3  for 2 m       3 d ago  -
 4  failed     resize  -        failed          0       2/2  -             3 d ago  no such \x1b[31mpicture…
`[1:]})
}

func TestListsForProgramsAreWhatTheFunctionsReturn(t *testing.T) {
	b := newBench(t)
	fill(b)
	b.exec(`update ._private_job_queues set locked_at = now(), locked_by = 'node'`)
	for command, function := range map[string]string{
		"jobs": "list_jobs", "tasks": "list_tasks", "queues": "list_queues", "workers": "list_workers",
		"doctor --fail-on never": "doctor",
		"show 1 2 3 4":           "show_jobs('{1,2,3,4}')",
	} {
		if !strings.Contains(function, "(") {
			function += "()"
		}
		want := b.value(`select coalesce(string_agg(row_to_json(l)::text || e'\n', ''), '') from .` + function +
			` as l, set_config('timezone', 'UTC', false)`)
		got := b.run(append(strings.Fields(command), "--json")...)
		if function == "doctor()" { // its output contains ages
			age := regexp.MustCompile(`\d\d:\d\d:\d\d`)
			want, got.stdout = age.ReplaceAllString(want, "AGE"), age.ReplaceAllString(got.stdout, "AGE")
		}
		b.want(got, result{stdout: want})
	}
}

func TestConditionsOfJobsAreCombined(t *testing.T) {
	b := newBench(t)
	fill(b)
	b.exec(`select .add_job('mail', queue_name => 'letters')`)
	for conditions, want := range map[string]string{
		"":                                    "1 2 3 4 5",
		"--state failed":                      "4",
		"--task mail":                         "1 2 5",
		"--queue letters":                     "2 5",
		"--key running":                       "3",
		"--older-than 3d":                     "1 2 3 4",
		"--newer-than 1h":                     "5",
		"--after 2":                           "3 4 5",
		"--task mail --state ready --after 1": "5",
		"--task mail --state failed":          "",
	} {
		got := b.run(append(strings.Fields("jobs --json "+conditions), "--watch=0s")...)
		var ids []string
		for line := range strings.Lines(got.stdout) {
			id, _, _ := strings.Cut(strings.TrimPrefix(line, `{"id":`), ",")
			ids = append(ids, id)
		}
		if strings.Join(ids, " ") != want || got.code != 0 {
			t.Errorf("%q: exit code %d, jobs %v, want %s; %s", conditions, got.code, ids, want, got.stderr)
		}
	}
	b.wantPart(b.run("jobs", "--state", "waiting"), 2, "",
		"There is no state 'waiting'; jobs are ready, scheduled, running or failed.")
	b.wantPart(b.run("jobs", "--older-than", "long"), 2, "", `invalid input syntax for type interval: "long"`)
	b.wantPart(b.run("jobs", "--limit", "0"), 2, "", "--limit is 0, must be at least 1")
	b.wantPart(b.run("jobs", "--watch=1ms"), 2, "", "--watch is 1ms, must be at least 100ms")
}

func TestALongListSaysHowToSeeTheRest(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_job(t, queue_name => t) from unnest(array['a', 'b''s', 'c']) as t`)
	const more = "There are more rows: --limit shows more of them, --after %s the next ones.\n"
	b.wantPart(b.run("jobs", "-n", "2"), 0, strings.ReplaceAll(more, "%s", "2"), "")
	b.wantPart(b.run("jobs", "-n", "2", "--json"), 0, `{"id":2`, strings.ReplaceAll(more, "%s", "2"))
	b.wantPart(b.run("tasks", "-n", "1"), 0, strings.ReplaceAll(more, "%s", "a"), "")
	b.wantPart(b.run("queues", "-n", "2"), 0, strings.ReplaceAll(more, "%s", `'b'\''s'`), "")
	got := b.run("queues", "--after", "b's")
	if strings.Contains(got.stdout, "b's") || strings.Contains(got.stdout, "more") ||
		!strings.Contains(got.stdout, "c ") {
		t.Errorf("the next page is\n%s", got.stdout)
	}
	if got := b.run("jobs", "-n", "3"); strings.Contains(got.stdout, "more") {
		t.Errorf("more than all:\n%s", got.stdout)
	}
}

func TestTasksQueuesAndWorkersAreListed(t *testing.T) {
	b := newBench(t)
	fill(b)
	b.exec(
		`update ._private_job_queues set locked_at = now() - interval '65 seconds', locked_by = 'node'`,
		`select .register_worker('any')`,
		`update ._gw_workers set started_at = now() - interval '50 hours', last_seen_at = now() - interval '3 hours 1 minute' where id = 'any'`)
	b.want(b.run("tasks"), result{stdout: `
TASK    READY  SCHEDULED  RUNNING  FAILED  WORKERS
mail        1          1        0       0        1
resize      0          0        1       1        1
`[1:]})
	b.want(b.run("queues"), result{stdout: `
QUEUE    READY  SCHEDULED  RUNNING  FAILED  HELD FOR  HELD BY
letters      0          1        0       0  1 m       node
`[1:]})
	b.want(b.run("workers"), result{stdout: `
WORKER  PROCESS  VERSION  STATE           RUNNING  CLAIMED  LONGEST  STARTED   LAST SEEN  TASKS
any     -        -        silent              0/1        0  -        2 d ago   3 h ago    any
node    -        -        not registered        0        0  -        -         -          -
w1      host:17  v1       silent              1/4        1  2 m      10 m ago  4 m ago    mail and 1 more
`[1:]})
}

func TestRecurringJobsAreListedForPrograms(t *testing.T) {
	b := newBench(t)
	b.exec(`select .cron_schedule('s', '0 8 * * *', 'digest')`,
		`select .run_cron('[{"task": "item", "pattern": "* * * * *"}]', worker_id => 'w')`)
	got := b.run("cron", "list", "--json")
	for _, want := range []string{`{"identifier":"item","is_schedule":false,`,
		`{"identifier":"s","is_schedule":true,"workers":[],`,
		`"task_identifier":"digest","pattern":"0 8 * * *","time_zone":"UTC","paused":false,"next_run":"20`,
		`"last_run":null,"last_job_id":null,"last_outcome":null,"missed_run":null}`} {
		if !strings.Contains(got.stdout, want) || got.code != 0 {
			t.Errorf("exit code %d, lacks %s:\n%s%s", got.code, want, got.stdout, got.stderr)
		}
	}
}

func TestRecurringJobsAreListedOnTheSchemaOfAnEarlierRelease(t *testing.T) {
	b := newBench(t)
	b.exec(`select .cron_schedule('s', '0 8 * * *', 'digest')`,
		`update ._gw_schedules set active_since = '2026-01-01'`)
	b.wantPart(b.run("cron", "list"), 0, "missed 2026-01-01 08:00", "")
	b.exec(`alter view .cron_schedules rename missed_run to other`)
	b.wantPart(b.run("cron", "list"), 0, " 08:00", "")
}

func TestAMistypedCommandIsGuessed(t *testing.T) {
	b := newBench(t)
	b.wantPart(b.run("job"), 2, "", `unknown command "job" for "gw-run"; did you mean jobs?`)
	b.wantPart(b.run("cron", "lst"), 2, "", `did you mean list?`)
	b.wantPart(b.run("__complete", "jobs", "--state", ""), 0, "ready\nscheduled\nrunning\nfailed\n", "")
	b.wantPart(b.run("completion", "bash"), 0, "bash completion", "")
}

func TestADeeplyNestedPayloadIsShownInAFewBytes(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_job('mail', (repeat('{"a":[', 3000) || '1' || repeat(']}', 3000))::json)`)
	if got := b.run("show", "1"); got.code != 0 || len(got.stdout) > 100_000 ||
		!strings.Contains(got.stdout, `{"a":[{"a":[`) {
		t.Errorf("exit code %d, %d bytes: %.300s", got.code, len(got.stdout), got.stdout)
	}
}

func TestAJobIsShownWhole(t *testing.T) {
	b := newBench(t)
	fill(b)
	b.exec(`update ._private_jobs set run_at = '2026-01-02 03:04:05Z', created_at = '-infinity', updated_at = 'infinity', locked_at = now(),
	          locked_by = 'w', last_error = e'oh\n  \x1bno', key = 'k', revision = 3 where id = 2`)
	got := b.run("show", "--key", "k")
	for _, line := range []string{"id            2", "state         running", "task          mail",
		"queue         letters", "key           k", "priority      0", "flags         b, slow",
		"run at        2026-01-02 03:04:05 UTC (", "attempts      0/25", "held          by w since 20",
		"added         -infinity", "changed       infinity", "revision      3",
		"last error\n  oh\n    \\x1bno\npayload\n  {}\n"} {
		if !strings.Contains(got.stdout, line) {
			t.Errorf("lacks %q:\n%s", line, got.stdout)
		}
	}
	b.wantPart(b.run("show", "1", "9", "4", "8"), 1, `"to": "you"`, "there is no job 9, 8 (any more)")
	b.wantPart(b.run("show", "--key", "gone"), 1, "", `there is no job with the key "gone"`)
	b.wantPart(b.run("show"), 2, "", "which job?")
	b.wantPart(b.run("show", "1", "--key", "k"), 2, "", "which job?")
	b.wantPart(b.run("show", "first"), 2, "", `"first" is not the id of a job`)
}

func TestTimesAreReadAndToldInUTC(t *testing.T) {
	b := newBench(t)
	b.exec(`do $$ begin execute format('alter database %I set timezone = %L', current_database(), 'Asia/Tokyo'); end $$`)
	b.wantPart(b.run("add", "t", "--run-at", "2100-01-02 03:04", "--json"), 0, `"run_at":"2100-01-02T03:04:00+00:00"`,
		"")
	b.wantPart(b.run("show", "1"), 0, "run at        2100-01-02 03:04:00 UTC (in ", "")
	b.wantPart(b.run("reschedule", "1", "--run-at", "2100-01-02 03:05+01"), 0, "", "")
	b.wantPart(b.run("jobs", "--json"), 0, `"run_at":"2100-01-02T02:05:00+00:00"`, "")
}
