package task

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
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

// start starts a program with its pipes.
func (l *Launcher) start(cmd *exec.Cmd, with *pipes) error {
	err := with.err
	if err == nil {
		ownGroup(cmd)
		dieWithWorker(cmd)
		done := make(chan error)
		l.starts <- func() { done <- cmd.Start() }
		err = <-done
	}
	for _, end := range with.theirs {
		_ = end.Close() // the program has its own
	}
	if err != nil {
		with.close()
	}
	return err
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
