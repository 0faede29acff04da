package operate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestEveryOptionOfAddReachesTheJob(t *testing.T) {
	b := newBench(t)
	got := b.run("add", "mail", `{"to": "you"}`, "--queue", "q", "--run-at", "2100-01-02 03:04+05", "--max-attempts",
		"3",
		"--key", "k", "--priority", "-7", "--flag", "a", "--flag", "b")
	b.wantPart(got, 0, "Job 1 added: scheduled in ", "")
	if want := `{"task_identifier": "mail", "queue_name": "q", "key": "k", "run_at": "2100-01-01T22:04:00+00:00", "priority": -7,` +
		` "max_attempts": 3, "flags": {"a": true, "b": true}, "payload": {"to": "you"}}`; !b.is(`
		select to_jsonb(s) @> '` + want + `' from .show_jobs('{1}') as s, set_config('timezone', 'UTC', false)`) {
		t.Errorf("the job is %s", b.value("select to_jsonb(s)::text from .show_jobs('{1}') as s"))
	}
	b.wantPart(b.run("add", "mail", "--in", "1h"), 0, "Job 2 added: scheduled in ", "")
	if !b.is("select run_at between created_at + interval '1 hour' and created_at + interval '1 hour 1 second' from .jobs where id = 2") {
		t.Error("the job is not due in an hour")
	}
	b.want(b.run("add", "plain"), result{stdout: "Job 3 added: ready\n"})
	if !b.is("select queue_name is null and key is null and flags is null and payload::text = '{}' and max_attempts = 25 from .show_jobs('{3}')") {
		t.Error("a value that was not given does not have its default")
	}
}

func TestATaskThatNobodyServesIsAWarning(t *testing.T) {
	b := newBench(t)
	b.want(b.run("add", "okk"), result{stdout: "Job 1 added: ready\n"}) // no worker is registered: the workers may be Graphile Worker's
	b.wantPart(b.run("add", ""), 2, "", "the task name is empty")
	b.wantPart(b.run("add", "has space"), 0, "Job 2 added: ready\n",
		`gw-run: warning: no executable can serve the task "has space": `)
	b.exec(`select .register_worker('one', '{ok,mail/send}'), .register_worker('other', '{"größe"}')`)
	b.want(b.run("add", "mail/send"), result{stdout: "Job 3 added: ready\n"})
	b.want(b.run("add", "größe"), result{stdout: "Job 4 added: ready\n"})
	b.want(b.run("add", "okk"), result{stdout: "Job 5 added: ready\n",
		stderr: "gw-run: warning: no registered worker has the task \"okk\"; is \"ok\" meant? The job waits until one does.\n"})
	got := b.run("add", "other/thing", "--json")
	b.wantPart(got, 0, `"task_identifier":"other/thing"`,
		`no registered worker has the task "other/thing". The job waits`)
	b.exec(`update ._gw_workers set last_seen_at = now() - interval '6 minutes' where id = 'one'`)
	b.wantPart(b.run("add", "ok"), 0, "added", `no registered worker has the task "ok".`)
	b.exec(`select .register_worker('any')`)
	b.want(b.run("add", "okk"), result{stdout: "Job 8 added: ready\n"})
}

func TestADelayHasAUnit(t *testing.T) {
	b := newBench(t)
	b.wantPart(b.run("add", "t", "--in", "5"), 2, "", `"5" for "--in" flag: it has no unit; write 5s, 5m or 5h`)
}

