package operate

import (
	"regexp"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestLimitsAreSetListedChangedAndDropped(t *testing.T) {
	b := newBench(t)
	b.want(b.run("limit", "set", "exports", "--task", "export", "--task", "report", "--by", "payload:tenant",
		"--max-running", "2", "--total-running", "3", "--fair"),
		result{stdout: "The limit exports is set.\n"})
	b.want(b.run("limit", "set", "api", "--task", "call", "--rate", "100", "--per", "1m", "--burst", "10"),
		result{stdout: "The limit api is set.\n"})
	b.want(b.run("limit", "set", "imports", "--task", "import", "--by", "flag:source", "--max-running", "4"),
		result{stdout: "The limit imports is set.\n"})
	b.exec(`select .add_job('export', json_build_object('tenant', n % 2)) from generate_series(1, 6) as n`,
		`select from .get_job_batch('w', batch_size => 9)`)
	b.want(b.run("limit", "list"), result{stdout: `
LIMIT    TASKS           BY              MAX RUNNING  TOTAL  RATE                        FAIR  LANES  FULL  CLOSED  RUNNING  WAITING
api      call            -                         -      -  100 per 00:01:00, burst 10  -         0     0       0        0        0
exports  export, report  payload:tenant            2      3  -                           yes       2     1       0        3        3
imports  import          flag:source               4      -  -                           -         0     0       0        0        0
`[1:]})
	b.want(b.run("limit", "lanes", "exports"), result{stdout: `
LANE   MAX RUNNING  RATE  RUNNING  WAITING  STATE  UNTIL  JOBS
(all)            3  -           3        3  full   -      1, 2, 3
1                2  -           2        1  full   -      1, 3
0                2  -           1        2  open   -      2
`[1:]})
	b.want(b.run("limit", "lanes", "exports", "-n", "2"), result{stdout: `
LANE   MAX RUNNING  RATE  RUNNING  WAITING  STATE  UNTIL  JOBS
(all)            3  -           3        3  full   -      1, 2, 3
0                2  -           1        2  open   -      2
There are more rows: --limit shows more of them, --after 0 the next ones.
`[1:]})
	b.wantPart(b.run("limit", "lanes", "exports", "--after", "0", "--json"), 0,
		`{"lane":"1","is_total":false,"max_running":2,`, "")
	b.want(b.run("limit", "override", "exports", "1", "--max-running", "9", "--rate", "5", "--per", "1s"),
		result{stdout: "The lane 1 of the limit exports has its own numbers.\n"})
	if !b.is(`select max_running = 9 and rate = 5 and per = '1 s' from .list_lanes('exports') where lane = '1'`) {
		t.Error("the lane has other numbers")
	}
	b.want(b.run("limit", "override", "exports", "1"),
		result{stdout: "The lane 1 of the limit exports has the numbers of the limit.\n"})
	b.wantPart(b.run("limit", "open", "exports", "0"), 1, "",
		"The lane 0 of the limit exports has not been closed by a worker")
	b.exec(`update ._gw_gates set closed_until = now() + interval '1 hour' where key is not null`)
	b.want(b.run("limit", "open", "exports", "0"), result{stdout: "The lane 0 of the limit exports is open.\n"})
	b.want(b.run("limit", "open", "exports"), result{stdout: "The limit exports is open.\n"})
	b.want(b.run("limit", "set", "exports", "--task", "export", "--task", "report", "--by", "payload:tenant",
		"--max-running", "5", "--strict", "10m"),
		result{stdout: "The limit exports is set.\n"})
	if !b.is(`select max_running = 5 and total_running is null and strict = '10 minutes' from .list_limits() where name = 'exports'`) {
		t.Error("what is not given is not unset")
	}
	b.want(b.run("limit", "drop", "exports"), result{stdout: "The limit exports is dropped.\n"})
	b.wantPart(b.run("limit", "list", "--json"), 0, `{"name":"api","tasks":["call"],"by":null,"max_running":null,`, "")
}

func TestTheAuditTellsWhoHasChangedLimitsAndPausesByACommand(t *testing.T) {
	b := newBench(t)
	for _, args := range [][]string{
		{"limit", "set", "exports", "--task", "export", "--by", "payload:tenant", "--max-running", "2"},
		{"limit", "override", "exports", "7", "--max-running", "9"},
		{"pause", "--task", "mail", "--reason", "the provider is down"},
		{"resume", "--task", "mail"},
		{"limit", "drop", "exports"},
	} {
		if r := b.run(args...); r.code != 0 {
			t.Fatalf("%v: %+v", args, r)
		}
	}
	if got, want := b.value("select string_agg(concat_ws('|', act, subject), '; ' order by id) from .list_audit() where actor = '"+self()+"'"),
		"set limit|exports: tasks {export}, by payload:tenant, max_running 2; override lane|exports, lane 7: max_running 9; "+
			"pause|task mail: the provider is down; resume|task mail; drop limit|exports"; got != want {
		t.Errorf("the audit has %s, want %s", got, want)
	}
}

func TestMistakesInLimitsAreExplained(t *testing.T) {
	b := newBench(t)
	for want, args := range map[string][]string{
		"it needs max_running, total_running, rate or fair": {"limit", "set", "api"},
		"rate and per belong together":                      {"limit", "set", "api", "--rate", "3"},
		"by must be flag:... or payload:...": {"limit", "set", "api", "--by", "tenant",
			"--max-running", "3"},
		"its numbers must be at least 1": {"limit", "set", "api", "--max-running",
			"0"},
		"invalid input syntax for type interval": {"limit", "set", "api", "--rate", "3",
			"--per", "soon"},
		"out of range": {"limit", "set", "api", "--max-running",
			"3000000000"},
		"which limit? Give one name":                   {"limit", "set"},
		"There is no limit 'none'.":                    {"limit", "drop", "none"},
		"There is no limit 'none' with several lanes.": {"limit", "override", "none", "lane"},
		"which lane?": {"limit", "override", "none"},
		`unknown command "sett" for "gw-run limit"; did you mean set?`: {"limit", "sett", "api"},
		"which jobs? Give --task, --queue, --limit or --all":           {"pause"},
		"--task, --queue, --limit and --all exclude each other":        {"pause", "--all", "--task", "t"},
		"--lane needs --limit": {"resume", "--all", "--lane", "t"},
		"--until and --for exclude each other": {"pause", "--all", "--until", "tomorrow",
			"--for", "1h"},
		"A pause must end in the future":                                  {"pause", "--all", "--until", "yesterday"},
		"which job? Give ids, or a key with --key":                        {"why"},
		`"x" is not the id of a job`:                                      {"why", "x"},
		"the lanes of which limit? Give one name, as gw-run limit list s": {"limit", "lanes"},
	} {
		b.wantPart(b.run(args...), 2, "", want)
	}
	b.wantPart(b.run("limit", "lanes", "none"), 1, "", `there is no limit "none"`)
	b.wantPart(b.run("why", "17"), 1, "", "there is no job 17 (any more)")
	b.wantPart(b.run("why", "--key", "none"), 1, "", `there is no job with the key "none"`)
	b.wantPart(b.run("resume", "--task", "t"), 1, "", "The task t is not paused; gw-run pauses lists the pauses")
}

// claim claims a job this often.
func (b bench) claim(times int) {
	b.t.Helper()
	for range times {
		b.exec(`select from .get_job('w')`)
	}
}

// times stands for the times in an output.
var times = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.0-9]*(\+00| UTC)( \([^)]*\))?|in \d+ \w+|\d+ \w+ ago`)

func (b bench) wantTimeless(got result, stdout string) {
	b.t.Helper()
	got.stdout = times.ReplaceAllString(got.stdout, "TIME")
	b.want(got, result{stdout: stdout})
}

func TestPausesStopJobsUntilTheyAreEnded(t *testing.T) {
	b := newBench(t)
	b.exec(`select .set_limit('exports', tasks => '{export}', by => 'payload:tenant', max_running => 1)`,
		`select .add_job('mail')`, `select .add_job('import', queue_name => 'q')`,
		`select .add_job('export', '{"tenant": 7}')`)
	for what, args := range map[string][]string{
		"The task mail":                   {"--task", "mail", "--reason", "provider is down", "--for", "1h"},
		"The queue q":                     {"--queue", "q"},
		"The lane 7 of the limit exports": {"--limit", "exports", "--lane", "7", "--until", "2099-12-24 18:00+01"},
		"The limit exports":               {"--limit", "exports"},
		"Everything":                      {"--all", "--reason", "migration"},
	} {
		b.want(b.run(append([]string{"pause"}, args...)...), result{stdout: what + " is paused.\n"})
	}
	if !b.is(`select bool_and(coalesce(p.until, 'epoch') = case when p.task = 'mail' then p.paused_at + interval '1 hour'
		                                                         when p.lane = '7' then timestamptz '2099-12-24 17:00Z' else 'epoch' end)
		             and count(*) = 5 from .list_pauses() as p`) {
		t.Error("a pause ends at another time")
	}
	b.claim(30)
	if !b.is(`select count(*) = 0 from .jobs where locked_at is not null`) {
		t.Error("a paused job was claimed")
	}
	b.wantPart(b.run("pauses"), 0, "provider is down", "")
	b.wantPart(b.run("pauses", "--json"), 0, `"limit_name":"exports","lane":"7"`, "")
	for what, args := range map[string][]string{
		"The task mail":                   {"--task", "mail"},
		"The queue q":                     {"--queue", "q"},
		"The lane 7 of the limit exports": {"--limit", "exports", "--lane", "7"},
		"The limit exports":               {"--limit", "exports"},
		"Everything":                      {"--all"},
	} {
		b.want(b.run(append([]string{"resume"}, args...)...), result{stdout: what + " is resumed.\n"})
	}
	b.want(b.run("pauses"), result{stdout: "PAUSED  SINCE  BY  UNTIL  REASON\n"})
	b.claim(30)
	if !b.is(`select count(*) = 3 from .jobs where locked_at is not null`) {
		t.Error("a job is not claimed after its pauses")
	}
}

func TestWhyAJobDoesNotRunIsTold(t *testing.T) {
	b := newBench(t)
	author := pgtest.Value[string](t, b.pool, `select session_user`)
	b.exec(`select .set_limit('exports', tasks => '{export}', max_running => 1)`,
		`select .get_job('w') from generate_series(1, 2)`,
		`select .add_job('export')`, `select .add_job('export', job_key => 'second')`, `select from .get_job('w')`,
		`select .add_job('mail', run_at => now() + interval '2 hours')`,
		`select .pause(limit_name => 'exports', reason => 'maintenance', until => now() + interval '2 hours')`)
	b.wantTimeless(b.run("why", "1", "3"), `
1: claimed
  Worker w has run it since TIME.
  -> cancel_jobs ends it.
3: future, until TIME
  It is due at TIME.
  -> retry_jobs makes it due now.
`[1:])
	b.wantTimeless(b.run("why", "--key", "second"), `
2: paused, until TIME
  The limit exports is paused by `[1:]+author+` since TIME. maintenance
  -> resume() ends the pause.
`)
	b.exec(`select .resume(limit_name => 'exports')`)
	b.want(b.run("why", "2"), result{stdout: `
2: full
  The limit exports has no free slot.
  held back by: 1
  -> It starts when one of these jobs ends; set_limit or override_lane can raise the maximum.
`[1:]})
	b.wantPart(b.run("why", "2", "--json"), 0,
		`{"id":2,"reason":"full","detail":"The limit exports has no free slot.","until":null,"blocking_job_ids":[1],`,
		"")
	b.exec(`select .complete_job('w', 1)`)
	b.want(b.run("why", "2"), result{stdout: "2: next\n  The next claim takes it.\n  -> No action is needed.\n"})
	b.wantPart(b.run("why", "2", "17"), 1, "2: next", "there is no job 17 (any more)")
}
