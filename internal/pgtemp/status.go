package pgtemp

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gwsql/gw/internal/terminal"
)

const (
	// statusInterval is the interval between lines in a log while a step is running.
	statusInterval = 5 * time.Second
	// terminalInterval is the interval at which the line on a terminal is refreshed.
	terminalInterval = 200 * time.Millisecond
	// clearLine moves to the start of a terminal's line and clears it.
	clearLine = "\r\x1b[K"
)

// status prints the current step of a start, until the start ends: on a terminal by a line that is overwritten,
// elsewhere by a line every few seconds. Other lines are written through it. A nil status prints nothing.
type status struct {
	terminal bool
	done     chan struct{}
	stopped  chan struct{}

	mu    sync.Mutex
	out   io.Writer
	shown bool // the terminal's last line is the status line
	doing string
	since time.Time
}

// newStatus returns a status that writes to out until end is called.
func newStatus(out io.Writer) *status {
	if terminal.Is(out) {
		return runStatus(out, true, terminalInterval)
	}
	return runStatus(out, false, statusInterval)
}

func runStatus(out io.Writer, onTerminal bool, interval time.Duration) *status {
	s := &status{out: out, terminal: onTerminal, done: make(chan struct{}), stopped: make(chan struct{}),
		since: time.Now()}
	go s.run(interval)
	return s
}

func (s *status) run(interval time.Duration) {
	defer close(s.stopped)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-ticker.C:
			s.tell()
		}
	}
}

// tell prints the current step and the time since the start began.
func (s *status) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doing == "" {
		return
	}
	s.clear()
	fmt.Fprintf(s.out, "PostgreSQL: %s (%s)", s.doing, time.Since(s.since).Round(time.Second))
	if s.shown = s.terminal; !s.terminal {
		fmt.Fprintln(s.out)
	}
}

func (s *status) clear() {
	if s.shown {
		fmt.Fprint(s.out, clearLine)
	}
	s.shown = false
}

// Write writes whole lines.
func (s *status) Write(lines []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	return s.out.Write(lines)
}

func (s *status) set(doing string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doing = doing
}

// end stops printing and returns when nothing more will be printed.
func (s *status) end() {
	close(s.done)
	<-s.stopped
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
}
