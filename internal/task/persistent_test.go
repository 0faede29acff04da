package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// newPersistent makes a Persistent of a shell script, which is closed after the test.
func newPersistent(t *testing.T, config task.PersistentConfig, body string) *task.Persistent {
	t.Helper()
	launcher := task.NewLauncher()
	t.Cleanup(launcher.Close)
	config.Task, config.Program.Path, config.Launcher, config.Logger = "a", script(t, body), launcher, slog.Default()
	p := task.NewPersistent(config)
	t.Cleanup(p.Close)
	return p
}

// loop returns a script that reads jobs and runs body for each, in which $id and $line are the job's.
func loop(body string) string {
	return `while read -r line; do id=${line#*\"id\":}; id=${id%%,*}; ` + body + "\ndone"
}

const isOK = `echo "{\"id\":$id,\"ok\":true}"`

func jobOf(id int64, payload string) *shim.Job {
	job := newJob()
	job.ID, job.Payload = id, json.RawMessage(payload)
	return job
}

func TestAPersistentProgramGetsALineForEachJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	p := newPersistent(t, task.PersistentConfig{}, loop(`echo "$line" >&2; `+isOK))
	job := newJob()
	job.ID, job.TaskIdentifier, job.Attempts, job.Priority = 42, "mail/send", 2, -3
	job.Payload = json.RawMessage("{\n  \"n\": 12345678901234567890,\n \"to\" : \"<b>\" }")
	job.RunAt = time.Date(2026, 11, 20, 10, 4, 5, 6_789_000, time.FixedZone("", 3600))
	job.Key, job.QueueName = "the key", "q"
	for _, c := range []struct {
		job  *shim.Job
		want string
	}{
		{job, `{"id":42,"task":"mail/send","payload":{"n":12345678901234567890,"to":"<b>"},"attempt":2,"max_attempts":25,` +
			`"key":"the key","queue":"q","priority":-3,"run_at":"2026-11-20T09:04:05.006Z"}`},
		{jobOf(7, "null"), `{"id":7,"task":"a","payload":null,"attempt":1,"max_attempts":25,` +
			`"key":null,"queue":null,"priority":0,"run_at":null}`},
	} {
		if err := p.Run(t.Context(), c.job); err != nil {
			t.Fatal(err)
		}
		want(t, "line", logged.wait(t, fmt.Sprintf(`"id":%d,`, c.job.ID)), c.want)
	}
}

func TestAChildTakesOneJobAfterTheOtherAndThereAreNoMoreThanAllowed(t *testing.T) {
	pgtest.OnOneVersion(t)
	captureLog(t)
	dir := t.TempDir()
	p := newPersistent(t, task.PersistentConfig{Children: 2}, `echo x >> '`+dir+`/starts'`+"\n"+loop(isOK))
	for id := range int64(5) {
		if err := p.Run(t.Context(), jobOf(id, "{}")); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "starts for jobs that come one by one", read(t, dir+"/starts"), "x\n")
	var jobs sync.WaitGroup
	for id := range int64(50) {
		jobs.Go(func() {
			if err := p.Run(t.Context(), jobOf(id, "{}")); err != nil {
				t.Error(err)
			}
		})
	}
	jobs.Wait()
	if starts := len(read(t, dir+"/starts")) / 2; starts > 2 {
		t.Errorf("%d were started", starts)
	}
}

func TestAnAnswerSaysWhatBecomesOfAJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	captureLog(t)
	answer := filepath.Join(t.TempDir(), "answer")
	p := newPersistent(t, task.PersistentConfig{}, loop(`echo "{\"id\":$id,$(cat '`+answer+`')}"`))
	for name, c := range map[string]struct {
		answer string
		want   error
	}{
		"success":        {`"ok":true`, nil},
		"error":          {`"error":"no such mailbox"`, errors.New("no such mailbox")},
		"empty error":    {`"error":""`, errors.New("failed without an error message")},
		"permanent":      {`"error":"gone","permanent":true,"retry_in":5`, shim.Discard(errors.New("gone"))},
		"retry":          {`"error":"busy","retry_in":1.5`, shim.RetryIn(1500*time.Millisecond, errors.New("busy"))},
		"retry at once":  {`"error":"busy","retry_in":-1`, shim.RetryIn(0, errors.New("busy"))},
		"retry too late": {`"error":"busy","retry_in":1e30`, shim.RetryIn(365*24*time.Hour, errors.New("busy"))},
		"rate limited": {
			`"error":"busy","retry_in":1.5,"rate_limited":true`,
			fmt.Errorf("%w (%w)", errors.New("busy"), shim.RateLimited(1500*time.Millisecond)),
		},
		"further keys": {`"ok":true,"took":3`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, 0o600, c.answer, answer)
			err := p.Run(t.Context(), jobOf(3, "{}"))
			if !reflect.DeepEqual(err, c.want) {
				t.Errorf("got %#v, want %#v", err, c.want)
			}
		})
	}
}

