package task_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// No test here runs in parallel: a program that was just written cannot be started while another test forks.

func TestTheProgramGetsThePayloadOnStdinAndTheRestByEnvironment(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Setenv("GRAPHILE_WORKER_JOB_KEY", "of the job that runs this worker")
	t.Setenv("SOME_SETTING", "of the worker")
	out := filepath.Join(t.TempDir(), "out")
	program := script(t, `cat > '`+out+`.stdin'; env > '`+out+`.env'; pwd > '`+out+`.pwd'; echo "$#" > '`+out+`.args'`)
	job := &shim.Job{
		ID:             42,
		TaskIdentifier: "mail/send",
		Payload:        json.RawMessage("{\n  \"n\": 12345678901234567890,\n \"to\" : \"\\u00e4 b\" }"),
		Priority:       -3,
		RunAt:          time.Date(2026, 11, 20, 10, 4, 5, 6_789_000, time.FixedZone("", 3600)),
		Attempts:       2,
		MaxAttempts:    25,
		Key:            "the key",
	}
	if err := (task.Executable{Path: program}).Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	want(t, "stdin", read(t, out+".stdin"), `{"payload":{"n":12345678901234567890,"to":"\u00e4 b"}}`)
	directory, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want(t, "working directory", read(t, out+".pwd"), directory+"\n")
	want(t, "number of arguments", read(t, out+".args"), "0\n")
	env := strings.Split(read(t, out+".env"), "\n")
	for _, variable := range []string{
		"GRAPHILE_WORKER_PAYLOAD_FORMAT=json",
		"GRAPHILE_WORKER_TASK_IDENTIFIER=mail/send",
		"GRAPHILE_WORKER_JOB_ID=42",
		"GRAPHILE_WORKER_JOB_KEY=the key",
		"GRAPHILE_WORKER_JOB_ATTEMPTS=2",
		"GRAPHILE_WORKER_JOB_MAX_ATTEMPTS=25",
		"GRAPHILE_WORKER_JOB_PRIORITY=-3",
		"GRAPHILE_WORKER_JOB_RUN_AT=2026-11-20T09:04:05.006Z",
		"SOME_SETTING=of the worker",
	} {
		if !contains(env, variable) {
			t.Errorf("the environment lacks %s", variable)
		}
	}
}

func TestAJobWithoutKeyHasNoKeyVariable(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Setenv("GRAPHILE_WORKER_JOB_KEY", "of the job that runs this worker")
	program := script(t, `[ -z "${GRAPHILE_WORKER_JOB_KEY+set}" ]`)
	if err := (task.Executable{Path: program}).Run(t.Context(), newJob()); err != nil {
		t.Error(err)
	}
}

func TestAProgramNeedNotReadItsInput(t *testing.T) {
	pgtest.OnOneVersion(t)
	job := newJob()
	job.Payload = json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
	if err := (task.Executable{Path: script(t, "exit 0")}).Run(t.Context(), job); err != nil {
		t.Error(err)
	}
}

func TestOutputIsLoggedLineByLineWithTheJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	program := script(t, `echo one; printf 'two\r\nhalf'; echo complaint >&2; head -c 40000 /dev/zero | tr '\0' x >&2`)
	if err := (task.Executable{Path: program}).Run(t.Context(), newJob()); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr []string
	for _, line := range logged.lines(t) {
		if line.JobID != 7 || line.Task != "a" {
			t.Errorf("a line of job %d, task %q, want job 7, task a", line.JobID, line.Task)
		}
		switch {
		case line.Level == "INFO" && line.Stream == "stdout":
			stdout = append(stdout, line.Msg)
		case line.Level == "WARN" && line.Stream == "stderr":
			stderr = append(stderr, line.Msg)
		default:
			t.Errorf("unexpected line %+v", line)
		}
	}
	want(t, "stdout", fmt.Sprint(stdout), "[one two half]")
	want(t, "first line of stderr", stderr[0], "complaint")
	want(t, "long line, joined", strings.Join(stderr[1:], ""), strings.Repeat("x", 40000))
	if len(stderr) < 4 {
		t.Errorf("the long line came in %d pieces, want it cut", len(stderr)-1)
	}
}

func TestAFailureSaysHowTheProgramEndedAndWhatItComplainedAboutLast(t *testing.T) {
	pgtest.OnOneVersion(t)
	captureLog(t)
	for name, c := range map[string]struct{ body, want string }{
		"exit code":          {`exit 3`, "exit code 3"},
		"signal":             {`kill -KILL $$`, "killed by signal SIGKILL (9)"},
		"stderr, not stdout": {`echo fine; echo bad >&2; echo worse >&2; exit 1`, "exit code 1\nbad\nworse"},
		"text for the database": {
			`printf 'zero\000 and \377 byte' >&2; exit 1`, "exit code 1\nzero\uFFFD and \uFFFD byte",
		},
		"last lines": {
			`i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo "$i" >&2; done; exit 1`,
			"exit code 1\n81\n82\n83\n84\n85\n86\n87\n88\n89\n90\n91\n92\n93\n94\n95\n96\n97\n98\n99\n100",
		},
		"last bytes": {
			`echo first >&2; head -c 5000 /dev/zero | tr '\0' x >&2; exit 1`, "exit code 1\n" +
				strings.Repeat("x", 4096),
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := task.Executable{Path: script(t, c.body)}.Run(t.Context(), newJob())
			if err == nil {
				t.Fatal("no error")
			}
			want(t, "error", err.Error(), c.want)
		})
	}
}

