package pgtemp

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gwsql/gw/internal/terminal"
)

const (
	// statusInterval is how long a log hears nothing of work that goes on.
	statusInterval = 5 * time.Second
	// terminalInterval is how often the line on a terminal is written anew.
	terminalInterval = 200 * time.Millisecond
	// clearLine goes back to the start of a terminal's line and empties it.
	clearLine = "\r\x1b[K"
)

// status tells what a start is busy with, for as long as that takes: on a terminal by a line that is written anew, elsewhere
// by a line every few seconds. It is also the writer for lines between those. A nil status tells nothing.
type status struct {
	terminal bool
	done     chan struct{}
	stopped  chan struct{}

	mu    sync.Mutex
	out   io.Writer
	shown bool // the terminal's last line is ours
	doing string
	since time.Time
}

// newStatus returns a status that writes to out until it is ended.
func newStatus(out io.Writer) *status {
	if terminal.Is(out) {
		return runStatus(out, true, terminalInterval)
	}
	return runStatus(out, false, statusInterval)
}

func runStatus(out io.Writer, onTerminal bool, interval time.Duration) *status {
	s := &status{out: out, terminal: onTerminal, done: make(chan struct{}), stopped: make(chan struct{}), since: time.Now()}
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

// tell says what goes on, and since when the start has been going on.
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

// clear takes our line off the terminal.
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

// set says what the start is busy with from now on.
func (s *status) set(doing string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doing = doing
}

// end returns when nothing more is told.
func (s *status) end() {
	close(s.done)
	<-s.stopped
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
}