func TestAProgramThatDoesNotKeepToTheProtocolIsReplaced(t *testing.T) {
	pgtest.OnOneVersion(t)
	captureLog(t)
	for name, c := range map[string]struct{ body, want string }{
		"no JSON": {`echo working`, "the task's program: its answer is invalid (invalid character 'w' looking for beginning of value): working; stdout is for answers only, the program must log to stderr"},
		"no id":   {`echo '{"ok":true}'`, `the task's program: its answer has no id: {"ok":true}`},
		"JSON log": {`echo '{"level":30,"msg":"hello"}'`,
			`the task's program: its answer is invalid: {"level":30,"msg":"hello"}; stdout is for answers only, the program must log to stderr`},
		"another job": {`echo '{"id":1,"ok":true}'`, "the task's program: it answered for job 1 instead of job 7"},
		"neither":     {`echo "{\"id\":$id}"`, `the task's program: its answer must have either ok or error: {"id":7}`},
		"both": {`echo "{\"id\":$id,\"ok\":true,\"error\":\"x\"}"`,
			`the task's program: its answer must have either ok or error: {"id":7,"ok":true,"error":"x"}`},
		"rate limited until when?": {
			`echo "{\"id\":$id,\"error\":\"x\",\"rate_limited\":true}"`,
			`the task's program: its answer has rate_limited, which needs a positive retry_in and excludes ok and permanent: {"id":7,"error":"x","rate_limited":true}`,
		},
		"too long": {`head -c 70000 /dev/zero | tr '\0' x; echo`,
			"the task's program: its answer is longer than 65536 bytes: " + strings.Repeat("x", 200) + "..."},
		"complaint": {`echo bad >&2; echo working`,
			"the task's program: its answer is invalid (invalid character 'w' looking for beginning of value): working; stdout is for answers only, the program must log to stderr\nbad"},
	} {
		t.Run(name, func(t *testing.T) {
			// The first child misbehaves, the next one does not.
			p := newPersistent(t, task.PersistentConfig{},
				`if [ -e "$0.first" ]; then `+loop(isOK)+`; fi; touch "$0.first"; `+loop(c.body))
			err := p.Run(t.Context(), newJob())
			if err == nil || err.Error() != c.want {
				t.Errorf("error is\n%v, want\n%s", err, c.want)
			}
			if err := p.Run(t.Context(), newJob()); err != nil {
				t.Errorf("the next job: %v", err)
			}
		})
	}
}

func TestAProgramThatDiesFailsItsJobAndIsReplaced(t *testing.T) {
	pgtest.OnOneVersion(t)
	captureLog(t)
	for name, c := range map[string]struct{ body, want string }{
		"exit code":   {`exit 3`, "the task's program: it ended without an answer, exit code 3"},
		"exit code 0": {`exit 0`, "the task's program: it ended without an answer, exit code 0"},
		"signal":      {`kill -KILL $$`, "the task's program: it ended without an answer, killed by signal SIGKILL (9)"},
		"complaint": {`echo "not good" >&2; exit 1`,
			"the task's program: it ended without an answer, exit code 1\nnot good"},
		"half an answer": {`printf '{"id"'; exit 1`, "the task's program: it ended without an answer, exit code 1"},
		"closed output":  {`exec >&-; exit 4`, "the task's program: it ended without an answer, exit code 4"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPersistent(t, task.PersistentConfig{}, loop(`if [ "$id" = 1 ]; then `+isOK+`; else `+c.body+`; fi`))
			for range 2 {
				err := p.Run(t.Context(), newJob())
				if err == nil || err.Error() != c.want {
					t.Errorf("error is\n%v, want\n%s", err, c.want)
				}
			}
			if err := p.Run(t.Context(), jobOf(1, "{}")); err != nil {
				t.Errorf("the next job: %v", err)
			}
		})
	}
}

func TestWhatADeadProgramHasStartedGoesWithIt(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	p := newPersistent(t, task.PersistentConfig{}, loop(`sleep 1000 & echo "left $!" >&2; exit 1`))
	if err := p.Run(t.Context(), newJob()); err == nil {
		t.Error("no error")
	}
	waitGone(t, logged.pid(t, "left "))
}

func TestAProgramThatEndsBetweenJobsIsReplaced(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	p := newPersistent(t, task.PersistentConfig{},
		loop(isOK+`; [ "$id" = 2 ] || { sleep 1000 & echo "left $!" >&2; exit 5; }`))
	if err := p.Run(t.Context(), jobOf(1, "{}")); err != nil {
		t.Fatal(err)
	}
	logged.wait(t, "the task's program ended between jobs")
	waitGone(t, logged.pid(t, "left "))
	if err := p.Run(t.Context(), jobOf(2, "{}")); err != nil {
		t.Error(err)
	}
}

