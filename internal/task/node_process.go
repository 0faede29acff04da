package task

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// nodeProcess is a process of Node.js that runs modules. The mutex of its Node protects the fields that change.
type nodeProcess struct {
	process
	node   *Node
	bridge string        // the folder with the file of the bridge, which is removed when Node.js has read it
	lines  chan []byte   // to write
	quit   chan struct{} // closed when there are no more lines

	calls      map[int]*nodeCall
	last       int  // number of the last call
	retired    bool // takes no more jobs
	stuck      bool // runs an abandoned job
	isQuitting bool
	stderrTail tail      // since it last had no job
	exit       *nodeExit // the call of process.exit, nil without one
	killed     string    // why it was killed
}

type nodeExit struct {
	code int
	job  *shim.Job // the job that called it, nil if that is not known
}

// nodeCall is a job in a process.
type nodeCall struct {
	process   *nodeProcess
	number    int
	job       *shim.Job
	answer    chan nodeMessage
	heard     bool // the process has read its abort
	abandoned bool
}

// startNodeProcess starts a process of n, whose mutex is held.
func startNodeProcess(n *Node) (*nodeProcess, error) {
	p := &nodeProcess{
		process: process{ended: make(chan struct{})},
		node:    n, lines: make(chan []byte), quit: make(chan struct{}), calls: make(map[int]*nodeCall),
	}
	setup, err := jsonLine(map[string]any{"setup": n.config.Setup})
	if err != nil {
		return nil, fmt.Errorf("start Node.js: %w", err)
	}
	file, err := p.writeBridge()
	if err != nil {
		return nil, fmt.Errorf("start Node.js: %w", err)
	}
	p.cmd = exec.Command(n.config.Program.Path, append(n.config.Program.Args, file)...)
	p.cmd.Dir = n.config.Directory
	p.cmd.Env = append(os.Environ(), n.config.Env...)
	var prints, errs *os.File
	p.cmd.Stdout, prints = p.open(false)
	p.cmd.Stderr, errs = p.open(false)
	third, input := p.open(true) // the file descriptors 3 and 4
	fourth, output := p.open(false)
	p.cmd.ExtraFiles = []*os.File{third, fourth}
	if err := n.config.Launcher.start(&p.process); err != nil {
		p.removeBridge()
		return nil, fmt.Errorf("start Node.js: %w", err)
	}
	go p.write(input, setup)
	go func() {
		p.follow(defaultKillDelay, func() { p.listen(output) },
			func() { eachLine(prints, p.printing("stdout")) }, func() { eachLine(errs, p.printing("stderr")) })
		p.removeBridge()
		n.gone(p)
		close(p.ended)
		p.close()
	}()
	return p, nil
}

// writeBridge writes the file that Node.js runs to a folder that no other user can write to.
func (p *nodeProcess) writeBridge() (path string, err error) {
	if p.bridge, err = os.MkdirTemp("", "gw-run-node-"); err != nil {
		return "", err
	}
	path = filepath.Join(p.bridge, "gw-run.mjs")
	if err := os.WriteFile(path, nodeBridge, 0o600); err != nil {
		p.removeBridge()
		return "", err
	}
	return path, nil
}

func (p *nodeProcess) removeBridge() { _ = os.RemoveAll(p.bridge) } // a file that remains does no harm

// write writes lines until there are no more, and then ends the input.
func (p *nodeProcess) write(input *os.File, setup []byte) {
	defer input.Close()
	line := setup
	for {
		if _, err := input.Write(line); err != nil {
			return // the process is ending
		}
		select {
		case line = <-p.lines:
		case <-p.quit:
			return
		case <-p.ended:
			return
		}
	}
}

// send writes a line, unless the process or ctx ends first.
func (p *nodeProcess) send(ctx context.Context, line []byte) bool {
	select {
	case p.lines <- line:
		return true
	case <-p.ended:
	case <-ctx.Done():
	}
	return false
}

// printing returns a function that logs a line of Node.js itself, or of a program that a task has started: output that
// does not come through the bridge.
func (p *nodeProcess) printing(stream string) func(line string) {
	return func(line string) { p.print(p.node.config.Logger, stream, line) }
}

// print logs a line. It keeps lines of stderr, which may contain the reason why the process ends.
func (p *nodeProcess) print(log *slog.Logger, stream, line string) {
	log.Log(context.Background(), nodeLevels[stream], line, "stream", stream)
	if stream != "stderr" {
		return
	}
	p.node.mu.Lock()
	defer p.node.mu.Unlock()
	p.stderrTail.add(line)
}

// listen reads the messages of the bridge. A line that is not a message ends the process.
func (p *nodeProcess) listen(output io.Reader) {
	scanner := bufio.NewScanner(output)
	scanner.Buffer(make([]byte, 64<<10), maxNodeLine)
	for scanner.Scan() {
		var m nodeMessage
		if err := json.Unmarshal(scanner.Bytes(), &m); err != nil {
			go p.kill("a task has written to file descriptor 4, which is reserved for gw-run: " +
				excerpt(scanner.Bytes()))
			return
		}
		p.handle(&m)
	}
	if errors.Is(scanner.Err(), bufio.ErrTooLong) {
		go p.kill("a task has written to file descriptor 4, which is reserved for gw-run")
	}
}