func TestAPayloadMayComeFromAFileOrStdin(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "rows.json")
	if err := os.WriteFile(path, []byte(`["file"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.want(b.run("add", "t", "@"+path), result{stdout: "Job 1 added: ready\n"})
	b.want(b.pipe(`["stdin"]`, "add", "t", "-"), result{stdout: "Job 2 added: ready\n"})
	if got := b.value("select string_agg(payload ->> 0, ' ' order by id) from .show_jobs('{1,2}')"); got != "file stdin" {
		t.Errorf("the payloads are from %s", got)
	}
	b.wantPart(b.run("add", "t", "@"+path+"x"), 1, "", "read payload: open "+path+"x")
	b.wantPart(b.pipe(`{"a"`, "add", "t", "-"), 2, "", "stdin is not JSON: unexpected end of JSON input")
}

func TestAnAddUnderAKeySaysWhatBecameOfTheJobThere(t *testing.T) {
	b := newBench(t)
	b.want(b.run("add", "t", `{"a": 1}`, "--key", "k"), result{stdout: "Job 1 added: ready\n"})
	b.want(b.run("add", "t", `{"a": 2}`, "--key", "k"), result{stdout: "Job 1 replaced: ready\n"})
	b.want(b.run("add", "other", `{"a": 3}`, "--key", "k", "--key-mode", "unsafe_dedupe"),
		result{stdout: "Job 1 unchanged: ready\n"})
	got := b.run("add", "other", "--queue", "q", "--key", "k", "--key-mode", "unsafe_dedupe", "--json")
	b.wantPart(got, 0, `"task_identifier":"t","queue_name":null,"key":"k"`, "")
	if !b.is(`select payload ->> 'a' = '2' from .show_jobs('{1}')`) {
		t.Error("the job has changed")
	}
}

func TestTheKeyOfAnAddDecidesWhetherAndWhenAJobRuns(t *testing.T) {
	b := newBench(t)
	b.want(b.run("add", "t", "--key", "o", "--once", "1d", "--in", "1h"),
		result{stdout: "Job 1 added: scheduled in 60 m\n"})
	b.exec("delete from ._private_jobs")
	b.want(b.run("add", "t", "--key", "o", "--once", "1d"), result{stdout: "Job 1 unchanged: gone\n"})
	b.wantPart(b.run("add", "t", "--key", "o", "--once", "1d", "--json"), 0,
		`"id":1,"state":"gone","due_at":null,"revision":null,"is_new":false`, "")
	b.want(b.run("add", "t", "[1]", "--key", "d", "--debounce", "2h", "--max-wait", "1h", "--queue", "q", "--priority",
		"3"),
		result{stdout: "Job 2 added: scheduled in 60 m\n"})
	b.want(b.run("add", "t", "[2]", "--key", "d", "--debounce", "2h", "--max-attempts", "5"),
		result{stdout: "Job 2 replaced: scheduled in 2 h\n"})
	b.want(b.run("add", "t", "--key", "h", "--throttle", "1h", "--flag", "f"), result{stdout: "Job 3 added: ready\n"})
	b.want(b.run("add", "t", "--key", "h", "--throttle", "1h", "--flag", "g"),
		result{stdout: "Job 3 replaced: ready\n"})
	if !b.is(`select payload::text = '[1, 2]' and max_attempts = 5 and queue_name is null and priority = 0 from .show_jobs('{2}')`) ||
		!b.is(`select flags = '{"g": true}' from .show_jobs('{3}')`) {
		t.Error("the jobs do not have the options of the last calls")
	}
	for want, args := range map[string]string{
		"--once requires --key":                         "--once 1d",
		"--max-wait requires --debounce":                "--key k --max-wait 1h",
		"--once and --throttle exclude each other":      "--key k --once 1d --throttle 1h",
		"--once and --debounce exclude each other":      "--key k --once 1d --debounce 1h --max-wait 1d",
		"--debounce and --key-mode exclude each other":  "--key k --debounce 1h --key-mode replace",
		"--throttle and --run-at exclude each other":    "--key k --throttle 1h --run-at tomorrow",
		"--debounce and --in exclude each other":        "--key k --debounce 1h --in 1h",
		"\"--throttle\" flag: it has no unit":           "--key k --throttle 30",
		"invalid input syntax for type interval":        "--key k --once soon",
		"The argument within is '00:00:00'; it must be": "--key k --once 0s",
	} {
		b.wantPart(b.run(append([]string{"add", "t"}, strings.Fields(args)...)...), 2, "", want)
	}
}

func TestAnAddPrintsTheJobAsListJobsHasIt(t *testing.T) {
	b := newBench(t)
	got := b.run("add", "t", "--queue", "q", "--flag", "f", "--json")
	want := b.value("select row_to_json(l)::text || e'\\n' from .list_jobs() as l, set_config('timezone', 'UTC', false)")
	b.want(got, result{stdout: want})
}

func TestWhatIsWrongWithAJobIsAMistakeInTheCommandLine(t *testing.T) {
	b := newBench(t)
	for want, args := range map[string][]string{
		"the payload is not JSON":                        {"t", "{to: you}"},
		"takes a task and a payload, not 0 arguments":    {},
		"takes a task and a payload, not 3 arguments":    {"t", "{}", "{}"},
		"exclude each other":                             {"t", "--in", "1h", "--run-at", "tomorrow"},
		"--key-mode requires --key":                      {"t", "--key-mode", "replace"},
		"Invalid job_key_mode value":                     {"t", "--key", "k", "--key-mode", "keep"},
		`invalid input syntax for type interval: "soon"`: {"t", "--in", "soon"},
		"invalid input syntax for type timestamp":        {"t", "--run-at", "soon"},
		"must be at least 1":                             {"t", "--max-attempts", "0"},
		"Job priority must be":                           {"t", "--priority", "40000"},
	} {
		b.wantPart(b.run(append([]string{"add"}, args...)...), 2, "", want)
	}
	b.exec(`select .set_setting('max_payload', '1048576')`)
	large := b.pipe(`"`+strings.Repeat("x", 1<<20)+`"`, "add", "t", "-")
	b.wantPart(large, 2, "", "or raise the setting max_payload")
	if strings.Contains(large.stderr, "SQLSTATE") {
		t.Errorf("stderr: %s", large.stderr)
	}
	if !b.is("select count(*) = 0 from .jobs") {
		t.Error("a job was added")
	}
}

func TestWithoutAQueueItIsSaidWhatInstallsOne(t *testing.T) {
	b := bench{t: t, url: pgtest.EmptyDatabase(t)}
	for _, args := range [][]string{{"add", "t"}, {"jobs"}, {"show", "1"}, {"retry", "1"},
		{"retry", "--state", "failed"}, {"queues"},
		{"unlock", "w"}, {"cleanup"}, {"stats"}, {"doctor"}} {
		b.wantPart(b.run(args...), 1, "", "gw-migrate installs and upgrades the queue")
	}
	b.wantPart(b.run("healthcheck"), 1, `schema "graphile_worker" is absent; gw-migrate installs the queue`,
		"not healthy")
}
