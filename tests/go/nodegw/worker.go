package nodegw

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Options say which worker to run and how.
type Options struct {
	// Version is the release. Default: V18.
	Version Version

	// DatabaseURL says where the queue is.
	DatabaseURL string

	// Schema is the schema of the queue, not quoted. Default: graphile_worker.
	Schema string

	// Tasks are the tasks the worker runs: bodies of async JavaScript functions of (payload, helpers), by their names.
	// Set either Tasks or TaskDir.
	Tasks map[string]string

	// TaskDir is a folder of tasks, JavaScript files or executables.
	TaskDir string

	// Concurrency is the number of jobs to run at once. Default: 1.
	Concurrency int

	// PollInterval is how long an idle worker waits before it looks again. Default: Node's, 2 s, after which a worker
	// also takes up a named queue again, since Node does not say when one is free.
	PollInterval time.Duration

	// LocalQueue is the number of jobs to claim at once. Default: one by one.
	LocalQueue int

	// ForbiddenFlags are the flags of jobs not to take. Default: none.
	ForbiddenFlags []string

	// Preset are further settings of preset.worker, such as minResetLockedInterval. Default: none.
	Preset map[string]any

	// ClockAhead is by how much the worker's clock is, so that a minute may begin when a test wants it to. Default: not at
	// all.
	ClockAhead time.Duration

	// Env are further environment variables, as NAME=value. Default: none.
	Env []string
}

// Worker is a running Graphile Worker.
type Worker struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdin  io.Closer // closed by our end, however we end, and then the worker ends too
	output transcript
	ended  chan struct{}
}

// Start starts a worker and waits until it listens and looks for jobs. It is killed after the test at the latest; what it
// printed is logged if the test failed.
func Start(t testing.TB, o Options) *Worker {
	t.Helper()
	w := launch(t, o)
	w.Wait("Worker connected and looking for jobs...")
	return w
}

func launch(t testing.TB, o Options) *Worker {
	t.Helper()
	w := &Worker{t: t, ended: make(chan struct{})}
	w.output.changed = make(chan struct{}, 1)
	w.cmd = command(context.Background(), t, "worker.mjs", marshal(t, o.arguments(t)), o.Env)
	stdin, err := w.cmd.StdinPipe()
	if err != nil {
		t.Fatalf("start Graphile Worker: %v", err)
	}
	w.stdin = stdin
	w.cmd.Stdout, w.cmd.Stderr = &w.output, &w.output
	if err := w.cmd.Start(); err != nil {
		t.Fatalf("start Graphile Worker: %v", err)
	}
	go func() {
		defer close(w.ended)
		_ = w.cmd.Wait() // Stop and Kill look at how it ended
	}()
	t.Cleanup(func() {
		w.signal(syscall.SIGKILL)
		<-w.ended
		if t.Failed() {
			t.Logf("%s printed:\n%s", o.version(), w.output.String())
		}
	})
	return w
}

func (o Options) version() Version {
	if o.Version == "" {
		return V18
	}
	return o.Version
}

// arguments returns what worker.mjs takes.
func (o Options) arguments(t testing.TB) map[string]any {
	t.Helper()
	preset := settings(t, o.DatabaseURL, o.Schema, o.Preset)
	if o.Concurrency != 0 {
		preset["concurrentJobs"] = o.Concurrency
		preset["maxPoolSize"] = o.Concurrency + 2
	}
	if o.PollInterval != 0 {
		preset["pollInterval"] = o.PollInterval.Milliseconds()
	}
	if o.LocalQueue != 0 {
		preset["localQueue"] = map[string]any{"size": o.LocalQueue}
	}
	arguments := map[string]any{"version": o.version(), "preset": preset}
	if o.TaskDir != "" {
		preset["taskDirectory"] = o.TaskDir
	} else {
		arguments["tasks"] = o.Tasks
	}
	if o.ClockAhead != 0 {
		arguments["ahead"] = o.ClockAhead.Milliseconds()
	}
	if o.ForbiddenFlags != nil {
		arguments["forbiddenFlags"] = o.ForbiddenFlags
	}
	return arguments
}

// Wait waits until the worker has printed a line that contains part, and returns that line.
func (w *Worker) Wait(part string) string {
	w.t.Helper()
	deadline := time.After(patience)
	for {
		text := w.output.String()
		for line := range strings.Lines(text) {
			if strings.Contains(line, part) {
				return strings.TrimSuffix(line, "\n")
			}
		}
		select {
		case <-w.output.changed:
		case <-w.ended:
			if w.output.String() == text {
				w.t.Fatalf("the worker ended (%s) without printing %q", w.cmd.ProcessState, part)
			}
		case <-deadline:
			w.t.Fatalf("the worker does not print %q", part)
		}
	}
}

// Output returns what the worker has printed so far.
func (w *Worker) Output() string { return w.output.String() }

// Stop asks the worker by SIGTERM to finish its jobs and end, and waits until it has ended in good order.
func (w *Worker) Stop() {
	w.t.Helper()
	w.signal(syscall.SIGTERM)
	w.wait()
	// Once its jobs are done, a Graphile Worker ends itself by the signal it got.
	status, _ := w.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() || status.Signal() != syscall.SIGTERM {
		w.t.Errorf("the worker ended by %s, want an end by SIGTERM", w.cmd.ProcessState)
	}
}

// Kill ends the worker by SIGKILL, as a crash would, and waits until it is gone. Its jobs stay locked.
func (w *Worker) Kill() {
	w.t.Helper()
	w.signal(syscall.SIGKILL)
	w.wait()
}

// ExitCode waits until the worker has ended by itself, and returns what it exited with; -1 if a signal ended it.
func (w *Worker) ExitCode() int {
	w.t.Helper()
	w.wait()
	return w.cmd.ProcessState.ExitCode()
}

func (w *Worker) wait() {
	w.t.Helper()
	select {
	case <-w.ended:
	case <-time.After(patience):
		w.t.Fatal("the worker does not end")
	}
}

// signal sends a signal, if the worker still runs.
func (w *Worker) signal(signal syscall.Signal) {
	w.t.Helper()
	if err := w.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		w.t.Errorf("send the worker a signal: %v", err)
	}
}
