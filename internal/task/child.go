package task

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// child is a program that keeps running and processes one job after the other.
type child struct {
	cmd       *exec.Cmd
	killDelay time.Duration
	pipes
	stdin, stdout, stderr *os.File
	answers               *bufio.Reader
	ended                 chan struct{} // closed when the process has ended and its stderr was read

	log *slog.Logger // for stderr between jobs

	mu         sync.Mutex
	job        *shim.Job // the running job, nil between jobs
	stderrTail tail      // of the running job
}

// startChild starts the program of cmd. Its standard streams are set here.
func startChild(cmd *exec.Cmd, launcher *Launcher, killDelay time.Duration, log *slog.Logger) (*child, error) {
	c := &child{cmd: cmd, killDelay: killDelay, log: log, ended: make(chan struct{})}
	cmd.Stdin, c.stdin = c.open(true)
	cmd.Stdout, c.stdout = c.open(false)
	cmd.Stderr, c.stderr = c.open(false)
	if err := launcher.start(cmd, &c.pipes); err != nil {
		return nil, startError(cmd, err)
	}
	c.answers = bufio.NewReaderSize(c.stdout, maxReply)
	go c.follow()
	return c, nil
}

// follow reads the child's stderr and waits for its end. Processes in its group are ended with it; processes that
// have left the group may hold its input and output open no longer than killDelay.
func (c *child) follow() {
	read := make(chan struct{})
	go func() {
		defer close(read)
		stderr := &lines{emit: c.complain}
		_, _ = io.Copy(stderr, c.stderr) // ends with the stream or its deadline
		stderr.flush()
	}()
	_ = c.cmd.Wait() // c.cmd.ProcessState has the result
	killGroup(c.cmd)
	over := time.Now().Add(c.killDelay)
	_ = c.stdin.SetWriteDeadline(over) // fails only when it is closed
	_ = c.stdout.SetReadDeadline(over)
	_ = c.stderr.SetReadDeadline(over)
	<-read
	close(c.ended)
}

func (c *child) complain(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.log
	if c.job != nil {
		log = c.job.Logger()
	}
	log.Warn(line, "stream", "stderr")
	c.stderrTail.add(line)
}

// assign assigns the following lines of the child's stderr to a job, or to none.
func (c *child) assign(job *shim.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.job, c.stderrTail = job, tail{}
}

// run runs a job in the child and returns its outcome. isFit reports whether the child can take another job; otherwise
// it has ended.
func (c *child) run(ctx context.Context, job *shim.Job) (isFit bool, err error) {
	request, err := jsonLine(newRequest(job))
	if err != nil {
		return true, err
	}
	c.assign(job)
	forget := context.AfterFunc(ctx, c.stop)
	a, err := c.exchange(request, job)
	wasLeft := forget()
	switch {
	case err != nil:
		return false, c.withoutAnswer(ctx, err)
	case !wasLeft: // it answered although it was asked to end
		c.stop()
		return false, a.end(job)
	}
	c.assign(nil)
	return true, a.end(job)
}

// exchange writes the request to the child and reads the answer, and before it any number of lines about the job's
// progress.
func (c *child) exchange(request []byte, job *shim.Job) (reply, error) {
	if _, err := c.stdin.Write(request); err != nil {
		return reply{}, errNoAnswer
	}
	for {
		answer, err := c.read(job.ID)
		if err != nil || !answer.isProgress() {
			return answer, err
		}
		if err := answer.report(job); err != nil {
			return reply{}, err
		}
	}
}

// read reads a line of the child.
func (c *child) read(id int64) (reply, error) {
	line, err := c.answers.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return reply{}, fmt.Errorf("its answer is longer than %d bytes: %s", maxReply, excerpt(line))
	case err != nil:
		return reply{}, errNoAnswer
	}
	return readReply(line, id)
}

// errNoAnswer means that the child has closed its input or output, and most likely ended.
var errNoAnswer = errors.New("it ended without an answer")

// withoutAnswer waits for the end of a child that gave no valid answer, and returns the error to store.
func (c *child) withoutAnswer(ctx context.Context, cause error) error {
	if errors.Is(cause, errNoAnswer) {
		await(c.ended, c.killDelay)
	}
	killGroup(c.cmd)
	<-c.ended

	message := "the task's program: " + cause.Error()
	switch {
	case ctx.Err() != nil:
		message = fmt.Sprintf("%s, %s", context.Cause(ctx), describe(c.cmd.ProcessState))
	case errors.Is(cause, errNoAnswer):
		message += ", " + describe(c.cmd.ProcessState)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if lines := c.stderrTail.String(); lines != "" {
		message += "\n" + lines
	}
	return errors.New(storable(message))
}

// stop sends SIGTERM to the child's process group, and SIGKILL after the kill delay.
func (c *child) stop() {
	if c.isEnded() {
		return
	}
	askGroup(c.cmd)
	if !await(c.ended, c.killDelay) {
		killGroup(c.cmd)
	}
	<-c.ended
}

// dismiss ends an idle child, first by closing its input.
func (c *child) dismiss() {
	_ = c.stdin.Close() // this asks it to end
	if !await(c.ended, c.killDelay) {
		c.stop()
	}
	c.close()
}

func (c *child) isEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// await waits up to d for the end of a process, and reports whether it has ended.
func await(ended <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}
