package task

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// NodeConfig configures the processes of a [Node].
type NodeConfig struct {
	Program NodeProgram
	// Directory is the working directory. Default: the worker's.
	Directory string
	// Env are environment variables as NAME=value, in addition to those of the worker. Default: none.
	Env []string
	// Processes is the maximum number of processes, which are started on demand. Default: 1.
	Processes int
	// Setup is the settings of the helpers.
	Setup NodeSetup
	// Launcher starts the processes. It must outlive the Node.
	Launcher *Launcher
	// Logger receives the output that belongs to no job.
	Logger *slog.Logger
}

// NodeModule is a task that a module in JavaScript or TypeScript serves.
type NodeModule struct {
	Task string
	// Path is the absolute path of the module's file.
	Path string
	// Timeout is the time after which a job's abortSignal fires. Default: 4 hours.
	Timeout time.Duration
	// KillDelay is the time after its abortSignal fired in which a job must end. Default: 5 seconds. After it the job
	// fails, and its process takes no more jobs and ends when its other jobs have ended.
	KillDelay time.Duration
}

// Node serves tasks with modules, which it runs in Node.js as Graphile Worker does: one process runs any number of jobs
// of any module at once. A process that ends is replaced when the next job needs one, with growing delays until a
// process answers.
type Node struct {
	config NodeConfig

	mu        sync.Mutex
	processes []*nodeProcess // the processes that take jobs
	alive     int            // the number of all processes, retired ones included
	closed    bool
	none      sync.Cond // signals that no process is alive
	failures  int       // since the last answer
	notBefore time.Time // when the next process may be started
}

// NewNode returns a Node that has not started any process yet. It must be closed.
func NewNode(config NodeConfig) *Node {
	config.Processes = max(config.Processes, 1)
	n := &Node{config: config}
	n.none.L = &n.mu
	return n
}

// Load imports a module in a process, and logs the reason if that fails.
func (n *Node) Load(m NodeModule) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.processes) == 0 {
		if time.Now().Before(n.notBefore) {
			return
		}
		if _, err := n.start(); err != nil {
			n.config.Logger.Warn("Node.js cannot be started, jobs of the task will fail", "task_identifier", m.Task,
				"error", err)
			return
		}
	}
	process := n.processes[0]
	line, err := jsonLine(map[string]any{"load": m.Task, "path": m.Path})
	if err == nil {
		go process.send(context.Background(), line)
	}
}

// Run runs the job in a process. When ctx ends or the timeout is over, the job's abortSignal fires. If the task still
// ends within KillDelay, its outcome counts.
func (n *Node) Run(ctx context.Context, m NodeModule, job *shim.Job) error {
	timeout := cmp.Or(m.Timeout, defaultTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w after %s", errTimeout, timeout))
	defer cancel()
	call, err := n.take(ctx, job)
	if err != nil {
		return err
	}
	defer n.release(call)
	line, err := jsonLine(map[string]any{"call": call.number, "path": m.Path, "job": newNodeJob(job)})
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
		return call.afterEnd()
	case <-ctx.Done():
		return n.abort(ctx, call, cmp.Or(m.KillDelay, defaultKillDelay))
	}
}

// abort fires the call's abortSignal and returns the outcome of the job.
func (n *Node) abort(ctx context.Context, call *nodeCall, killDelay time.Duration) error {
	over, cancel := context.WithTimeout(context.Background(), killDelay)
	defer cancel()
	abort := map[string]any{"abort": call.number, "reason": context.Cause(ctx).Error()}
	if line, err := jsonLine(abort); err == nil {
		call.process.send(over, line)
	}
	select {
	case answer := <-call.answer:
		return call.outcome(answer)
	case <-call.process.ended:
		return fmt.Errorf("%w: %w", context.Cause(ctx), call.afterEnd())
	case <-over.Done():
		return n.abandon(ctx, call, killDelay)
	}
}

// abandon fails a call whose task does not end. Its process takes no more jobs. The process is killed if it has no
// other jobs, or if it does not react at all.
func (n *Node) abandon(ctx context.Context, call *nodeCall, killDelay time.Duration) error {
	n.mu.Lock()
	n.retire(call.process)
	call.abandoned = true
	reacts, isAlone := call.heard, call.process.busy() == 0
	n.mu.Unlock()
	what := fmt.Sprintf("the task kept running for %s after its abortSignal had fired", killDelay)
	if !reacts {
		what = fmt.Sprintf("Node.js did not react for %s: the code of a task keeps its event loop busy", killDelay)
	}
	if isAlone || !reacts {
		call.process.kill(what)
	}
	return fmt.Errorf("%w, and %s", context.Cause(ctx), what)
}

// take assigns the job to the process with the fewest jobs, or to a new one.
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

// fail delays the next start. n.mu is held.
func (n *Node) fail() {
	n.failures++
	n.notBefore = time.Now().Add(restartDelay(n.failures))
}

// retire removes a process from those that take jobs. n.mu is held.
func (n *Node) retire(p *nodeProcess) {
	if i := slices.Index(n.processes, p); i >= 0 {
		n.processes = slices.Delete(n.processes, i, i+1)
		p.retired = true
	}
}

// release ends a call, and its process if it is retired and has no other calls.
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
	p.stderrTail = tail{}
	if n.closed {
		n.retire(p)
	}
	if p.retired {
		go p.dismiss()
	}
}

// gone removes a process that has ended.
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

// Close ends each process when its jobs have ended, and waits for that. A job that comes later still runs.
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
