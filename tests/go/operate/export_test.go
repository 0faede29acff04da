package operate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAJobWithAnEmptyTaskNameIsExportedAndImported(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_job('', '{"n": 1}')`)
	exported := b.run("export")
	b.want(b.pipe(exported.stdout, "import"), result{stdout: "Imported 1 job.\n"})
	if again := b.run("export"); strings.Count(again.stdout, `"task_identifier":""`) != 2 {
		t.Errorf("there are %s", again.stdout)
	}
	b.wantPart(b.pipe(`{"payload": {}}`, "import"), 2, "", "line 1 has no task_identifier")
}

func TestExportedJobsAreImportedAsTheyAre(t *testing.T) {
	b := newBench(t)
	b.exec(
		`select .add_job('mail', '{"n": 1.0, "big": 1e131071, "text": "\u0000 <&> ü"}', 'letters', '2030-01-02 03:04:05.678901', 3, 'k', -5, '{b,a}')`,
		`select .add_job('mail', '[1, 2]')`, `select .add_job('other', run_at => 'infinity')`,
		`update ._private_jobs set attempts = 25, last_error = e'oh\nno' where id = 2`)
	all := b.run("export")
	b.wantPart(all, 0, `{"id":1,"state":"scheduled","task_identifier":"mail","queue_name":"letters","key":"k"`, "")
	path := filepath.Join(t.TempDir(), "jobs.ndjson")
	if err := os.WriteFile(path, []byte(all.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	failed := b.run("export", "--state", "failed")
	b.wantPart(b.run("export", "2", "9"), 1, `{"id":2,`, "1 job of 2 did not exist (any more)")
	b.wantPart(b.run("export", "2", "--state", "failed"), 2, "", "ids and conditions exclude each other")
	b.want(b.run("export", "--task", "none"), result{})

	const whole = `select string_agg(concat_ws('|', s.task_identifier, s.payload, s.queue_name, s.key, s.priority, s.run_at, s.max_attempts, s.flags), '; ' order by s.id)
	                 from .show_jobs(array(select id from .jobs)) as s`
	was := b.value(whole)
	b.exec(`delete from ._private_jobs`)
	b.want(b.run("import", path), result{stdout: "Imported 3 jobs.\n"})
	if is := b.value(whole); is != was {
		t.Errorf("the jobs are\n%s, want\n%s", is, was)
	}
	if !b.is(`select count(*) = 3 and sum(attempts) = 0 and count(last_error) = 0 from .jobs`) {
		t.Error("the jobs have not all their attempts")
	}
	b.want(b.pipe(failed.stdout+"\n"+failed.stdout, "import"), result{stdout: "Imported 2 jobs.\n"})
}

func TestManyJobsAreExportedAndImported(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_jobs(array(select row('t', json_build_object('n', n), null, null, null, null, null, null)::.job_spec from generate_series(1, 2500) as n))`)
	b.want(b.pipe(b.run("export").stdout, "import"), result{stdout: "Imported 2500 jobs.\n"})
	if !b.is(`select count(*) = 2500 and min(n) = 2 and max(n) = 2 from (select count(*) as n from ._private_jobs group by payload::text) as c`) {
		t.Error("not each job was imported once")
	}
}

func TestOfAnImportWithAMistakeNothingIsAdded(t *testing.T) {
	b := newBench(t)
	good := `{"task_identifier": "t"}` + "\n"
	for want, line := range map[string]string{
		`line 2: json: unknown field "taks"`:    `{"taks": "t"}`,
		"line 2 has no task_identifier":         `{"payload": {}}`,
		"line 2 has more than one object":       `{"task_identifier": "t"} {}`,
		"line 2: invalid character 'x'":         `x`,
		"line 2: json: cannot unmarshal number": `{"task_identifier": 7}`,
		"lines 1 to 3: smallint out of range":   `{"task_identifier": "t", "priority": 40000}`,
		"line 2: Task identifier is too long":   fmt.Sprintf(`{"task_identifier": %q}`, strings.Repeat("x", 129)),
		"lines 1 to 3: invalid input syntax":    `{"task_identifier": "t", "run_at": "soon"}`,
	} {
		b.wantPart(b.pipe(good+line+"\n"+good, "import", "-"), 2, "", "import jobs, none was added: "+want)
	}
	b.wantPart(b.run("import", "none.ndjson"), 1, "", "open none.ndjson: no such file")
	b.wantPart(b.run("import", "a", "b"), 2, "", "import takes one file, not 2")
	b.want(b.pipe("\n", "import"), result{stdout: "Imported 0 jobs.\n"})
	if !b.is("select count(*) = 0 from .jobs") {
		t.Error("jobs were added")
	}
}
