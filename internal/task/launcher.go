package task

import (
	"os/exec"
	"runtime"
	"sync"
)

// Launcher starts programs that outlive the job they were started for. The kernel ties a child's life to the thread that
// started it, so they are all started by one thread that stays.
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

// Close ends the thread, and with it what was started and still runs. Nothing can be started after that.
func (l *Launcher) Close() { l.close() }

func (l *Launcher) start(cmd *exec.Cmd) error {
	done := make(chan error)
	l.starts <- func() { done <- cmd.Start() }
	return <-done
}
