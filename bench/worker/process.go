package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/gwsql/gw/bench/internal/subject"
)

// patience is the maximum time of a process for an answer, or for one more job.
const patience = time.Minute

// A process is a running process of a contender.
type process struct {
	family  *family
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	replies chan subject.Message // all messages except those in starts
	starts  chan subject.Start
	stderr  bytes.Buffer
	ended   chan struct{}
}

// startProcess starts a process and waits until it is ready.
func startProcess(ctx context.Context, f *family, p *programs, order subject.Order) (*process, error) {
	w, err := launch(ctx, f, p, order)
	if err != nil {
		return nil, err
	}
	if err := w.ready(ctx); err != nil {
		w.kill()
		return nil, err
	}
	return w, nil
}

// launch starts a process.
func launch(ctx context.Context, f *family, p *programs, order subject.Order) (*process, error) {
	cmd, err := f.command(ctx, p, order)
	if err != nil {
		return nil, err
	}
	w := &process{family: f, cmd: cmd, replies: make(chan subject.Message, 16), ended: make(chan struct{})}
	w.starts = make(chan subject.Start, order.Jobs+1) // one for each job
	cmd.Stderr = &w.stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		w.stdin, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", f.program, err)
	}
	go w.read(stdout)
	return w, nil
}

// ready waits until the process is ready. It returns an error if the process has another version than the one to be
// measured.
func (w *process) ready(ctx context.Context) error {
	m, err := w.reply(ctx)
	if err == nil && w.family.version != "" && m.Ready != w.family.version {
		err = fmt.Errorf("%s has version %s, want %s", w.family.program, m.Ready, w.family.version)
	}
	return err
}

// read passes on the messages of the process until it ends.
func (w *process) read(stdout io.Reader) {
	defer close(w.ended)
	defer close(w.replies)
	lines := json.NewDecoder(stdout)
	for {
		var m subject.Message
		if err := lines.Decode(&m); err != nil {
			_ = w.cmd.Wait() // reply returns the process state
			return
		}
		if m.Start != nil {
			select {
			case w.starts <- *m.Start:
			default: // a job that starts twice, which the counts show
			}
			continue
		}
		w.replies <- m
	}
}

// reply waits for the next message of the process.
func (w *process) reply(ctx context.Context) (subject.Message, error) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case m, open := <-w.replies:
		if !open {
			return m, fmt.Errorf("%s ended: %s\n%s", w.cmd.Path, w.cmd.ProcessState, w.stderr.Bytes())
		}
		if m.Error != "" {
			return m, fmt.Errorf("%s: %s", w.cmd.Path, m.Error)
		}
		return m, nil
	case <-timeout.C:
		return subject.Message{}, fmt.Errorf("%s does not answer\n%s", w.cmd.Path, w.stderr.Bytes())
	case <-ctx.Done():
		return subject.Message{}, ctx.Err()
	}
}

func (w *process) tell(line string) error {
	if _, err := io.WriteString(w.stdin, line+"\n"); err != nil {
		return fmt.Errorf("tell %s to %s: %w", w.cmd.Path, line, err)
	}
	return nil
}

func (w *process) ask(ctx context.Context, line string) (subject.Message, error) {
	if err := w.tell(line); err != nil {
		return subject.Message{}, err
	}
	return w.reply(ctx)
}

// status asks how far the process has come.
func (w *process) status(ctx context.Context) (subject.Status, error) {
	m, err := w.ask(ctx, "status")
	if err == nil && m.Status == nil {
		err = fmt.Errorf("%s does not tell its status", w.cmd.Path)
	}
	if err != nil {
		return subject.Status{}, err
	}
	return *m.Status, nil
}

// add makes the process add so many jobs, by calls for so many.
func (w *process) add(ctx context.Context, jobs, call int) (subject.Added, error) {
	m, err := w.ask(ctx, fmt.Sprintf("add %d %d", jobs, call))
	if err == nil && m.Added == nil {
		err = fmt.Errorf("%s does not tell what it added", w.cmd.Path)
	}
	if err != nil {
		return subject.Added{}, err
	}
	return *m.Added, nil
}

// stopped waits until the process has ended in good order.
func (w *process) stopped(ctx context.Context) error {
	m, err := w.reply(ctx)
	if err == nil && !m.Stopped {
		err = fmt.Errorf("%s does not stop", w.cmd.Path)
	}
	if err != nil {
		return err
	}
	<-w.ended
	if !w.cmd.ProcessState.Success() {
		return fmt.Errorf("%s ended: %s\n%s", w.cmd.Path, w.cmd.ProcessState, w.stderr.Bytes())
	}
	return nil
}

// stop tells the process to end and waits until it has.
func (w *process) stop(ctx context.Context) error {
	return errors.Join(w.tell("stop"), w.stopped(ctx))
}

// kill ends the process, if it still runs.
func (w *process) kill() {
	_ = w.cmd.Process.Kill() // it may have ended
	for range w.replies {    // until it has
	}
	<-w.ended
}

// start waits for the begin of a handler.
func (w *process) start(ctx context.Context) (subject.Start, error) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case s := <-w.starts:
		return s, nil
	case <-w.ended:
		return subject.Start{}, fmt.Errorf("%s ended: %s\n%s", w.cmd.Path, w.cmd.ProcessState, w.stderr.Bytes())
	case <-timeout.C:
		return subject.Start{}, fmt.Errorf("%s does not begin a job\n%s", w.cmd.Path, w.stderr.Bytes())
	case <-ctx.Done():
		return subject.Start{}, ctx.Err()
	}
}