func (p *nodeProcess) handle(m *nodeMessage) {
	n, log := p.node, p.logger(m.Call)
	switch {
	case m.Ready:
		p.removeBridge()
	case m.Loaded != nil && m.Error != nil:
		log.Warn("the task's module cannot be loaded, its jobs will fail", "task_identifier", *m.Loaded, "error",
			*m.Error)
	case m.Log != "":
		log.LogAttrs(context.Background(), nodeLevels[m.Log], m.Text, m.attrs()...)
	case m.Print != "":
		p.print(log, m.Print, m.Text)
	case m.Retire != "":
		log.Warn("the Node.js process of the tasks takes no more jobs and will be replaced", "reason", m.Retire)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	call := p.calls[max(m.Done, m.Heard, m.Call)]
	switch {
	case m.Done != 0:
		n.failures = 0
		if call != nil {
			call.answer <- *m
		}
	case m.Heard != 0 && call != nil:
		call.heard = true
	case m.Retire != "":
		n.retire(p)
		if len(p.calls) == 0 {
			go p.dismiss()
		}
	case m.Exit != nil:
		p.exit = &nodeExit{code: *m.Exit}
		if call != nil {
			p.exit.job = call.job
		}
	}
}

// logger returns the logger of a call, or that of the Node if the call has ended.
func (p *nodeProcess) logger(number int) *slog.Logger {
	p.node.mu.Lock()
	defer p.node.mu.Unlock()
	if call := p.calls[number]; call != nil {
		return call.job.Logger()
	}
	return p.node.config.Logger
}

// attrs returns the scope and metadata of a task's log message.
func (m *nodeMessage) attrs() []slog.Attr {
	var attrs []slog.Attr
	for name, text := range m.Scope {
		attrs = append(attrs, slog.String(name, text))
	}
	if m.Meta != "" {
		attrs = append(attrs, slog.String("meta", m.Meta))
	}
	return attrs
}

// begin adds a call for a job to the process.
func (p *nodeProcess) begin(job *shim.Job) *nodeCall {
	p.last++
	call := &nodeCall{process: p, number: p.last, job: job, answer: make(chan nodeMessage, 1)}
	p.calls[p.last] = call
	return call
}

// busy returns the number of its jobs that were not abandoned.
func (p *nodeProcess) busy() (count int) {
	for _, call := range p.calls {
		if !call.abandoned {
			count++
		}
	}
	return count
}

// kill kills the process group and waits for its end.
func (p *nodeProcess) kill(why string) {
	p.node.mu.Lock()
	if p.killed == "" {
		p.killed = why
	}
	p.node.mu.Unlock()
	if !p.endsWithin(0) {
		killGroup(p.cmd)
	}
	<-p.ended
}

// dismiss ends a process without jobs: it closes its input, and kills it if it does not end.
func (p *nodeProcess) dismiss() {
	p.node.mu.Lock()
	isFirst, isStuck := !p.isQuitting, p.stuck
	p.isQuitting = true
	p.node.mu.Unlock()
	if isFirst {
		close(p.quit)
	}
	if isStuck || !p.endsWithin(defaultKillDelay) {
		p.terminate(defaultKillDelay)
	}
}

func (p *nodeProcess) describeEnd() string {
	switch {
	case p.killed != "":
		return p.killed
	case p.exit != nil:
		return fmt.Sprintf("process.exit(%d) was called", p.exit.code)
	}
	return describe(p.cmd.ProcessState)
}

// outcome returns the error to end the job with, nil for success.
func (c *nodeCall) outcome(m nodeMessage) error {
	if m.Stack != "" {
		c.job.Logger().Warn("the task raised an error", "stack", m.Stack)
	}
	return m.outcome(c.job)
}

// exitDelay is the delay of a job that was interrupted because another job ended its process.
const exitDelay = time.Second

// afterEnd returns the outcome of a job whose process has ended. If another job is known to have ended the process,
// this job is run again, and the attempt does not count.
func (c *nodeCall) afterEnd() error {
	select {
	case answer := <-c.answer: // it ended just before the process
		return c.outcome(answer)
	default:
	}
	p := c.process
	p.node.mu.Lock()
	defer p.node.mu.Unlock()
	if p.killed == "" && p.exit != nil && p.exit.job != nil {
		if p.exit.job == c.job {
			return fmt.Errorf("the task called process.exit(%d)", p.exit.code)
		}
		c.job.Logger().Warn("the job is run again: another job in its Node.js process called process.exit",
			"code", p.exit.code, "other_task", p.exit.job.TaskIdentifier, "other_job_id", p.exit.job.ID)
		return shim.Snooze(exitDelay)
	}
	return p.stderrTail.after("its Node.js process ended: " + p.describeEnd())
}