func TestAProgramThatCannotBeStartedIsAFailureThatNamesIt(t *testing.T) {
	pgtest.OnOneVersion(t)
	program := write(t, 0o755, "#!/no/such/interpreter\n", t.TempDir(), "program")
	err := task.Executable{Path: program}.Run(t.Context(), newJob())
	if err == nil || !strings.Contains(err.Error(), program) {
		t.Errorf("error %v, want one that names %s", err, program)
	}
}

func TestWhenTheContextEndsTheWholeProcessGroupIsAskedAndThenKilled(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	// Parent and child both shrug off SIGTERM, and say so.
	program := script(t, `
trap 'echo parent was asked' TERM
sh -c 'trap "echo child was asked" TERM; echo child $$; while :; do sleep 0.05; done' &
while :; do sleep 0.05; done`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := run(ctx, task.Executable{Path: program, KillDelay: time.Second})
	child := logged.pid(t, "child ")
	cancel()
	err := <-done
	if err == nil || !strings.HasPrefix(err.Error(), "killed by signal SIGKILL (9)") {
		t.Errorf("error %v, want killed by SIGKILL", err)
	}
	for _, who := range []string{"parent was asked", "child was asked"} {
		logged.wait(t, who)
	}
	waitGone(t, child)
}

func TestAProgramThatFinishesWellAfterBeingAskedHasSucceeded(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	program := script(t, `trap 'echo finishing; exit 0' TERM; echo ready; while :; do sleep 0.05; done`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := run(ctx, task.Executable{Path: program})
	logged.wait(t, "ready")
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAProgramThatTakesTooLongHasFailed(t *testing.T) {
	pgtest.OnOneVersion(t)
	captureLog(t)
	err := task.Executable{Path: script(t, `exec sleep 1000`), Timeout: 50 * time.Millisecond}.Run(t.Context(),
		newJob())
	if err == nil || err.Error() != "timed out after 50ms, killed by signal SIGTERM (15)" {
		t.Errorf("error %v, want a time-out", err)
	}
}

func TestAProcessLeftBehindDoesNotHoldTheJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	program := script(t, `sleep 1000 & echo left $!`)
	if err := (task.Executable{Path: program, KillDelay: 50 * time.Millisecond}).Run(t.Context(),
		newJob()); err != nil {
		t.Error(err)
	}
	logged.wait(t, "left a process behind")
	if err := pgtest.Kill(logged.pid(t, "left "), syscall.SIGKILL); err != nil {
		t.Errorf("the process left behind is not there: %v", err)
	}
}

func newJob() *shim.Job {
	return &shim.Job{ID: 7, TaskIdentifier: "a", Payload: json.RawMessage("{}"), Attempts: 1, MaxAttempts: 25}
}

func run(ctx context.Context, e task.Executable) <-chan error {
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx, newJob()) }()
	return done
}

// script makes a shell script and returns its path.
func script(t *testing.T, body string) string {
	t.Helper()
	return write(t, 0o755, "#!/bin/sh\n"+body+"\n", t.TempDir(), "program")
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %q, want %q", what, got, want)
	}
}

func contains(list []string, s string) bool {
	for _, member := range list {
		if member == s {
			return true
		}
	}
	return false
}

// waitGone waits until a process has ended.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(patience); !errors.Is(pgtest.Kill(pid, 0), syscall.ESRCH); {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// capture is the log of a test.
type capture struct {
	mu      sync.Mutex
	content bytes.Buffer
	changed chan struct{} // holds a token after a write
}

type logLine struct {
	Level, Msg, Stream, Meta, Part string
	Task                           string `json:"task_identifier"`
	JobID                          int64  `json:"job_id"`
}

// captureLog makes the default logger, which jobs that no worker claimed log to, write into the result.
func captureLog(t *testing.T) *capture {
	t.Helper()
	c := &capture{changed: make(chan struct{}, 1)}
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(c, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return c
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.content.Write(p)
	select {
	case c.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (c *capture) lines(t *testing.T) []logLine {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []logLine
	decoder := json.NewDecoder(bytes.NewReader(c.content.Bytes()))
	for decoder.More() {
		var line logLine
		if err := decoder.Decode(&line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	return all
}

// wait waits for a message that contains part and returns it.
func (c *capture) wait(t *testing.T, part string) string {
	t.Helper()
	deadline := time.After(patience)
	for {
		for _, line := range c.lines(t) {
			if strings.Contains(line.Msg, part) {
				return line.Msg
			}
		}
		select {
		case <-c.changed:
		case <-deadline:
			t.Fatalf("no message contains %q", part)
		}
	}
}

// pid waits for a message that starts with prefix and returns the process id behind it.
func (c *capture) pid(t *testing.T, prefix string) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimPrefix(c.wait(t, prefix), prefix))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
