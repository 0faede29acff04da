package operate

import (
	"context"
	"os"
	"os/user"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// mixed creates jobs that can be changed (1 ready, 2 scheduled, 3 failed), and jobs that cannot: 4 is running, and 5 was replaced
// while it ran and has failed.
func mixed(b bench) {
	b.t.Helper()
	b.exec(
		`select .add_job('t', run_at => now() + (n - 1) * interval '1 hour', job_key => 'k' || n, max_attempts => 3) from generate_series(1, 5) as n`,
		`update ._private_jobs set attempts = 3, last_error = 'oh' where id = 3`,
		`update ._private_jobs set attempts = 1, locked_at = now(), locked_by = 'w' where id = 4`,
		`update ._private_jobs set attempts = 4 where id = 5`)
}

func TestJobsThatAreNamedAreChangedAndTheOthersTold(t *testing.T) {
	b := newBench(t)
	mixed(b)
	b.want(b.run("retry", "1", "2", "3", "4", "5", "6"), result{1, "Retried 3 jobs.\n", `
job 4: is being run by w
job 5: was replaced or removed while it ran; gw-run reschedule --attempts 0 makes it run again anyway
job 6: does not exist (any more)
gw-run: not changed: 3 jobs of 6
`[1:]})
	if got := b.value("select string_agg(id || ' ' || state || ' ' || attempts, ', ' order by id) from .list_jobs()"); got !=
		"1 ready 0, 2 ready 0, 3 ready 0, 4 running 1, 5 failed 4" {
		t.Errorf("the jobs are %s", got)
	}
	b.want(b.run("retry", "3", "4", "4", "--json"), result{1,
		`{"id":3,"is_done":true}` + "\n" + `{"id":4,"is_done":false,"reason":"is being run by w"}` +
			"\n", "gw-run: not changed: 1 job of 3\n"})
	b.want(b.run("reschedule", "5", "--attempts", "0", "--in", "0s"), result{stdout: "Rescheduled 1 job.\n"})
	if !b.is("select state = 'ready' from .list_jobs(job_ids => '{5}')") {
		t.Error("the replaced job is not revived")
	}
}

func TestEachChangeDoesWhatItSays(t *testing.T) {
	b := newBench(t)
	mixed(b)
	b.want(b.run("fail", "1", "--reason", "customer has left"), result{stdout: "Failed 1 job.\n"})
	b.want(b.run("fail", "2"), result{stdout: "Failed 1 job.\n"})
	if got := b.value("select string_agg(last_error, ', ' order by id) from .list_jobs('failed', job_ids => '{1,2}')"); got !=
		"customer has left, Manually marked as failed" {
		t.Errorf("the errors are %s", got)
	}
	b.want(b.run("reschedule", "1", "--run-at", "2100-01-02 03:04+01", "--priority", "-3", "--attempts", "1",
		"--max-attempts", "7"),
		result{stdout: "Rescheduled 1 job.\n"})
	if !b.is("select run_at = '2100-01-02 02:04Z' and priority = -3 and attempts = 1 and max_attempts = 7 from .list_jobs(job_ids => '{1}')") {
		t.Error("the job is not rescheduled as it should be")
	}
	b.want(b.run("reschedule", "1", "--priority", "0"), result{stdout: "Rescheduled 1 job.\n"})
	if !b.is("select run_at = '2100-01-02 02:04Z' and priority = 0 and attempts = 1 and max_attempts = 7 from .list_jobs(job_ids => '{1}')") {
		t.Error("a value that was not given has changed")
	}
	b.want(b.run("complete", "1"), result{stdout: "Completed 1 job.\n"})
	b.want(b.run("remove", "2", "4"), result{1, "Removed 1 job.\n",
		"job 4: is being run by w\ngw-run: not changed: 1 job of 2\n"})
	if got := b.value("select string_agg(id::text, ' ' order by id) from .jobs"); got != "3 4 5" {
		t.Errorf("left are %s", got)
	}
}

func TestCancelTakesJobsThatRunToo(t *testing.T) {
	b := newBench(t)
	mixed(b)
	b.want(b.run("cancel", "1", "3", "4", "5", "6", "--reason", "wrong customer"), result{1, "Canceled 2 jobs.\n", `
job 3: has failed already
job 5: has failed already
job 6: does not exist (any more)
gw-run: not changed: 3 jobs of 5
`[1:]})
	if got := b.value("select string_agg(id || ' ' || state || ' ' || last_error, ', ' order by id) from .list_jobs(job_ids => '{1,3,4}')"); got !=
		"1 failed wrong customer, 3 failed oh, 4 running wrong customer" {
		t.Errorf("the jobs are %s", got)
	}
	b.want(b.run("cancel", "--key", "k2"), result{stdout: "Canceled 1 job.\n"})
	if !b.is("select state = 'failed' and last_error = 'Canceled' from .list_jobs(job_ids => '{2}')") {
		t.Error("without a reason it is not canceled")
	}
}

func TestAJobThatRunsIsRemovedByItsKey(t *testing.T) {
	b := newBench(t)
	mixed(b)
	b.want(b.run("remove", "--key", "k4"), result{stdout: "Removed 1 job.\n"})
	if !b.is("select key is null and attempts > max_attempts from .jobs where id = 4") {
		t.Error("the running job keeps its key, or may run again")
	}
	b.want(b.run("remove", "--key", "k1"), result{stdout: "Removed 1 job.\n"})
	b.want(b.run("remove", "--key", "k1"), result{1, "",
		"gw-run: no job matches; is there a job with the key \"k1\"?\n"})
	b.want(b.run("retry", "--key", "k3"), result{stdout: "Retried 1 job.\n"})
	b.want(b.run("remove", "--key", "k3", "--state", "failed"),
		result{1, "", "gw-run: no job matches; is there a job with the key \"k3\"?\n"})
}

func TestManyJobsAreOnlyChangedByThoseWhoSayYes(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_jobs(array(select row('t', null, null, null, null, null, null, null)::.job_spec from generate_series(1, 2500)))`,
		`select .add_job('other')`,
		`update ._private_jobs set locked_at = now(), locked_by = 'w' where id in (1, 1500)`)
	b.want(b.run("fail", "--task", "t"), result{1, "",
		"gw-run: Fail 2500 jobs? Without a terminal, --yes is required to confirm\n"})
	if !b.is("select count(*) = 0 from .list_jobs('failed')") {
		t.Error("jobs were changed nevertheless")
	}
	b.want(b.run("fail", "--task", "t", "--yes"),
		result{1, "Failed 2498 jobs.\n", "job 1: is being run by w\njob 1500: is being run by w\ngw-run: not changed: 2 jobs of 2500\n"})
	b.want(b.run("retry", "--state", "failed", "-y"), result{stdout: "Retried 2498 jobs.\n"})
	b.want(b.run("remove", "--state", "failed", "-y"), result{stderr: "No job matches.\n"})
	got := b.run("remove", "--task", "t", "--state", "ready", "-y", "--json")
	if lines := strings.Count(got.stdout, `"is_done":true`); lines != 2498 || got.code != 0 {
		t.Errorf("exit code %d, %d jobs printed", got.code, lines)
	}
	if got := b.value("select string_agg(id::text, ' ' order by id) from .jobs"); got != "1 1500 2501" {
		t.Errorf("left are %s", got)
	}
}

func TestJobsAreRetriedAtARate(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_jobs(array(select row('t', null, null, null, null, null, null, null)::.job_spec from generate_series(1, 2500)))`,
		`update ._private_jobs set attempts = 25`,
		`update ._private_jobs set locked_at = now(), locked_by = 'w' where id = 7`)
	b.want(b.run("retry", "--state", "failed", "--rate", "10", "--per", "1m", "--yes"),
		result{stdout: "Retried 2499 jobs.\n"})
	// Each step begins when its turn has come, by the clock of then.
	if !b.is(`select bool_and(gap between '5.9 s' and '8 s') and count(*) = 2498
	            from (select run_at - lag(run_at) over (order by id) as gap from ._private_jobs where locked_at is null) as g where gap is not null`) {
		t.Error("the jobs are not due six seconds after each other")
	}
	b.wantPart(b.run("retry", "1", "--per", "1m"), 2, "", "--per requires --rate")
	b.wantPart(b.run("retry", "1", "--rate", "0"), 2, "", "--rate must be at least 1, not 0")
	b.wantPart(b.run("retry", "1", "--rate", "5", "--per", "60"), 2, "", `"--per" flag: it has no unit`)
}

