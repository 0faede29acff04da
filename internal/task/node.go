package task

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// NodeConfig says how the processes of a [Node] run.
type NodeConfig struct {
	Program NodeProgram
	// Directory is their working directory. Default: the worker's.
	Directory string
	// Env are environment variables as NAME=value, beside those of the worker. Default: none.
	Env []string
	// Processes is how many run at most. Default: 1. They are started when they are needed.
	Processes int
	// Setup is for the helpers.
	Setup NodeSetup
	// Launcher starts the processes. It has to outlive the Node.
	Launcher *Launcher
	// Logger receives what no job prints.
	Logger *slog.Logger
}

// NodeModule is a task that a module in JavaScript or TypeScript serves.
type NodeModule struct {
	Task string
	// Path is the absolute path of the module's file.
	Path string
	// Timeout is how long one job may take. Default: 4 hours; then its abortSignal fires.
	Timeout time.Duration
	// KillDelay is how long a job may go on when its abortSignal has fired. Default: 5 seconds; then it has failed, and its
	// process takes no more jobs and ends when the others in it are done.
	KillDelay time.Duration
}

// Node serves tasks with modules, by running them in Node.js as Graphile Worker does: any number of jobs of any of the
// modules at once in one process. A process that ends is replaced when the next job needs it, ever more slowly until one
// answers.
type Node struct {
	config NodeConfig

	mu        sync.Mutex
	processes []*nodeProcess // those that take jobs
	alive     int            // all of them
	closed    bool
	none      sync.Cond // nobody is alive
	failures  int       // since one has answered
	notBefore time.Time // when the next may be started
}

// NewNode returns a Node that has started nothing yet. It has to be closed.
func NewNode(config NodeConfig) *Node {
	config.Processes = max(config.Processes, 1)
	n := &Node{config: config}
	n.none.L = &n.mu
	return n
}

// Load has a process import a module, and logs why that fails if it does.
func (n *Node) Load(m NodeModule) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.processes) == 0 {
		if time.Now().Before(n.notBefore) {
			return
		}
		if _, err := n.start(); err != nil {
			n.config.Logger.Warn("Node.js cannot be started, jobs of the task will fail", "task_identifier", m.Task, "error", err)
			return
		}
	}
	process := n.processes[0]
	line, err := nodeLine(nodeLoad{Task: m.Task, Path: m.Path})
	if err == nil {
		go process.send(context.Background(), line)
	}
}

