package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

const (
	// defaultTimeout is Graphile Worker's.
	defaultTimeout = 4 * time.Hour
	// defaultKillDelay is how long a program has between SIGTERM and SIGKILL.
	defaultKillDelay = 5 * time.Second
)

// Executable serves a task with a program that is started for each job.
type Executable struct {
	// Path is the program's file.
	Path string
	// Args are its arguments. Default: none.
	Args []string
	// Directory is its working directory. Default: the worker's.
	Directory string
	// Env are environment variables as NAME=value, in addition to those of the worker. Default: none.
	Env []string
	// Timeout is the maximum duration of one job. Default: 4 hours. After it the program is ended as at a shutdown, and
	// the job fails.
	Timeout time.Duration
	// KillDelay is the time between SIGTERM and SIGKILL. Default: 5 seconds. It is also the time for which a job waits,
	// after its program has ended, for other processes that hold its input or output open.
	KillDelay time.Duration
}

var errTimeout = errors.New("timed out")

// Run starts the program for one job and waits for it. It logs the program's output line by line, stdout as info and
// stderr as warning. When ctx ends, the program's process group gets SIGTERM and, after KillDelay, SIGKILL; if the
// program still exits with code 0, the job has succeeded, and what it has written to the file GW_RESULT_FILE is its
// result. The error contains the way in which the program ended and the end of its stderr.
func (e Executable) Run(ctx context.Context, job *shim.Job) error {
	input, err := input(job.Payload)
	if err != nil {
		return err
	}
	timeout := cmp.Or(e.Timeout, defaultTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()

	// The kernel kills the child when the thread that started it ends, so this thread must not end.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	var stderrTail tail
	log := job.Logger()
	stdout := &lines{emit: func(line string) { log.InfoContext(ctx, line, "stream", "stdout") }}
	stderr := &lines{emit: func(line string) {
		log.WarnContext(ctx, line, "stream", "stderr")
		stderrTail.add(line)
	}}
	cmd := exec.CommandContext(ctx, e.Path, e.Args...)
	cmd.Dir = e.Directory
	cmd.Env = environment(e.Env, job)
	result := newResultFile()
	defer result.remove()
	cmd.Env = append(cmd.Env, result.variable()...)
	cmd.Stdin = input
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Cancel = func() error { askGroup(cmd); return nil }
	cmd.WaitDelay = cmp.Or(e.KillDelay, defaultKillDelay)
	ownGroup(cmd)
	dieWithWorker(cmd)
	if err := cmd.Start(); err != nil {
		return startError(cmd, err)
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		killGroup(cmd)
	}
	stdout.flush()
	stderr.flush()
	if errors.Is(err, exec.ErrWaitDelay) {
		log.WarnContext(ctx, "the task's program has left a process behind that holds its input or output open")
	}
	if err := outcome(ctx, cmd, timeout, &stderrTail); err != nil {
		return err
	}
	return result.read(job)
}

// outcome converts the end of a program to the error to store, nil for success.
func outcome(ctx context.Context, cmd *exec.Cmd, timeout time.Duration, stderrTail *tail) error {
	state := cmd.ProcessState
	if state.Success() {
		return nil
	}
	message := describe(state)
	if errors.Is(context.Cause(ctx), errTimeout) {
		message = fmt.Sprintf("timed out after %s, %s", timeout, message)
	}
	return stderrTail.after(message)
}