func TestOfManyJobsThatAreLeftAloneSomeAreTold(t *testing.T) {
	b := newBench(t)
	got := b.run("retry", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12")
	b.wantPart(got, 1, "Retried 0 jobs.\n", "job 10: does not exist (any more)\nand 2 more\ngw-run: not changed: 12 jobs of 12\n")
}

func TestAnInterruptedChangeSaysHowManyJobsAreDone(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_jobs(array(select row('t', null, null, null, null, null, null, null)::.job_spec from generate_series(1, 2500)))`)
	holder, err := b.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Rollback(context.Background()) }()
	if _, err := holder.Exec(t.Context(), inQueue("select from ._private_jobs where id = 1500 for update")); err != nil {
		t.Fatal(err)
	}
	cmd := b.command("remove", "--task", "t", "--yes")
	var errOut strings.Builder
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pgtest.Await(t, b.pool, `select count(*) = 1 from pg_stat_activity
	                          where datname = current_database() and wait_event_type = 'Lock' and application_name = 'gw-run'`)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code is checked below
	if code := cmd.ProcessState.ExitCode(); code != 130 ||
		!strings.Contains(errOut.String(), "remove jobs, 1000 of 2500 done") {
		t.Errorf("exit code %d; %s", code, errOut.String())
	}
	if err := holder.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.value("select count(*)::text from .jobs"); got != "1500" {
		t.Errorf("%s jobs are left", got)
	}
}

func TestAChangeHasToSayWhatOfWhat(t *testing.T) {
	b := newBench(t)
	for want, args := range map[string]string{
		"which jobs to retry?":                     "retry",
		"which jobs to remove?":                    "remove --yes",
		"ids and conditions exclude each other":    "complete 1 --task t",
		`"x" is not the id of a job`:               "fail x",
		`"-1" is not the id of a job`:              "fail -- -1",
		"what to change?":                          "reschedule 1",
		"--run-at and --in exclude each other":     "reschedule 1 --in 1h --run-at now",
		"invalid input syntax for type interval":   "reschedule 1 --in soon",
		"There is no state 'done'":                 "retry --state done",
		"Job attempts must be between 0 and 32767": "reschedule 1 --attempts -1",
	} {
		b.wantPart(b.run(strings.Fields(args)...), 2, "", want)
	}
}

func TestTheAuditTellsWhoHasChangedWhichJobsByACommand(t *testing.T) {
	b := newBench(t)
	mixed(b)
	b.want(b.run("retry", "--state", "failed", "--key", "k3"), result{stdout: "Retried 1 job.\n"})
	b.want(b.run("cancel", "1", "2", "--reason", "wrong customer"), result{stdout: "Canceled 2 jobs.\n"})
	b.want(b.run("retry", "4"), result{1, "Retried 0 jobs.\n",
		"job 4: is being run by w\ngw-run: not changed: 1 job of 1\n"})
	if got, want := b.value("select string_agg(concat_ws('|', act, jobs, subject, selection, actor), ', ' order by id) from .list_audit()"),
		"retry|1|state failed, key k3|"+self()+", cancel|2|wrong customer|"+self(); got != want {
		t.Errorf("the audit has %s, want %s", got, want)
	}
}

// self is the actor of the commands that the tests run.
func self() string {
	name := "gw-run"
	if account, err := user.Current(); err == nil {
		name = account.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

func TestAJobOfAnyStateIsCopied(t *testing.T) {
	b := newBench(t)
	mixed(b)
	b.want(b.run("copy", "3"), result{stdout: "Job 6 is a copy of job 3.\n"})
	if !b.is("select state = 'ready' and key is null and attempts = 0 from .list_jobs(job_ids => '{6}')") {
		t.Error("the copy is not like a new job")
	}
	b.want(b.run("copy", "99"), result{1, "", "gw-run: there is no job 99; completed jobs no longer exist\n"})
	b.wantPart(b.run("copy", "x"), 2, "", `"x" is not the id of a job`)
}