// Run has a process run the job. When ctx ends or the time is over, the job's abortSignal fires; if the task still answers
// within the KillDelay, the answer counts.
func (n *Node) Run(ctx context.Context, m NodeModule, job *shim.Job) error {
	timeout := orDefault(m.Timeout, defaultTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w after %s", errTimeout, timeout))
	defer cancel()
	call, err := n.take(ctx, job)
	if err != nil {
		return err
	}
	defer n.release(call)
	line, err := nodeLine(nodeRun{Call: call.number, Path: m.Path, Job: newNodeJob(job)})
	if err != nil {
		return err
	}
	if !call.process.send(ctx, line) && ctx.Err() != nil {
		return fmt.Errorf("wait for Node.js to take the job: %w", context.Cause(ctx))
	}
	select {
	case answer := <-call.answer:
		return call.outcome(answer)
	case <-call.process.ended:
		return call.death()
	case <-ctx.Done():
		return n.cut(ctx, call, orDefault(m.KillDelay, defaultKillDelay))
	}
}

// cut has the call's abortSignal fire, and waits for what comes of that.
func (n *Node) cut(ctx context.Context, call *nodeCall, killDelay time.Duration) error {
	over, cancel := context.WithTimeout(context.Background(), killDelay)
	defer cancel()
	if line, err := nodeLine(nodeAbort{Call: call.number, Reason: context.Cause(ctx).Error()}); err == nil {
		call.process.send(over, line)
	}
	select {
	case answer := <-call.answer:
		return call.outcome(answer)
	case <-call.process.ended:
		return fmt.Errorf("%w: %w", context.Cause(ctx), call.death())
	case <-over.Done():
		return n.abandon(ctx, call, killDelay)
	}
}

// abandon gives up a call whose task does not end. Its process takes no more jobs; it is killed if it runs nothing else, or
// if it does not react at all.
func (n *Node) abandon(ctx context.Context, call *nodeCall, killDelay time.Duration) error {
	n.mu.Lock()
	n.retire(call.process)
	call.abandoned = true
	reacts, isAlone := call.heard, call.process.busy() == 0
	n.mu.Unlock()
	what := fmt.Sprintf("the task went on for %s after its abortSignal had fired", killDelay)
	if !reacts {
		what = fmt.Sprintf("Node.js did not react for %s: the code of a task keeps its event loop busy", killDelay)
	}
	if isAlone || !reacts {
		call.process.kill(what)
	}
	return fmt.Errorf("%w, and %s", context.Cause(ctx), what)
}

// take finds the process with the fewest jobs, or starts one, and notes the job in it.
func (n *Node) take(ctx context.Context, job *shim.Job) (*nodeCall, error) {
	for {
		call, wait, err := n.tryTake(job)
		if call != nil || err != nil {
			return call, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for Node.js to be started again: %w", context.Cause(ctx))
		}
	}
}

func (n *Node) tryTake(job *shim.Job) (call *nodeCall, wait time.Duration, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var freest *nodeProcess
	for _, p := range n.processes {
		if freest == nil || len(p.calls) < len(freest.calls) {
			freest = p
		}
	}
	wait = time.Until(n.notBefore)
	if freest == nil && wait > 0 {
		return nil, wait, nil
	}
	if freest == nil || len(freest.calls) > 0 && len(n.processes) < n.config.Processes && wait <= 0 {
		started, err := n.start()
		if err != nil && freest == nil {
			return nil, 0, err
		}
		if err == nil {
			freest = started
		}
	}
	return freest.begin(job), 0, nil
}

// start starts a process that takes jobs. n.mu is held.
func (n *Node) start() (*nodeProcess, error) {
	p, err := startNodeProcess(n)
	if err != nil {
		n.fail()
		return nil, err
	}
	n.processes = append(n.processes, p)
	n.alive++
	return p, nil
}

// fail puts off the next start. n.mu is held.
func (n *Node) fail() {
	n.failures++
	n.notBefore = time.Now().Add(restartDelay(n.failures))
}

// retire has a process take no more jobs. n.mu is held.
func (n *Node) retire(p *nodeProcess) {
	if i := slices.Index(n.processes, p); i >= 0 {
		n.processes = slices.Delete(n.processes, i, i+1)
		p.retired = true
	}
}

// release ends a call, and with it a process that takes no more.
func (n *Node) release(call *nodeCall) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := call.process
	delete(p.calls, call.number)
	if call.abandoned {
		p.stuck = true
	}
	if len(p.calls) > 0 {
		return
	}
	p.complaints = tail{}
	if n.closed {
		n.retire(p)
	}
	if p.retired {
		go p.dismiss()
	}
}

// gone takes note of a process that has ended.
func (n *Node) gone(p *nodeProcess) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !p.retired {
		n.retire(p)
		n.fail()
		if len(p.calls) == 0 {
			n.config.Logger.Warn("the Node.js process of the tasks ended between jobs", "how", p.describeEnd())
		}
	}
	if n.alive--; n.alive == 0 {
		n.none.Broadcast()
	}
}

// Close ends the processes, each when its jobs are done, and waits for that. A job that comes later still runs.
func (n *Node) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	for _, p := range slices.Clone(n.processes) {
		if len(p.calls) == 0 {
			n.retire(p)
			go p.dismiss()
		}
	}
	for n.alive > 0 {
		n.none.Wait()
	}
}
