package task

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// child is a program that keeps running and processes one job after the other.
type child struct {
	process
	killDelay time.Duration
	stdin     *os.File
	answers   *bufio.Reader
	log       *slog.Logger // for stderr between jobs

	mu         sync.Mutex
	job        *shim.Job // the running job, nil between jobs
	stderrTail tail      // of the running job
}

// startChild starts the program of cmd. Its standard streams are set here.
func startChild(cmd *exec.Cmd, launcher *Launcher, killDelay time.Duration, log *slog.Logger) (*child, error) {
	c := &child{process: process{cmd: cmd, ended: make(chan struct{})}, killDelay: killDelay, log: log}
	var stdout, stderr *os.File
	cmd.Stdin, c.stdin = c.open(true)
	cmd.Stdout, stdout = c.open(false)
	cmd.Stderr, stderr = c.open(false)
	if err := launcher.start(&c.process); err != nil {
		return nil, startError(cmd, err)
	}
	c.answers = bufio.NewReaderSize(stdout, maxReply)
	go func() {
		c.follow(killDelay, func() { eachLine(stderr, c.complain) })
		close(c.ended)
	}()
	return c, nil
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
		c.endsWithin(c.killDelay)
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
	return c.stderrTail.after(message)
}

// stop sends SIGTERM to the child's process group, and SIGKILL after the kill delay.
func (c *child) stop() {
	if c.isEnded() {
		return
	}
	c.terminate(c.killDelay)
	<-c.ended
}

// dismiss ends an idle child, first by closing its input.
func (c *child) dismiss() {
	_ = c.stdin.Close() // this asks it to end
	if !c.endsWithin(c.killDelay) {
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
