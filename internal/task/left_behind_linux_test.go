package task_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// leavesAReader is the beginning of a script: a process in a session of its own, which no signal to the group reaches,
// keeps the script's input open and never reads it.
const leavesAReader = `exec 3<&0
echo left $(setsid sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' <&3 &) >&2
`

// largeJob returns a job whose payload no pipe holds.
func largeJob() *shim.Job {
	return jobOf(7, `"`+strings.Repeat("x", 200_000)+`"`)
}

// wantEnd runs a job, which is cut with an error unless that is nil, and expects that it ends although its input stays
// open.
func wantEnd(t *testing.T, logged *capture, run func(context.Context, *shim.Job) error, cut error, want string) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- run(ctx, largeJob()) }()
	left := logged.pid(t, "left ")
	if cut != nil {
		cancel(cut)
	}
	select {
	case err := <-done:
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	case <-time.After(patience):
		t.Error("the job waits until somebody reads its input")
	}
	if err := syscall.Kill(left, syscall.SIGKILL); err != nil {
		t.Errorf("the process left behind is not there: %v", err)
	}
}

func TestAPersistentProgramThatDiesWhileItsInputIsWrittenEndsItsJobWhoeverHoldsTheInputOpen(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	p := newPersistent(t, task.PersistentConfig{Program: task.Executable{KillDelay: 50 * time.Millisecond}},
		leavesAReader+"exit 3")
	wantEnd(t, logged, p.Run, nil, "the task's program: it ended without an answer, exit code 3")
	p.Close()
}

func TestAJobOfAPersistentProgramThatIsCutWhileItsInputIsWrittenEnds(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	p := newPersistent(t, task.PersistentConfig{Program: task.Executable{KillDelay: 50 * time.Millisecond}},
		leavesAReader+"exec sleep 1000")
	wantEnd(t, logged, p.Run, shim.ErrShutdown, "worker is shutting down, killed by signal SIGTERM (15)")
	p.Close()
}

func TestAProgramThatDiesWhileItsInputIsWrittenEndsItsJobWhoeverHoldsTheInputOpen(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	e := task.Executable{Path: script(t, leavesAReader+"exit 3"), KillDelay: 50 * time.Millisecond}
	wantEnd(t, logged, e.Run, nil, "exit code 3")
}

func TestAJobOfAProgramThatIsCutWhileItsInputIsWrittenEnds(t *testing.T) {
	pgtest.OnOneVersion(t)
	logged := captureLog(t)
	e := task.Executable{Path: script(t, leavesAReader+"exec sleep 1000"), KillDelay: 50 * time.Millisecond}
	wantEnd(t, logged, e.Run, shim.ErrShutdown, "killed by signal SIGTERM (15)")
}