func TestAProgramThatCannotBeStartedFailsTheJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	captureLog(t)
	launcher := task.NewLauncher()
	defer launcher.Close()
	p := task.NewPersistent(task.PersistentConfig{Program: task.Executable{Path: "/no/such/program"},
		Launcher: launcher, Logger: slog.Default()})
	defer p.Close()
	if err := p.Run(t.Context(), newJob()); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("error is %v", err)
	}
}

func TestAJobThatTakesTooLongEndsItsChildAndAnotherFollows(t *testing.T) {
	pgtest.OnOneVersion(t)
	captureLog(t)
	p := newPersistent(t, task.PersistentConfig{Program: task.Executable{Timeout: 300 * time.Millisecond,
		KillDelay: 100 * time.Millisecond}},
		loop(`[ "$id" = 1 ] || { trap '' TERM; while :; do sleep 0.05; done; }; `+isOK))
	err := p.Run(t.Context(), jobOf(2, "{}"))
	if err == nil || err.Error() != "timed out after 300ms, killed by signal SIGKILL (9)" {
		t.Errorf("error is %v", err)
	}
	if err := p.Run(t.Context(), jobOf(1, "{}")); err != nil {
		t.Error(err)
	}
}

func TestAnAnswerThatComesAfterTheContextHasEndedCounts(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	p := newPersistent(t, task.PersistentConfig{},
		loop(`trap '`+strings.ReplaceAll(isOK, "'",
			`'"'"'`)+`; exit' TERM; echo ready >&2; while :; do sleep 0.05; done`))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx, newJob()) }()
	logged.wait(t, "ready")
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAJobThatIsCutSaysWhy(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	p := newPersistent(t, task.PersistentConfig{}, loop(`echo ready >&2; while :; do sleep 0.05; done`))
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx, newJob()) }()
	logged.wait(t, "ready")
	cancel(shim.ErrShutdown)
	want(t, "error", (<-done).Error(), "worker is shutting down, killed by signal SIGTERM (15)\nready")
}

func TestWithoutAFreeChildAJobWaitsNoLongerThanItMay(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	p := newPersistent(t, task.PersistentConfig{}, loop(`echo ready >&2; while :; do sleep 0.05; done`))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx, newJob()) }()
	logged.wait(t, "ready")
	over, end := context.WithCancel(t.Context())
	end()
	if err := p.Run(over, newJob()); err == nil || !strings.Contains(err.Error(), "wait for a program of the task") {
		t.Errorf("error is %v", err)
	}
	cancel()
	<-done
}

func TestAnIdleChildIsToldToEndByTheEndOfItsInputThenBySignals(t *testing.T) {
	pgtest.OnOneVersion(t)
	for name, c := range map[string]struct{ start, end, want string }{
		"end of input": {``, `echo read all >&2`, "read all"},
		"SIGTERM":      {`trap 'echo was asked >&2; exit' TERM`, `while :; do sleep 0.05; done`, "was asked"},
		"SIGKILL":      {`trap 'echo was asked >&2' TERM`, `while :; do sleep 0.05; done`, "was asked"},
	} {
		t.Run(name, func(t *testing.T) {
			logged := captureLog(t)
			p := newPersistent(t, task.PersistentConfig{Program: task.Executable{KillDelay: 200 * time.Millisecond}},
				c.start+"\necho pid $$ >&2\n"+loop(isOK)+"\n"+c.end)
			if err := p.Run(t.Context(), newJob()); err != nil {
				t.Fatal(err)
			}
			pid := logged.pid(t, "pid ")
			p.Close()
			waitGone(t, pid)
			logged.wait(t, c.want)
		})
	}
}

func TestAJobThatComesAfterTheEndStillRunsAndItsChildEnds(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	p := newPersistent(t, task.PersistentConfig{}, "echo pid $$ >&2\n"+loop(isOK))
	p.Close()
	if err := p.Run(t.Context(), newJob()); err != nil {
		t.Error(err)
	}
	p.Close()
	waitGone(t, logged.pid(t, "pid "))
}

func TestComplaintsAreLoggedWithTheJobAndBetweenJobsWithTheTask(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	heard := filepath.Join(t.TempDir(), "heard")
	p := newPersistent(t, task.PersistentConfig{},
		loop(`echo during >&2; until [ -e '`+heard+`' ]; do sleep 0.01; done; `+isOK+`; sleep 0.2; echo after >&2`))
	done := make(chan error)
	go func() { done <- p.Run(t.Context(), newJob()) }()
	logged.wait(t, "during")
	write(t, 0o600, "", heard)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	logged.wait(t, "after")
	for _, line := range logged.lines(t) {
		if line.Stream != "stderr" || line.Task != "a" || line.Level != "WARN" ||
			(line.JobID == 7) != (line.Msg == "during") {
			t.Errorf("unexpected line %+v", line)
		}
	}
}
