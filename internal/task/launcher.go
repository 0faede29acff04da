package task

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// Launcher starts programs that outlive the job for which they were started. The kernel kills a child when the thread
// that started it ends, so one thread that lives as long as the Launcher starts all of them.
type Launcher struct {
	starts chan func()
	close  func()
}

// NewLauncher returns a launcher that lives until it is closed.
func NewLauncher() *Launcher {
	l := &Launcher{starts: make(chan func())}
	l.close = sync.OnceFunc(func() { close(l.starts) })
	go func() {
		runtime.LockOSThread() // and never unlock: the thread ends with this goroutine
		for start := range l.starts {
			start()
		}
	}()
	return l
}

// Close ends the thread, and with it all programs that are still running. Nothing can be started afterwards.
func (l *Launcher) Close() { l.close() }

// start starts the program of a process with its pipes.
func (l *Launcher) start(p *process) error {
	err := p.err
	if err == nil {
		ownGroup(p.cmd)
		dieWithWorker(p.cmd)
		done := make(chan error)
		l.starts <- func() { done <- p.cmd.Start() }
		err = <-done
	}
	for _, end := range p.theirs {
		_ = end.Close() // the program has its own
	}
	if err != nil {
		p.close()
	}
	return err
}

// process is a program that outlives the job for which it was started.
type process struct {
	cmd *exec.Cmd
	pipes
	ended chan struct{} // closed when it has ended and its output was read
}

// follow lets functions read the output until the process has ended. Processes in its group are ended with it;
// processes that have left the group may hold its input and output open no longer than patience.
func (p *process) follow(patience time.Duration, readers ...func()) {
	var reading sync.WaitGroup
	for _, read := range readers {
		reading.Go(read)
	}
	_ = p.cmd.Wait() // p.cmd.ProcessState has the result
	killGroup(p.cmd)
	over := time.Now().Add(patience)
	for _, end := range p.ours {
		_ = end.SetDeadline(over) // fails only when it is closed
	}
	reading.Wait()
}

// terminate sends SIGTERM to the process group, and SIGKILL after a delay.
func (p *process) terminate(killDelay time.Duration) {
	askGroup(p.cmd)
	if !p.endsWithin(killDelay) {
		killGroup(p.cmd)
	}
}

// endsWithin waits up to d for the end of the process, and reports whether it has ended.
func (p *process) endsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.ended:
		return true
	case <-timer.C:
		return false
	}
}

// pipes are the pipes of a program that is going to start: the ends that it gets, and the worker's.
type pipes struct {
	theirs, ours []*os.File
	err          error // why one of them could not be made
}

// open makes a pipe from which the program reads, or to which it writes.
func (p *pipes) open(isInput bool) (theirs, ours *os.File) {
	if p.err != nil {
		return nil, nil
	}
	theirs, ours, p.err = os.Pipe()
	if !isInput {
		theirs, ours = ours, theirs
	}
	p.theirs, p.ours = append(p.theirs, theirs), append(p.ours, ours)
	return theirs, ours
}

// close closes the worker's ends. They may be closed already.
func (p *pipes) close() {
	for _, end := range p.ours {
		_ = end.Close()
	}
}
