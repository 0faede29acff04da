package task

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

const (
	firstRestart = 100 * time.Millisecond
	// longestRestart is the maximum wait before a program that died is restarted.
	longestRestart = 10 * time.Second
)

// PersistentConfig configures a [Persistent].
type PersistentConfig struct {
	// Task is the name of the task, for the log.
	Task string
	// Program is the program. After its Timeout the child is ended, and the job fails. KillDelay is also the time
	// between the end of the input and SIGTERM.
	Program Executable
	// Children is the maximum number of processes. Default: 1. They are started on demand.
	Children int
	// Launcher starts the children. It must outlive the Persistent.
	Launcher *Launcher
	// Logger receives the stderr of children between jobs.
	Logger *slog.Logger
}

// Persistent serves a task with programs that keep running. Each processes one job at a time: it reads a line of JSON
// that describes the job, and writes a line with the outcome. A program that dies is replaced when the next job needs
// it, with growing delays until one answers.
type Persistent struct {
	config   PersistentConfig
	timedOut error
	slots    chan struct{} // holds a token for each child that has a job

	mu        sync.Mutex
	idle      []*child // the most recently used one is the last
	alive     int
	closed    bool
	none      sync.Cond // signals that no child is alive
	failures  int       // since the last answer
	notBefore time.Time // when the next child may be started
}

// NewPersistent returns a Persistent that has not started any child yet. It must be closed.
func NewPersistent(config PersistentConfig) *Persistent {
	config.Children = max(config.Children, 1)
	config.Program.Timeout = cmp.Or(config.Program.Timeout, defaultTimeout)
	config.Program.KillDelay = cmp.Or(config.Program.KillDelay, defaultKillDelay)
	p := &Persistent{
		config:   config,
		timedOut: fmt.Errorf("%w after %s", errTimeout, config.Program.Timeout),
		slots:    make(chan struct{}, config.Children),
	}
	p.none.L = &p.mu
	return p
}

// Run runs the job in a child. When ctx ends or the timeout is over, the child gets SIGTERM and, KillDelay later,
// SIGKILL; if it still answers, the answer counts.
func (p *Persistent) Run(ctx context.Context, job *shim.Job) error {
	ctx, cancel := context.WithTimeoutCause(ctx, p.config.Program.Timeout, p.timedOut)
	defer cancel()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return fmt.Errorf("wait for a program of the task: %w", context.Cause(ctx))
	}
	c, err := p.take(ctx)
	if err != nil {
		return err
	}
	isFit, err := c.run(ctx, job)
	if isFit {
		p.keep(c)
	} else {
		p.discard(c, ctx.Err() == nil)
	}
	return err
}

// take returns an idle child, or a new one.
func (p *Persistent) take(ctx context.Context) (*child, error) {
	for {
		p.mu.Lock()
		if last := len(p.idle) - 1; last >= 0 {
			c := p.idle[last]
			p.idle = p.idle[:last]
			p.mu.Unlock()
			return c, nil
		}
		wait := time.Until(p.notBefore)
		p.mu.Unlock()
		if wait <= 0 {
			return p.start()
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the task's program to be started again: %w", context.Cause(ctx))
		}
	}
}

func (p *Persistent) start() (*child, error) {
	program := p.config.Program
	cmd := exec.Command(program.Path, program.Args...)
	cmd.Dir = program.Directory
	cmd.Env = append(os.Environ(), program.Env...)
	c, err := startChild(cmd, p.config.Launcher, program.KillDelay, p.logger())
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.fail()
		return nil, err
	}
	p.alive++
	go p.watch(c)
	return c, nil
}

func (p *Persistent) logger() *slog.Logger {
	return p.config.Logger.With("task_identifier", p.config.Task)
}

// watch waits for the end of a child, and removes it if it was idle.
func (p *Persistent) watch(c *child) {
	<-c.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.idle, c); i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
		p.lose(c)
	}
	if p.alive--; p.alive == 0 {
		p.none.Broadcast()
	}
}

// lose records a child that ended between jobs.
func (p *Persistent) lose(c *child) {
	c.close()
	p.fail()
	p.logger().Warn("the task's program ended between jobs", "how", describe(c.cmd.ProcessState))
}

// fail delays the next start.
func (p *Persistent) fail() {
	p.failures++
	p.notBefore = time.Now().Add(restartDelay(p.failures))
}

// restartDelay returns the delay of a start after this number of failures in a row.
func restartDelay(failures int) time.Duration {
	if failures >= 10 {
		return longestRestart
	}
	return min(firstRestart<<(failures-1), longestRestart)
}

// keep takes back a child that has answered.
func (p *Persistent) keep(c *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = 0
	switch {
	case c.isEnded():
		p.lose(c)
	case p.closed:
		go c.dismiss()
	default:
		p.idle = append(p.idle, c)
	}
}

// discard records a child that ended during its job. That counts as a failure unless the worker ended it.
func (p *Persistent) discard(c *child, itsFault bool) {
	c.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if itsFault {
		p.fail()
	}
}

// Close ends each child when its job has ended, and waits for that. It closes the child's input, sends SIGTERM after
// KillDelay, and SIGKILL after another KillDelay. A job that comes later still runs.
func (p *Persistent) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.idle {
		go c.dismiss()
	}
	p.idle = nil
	for p.alive > 0 {
		p.none.Wait()
	}
}
