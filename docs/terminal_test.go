package docs_test

import (
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// patience is how long a test waits for anything. It is long because it only matters when a test fails.
const patience = 5 * time.Minute

// terminal is a shell that commands are typed into.
type terminal struct {
	t       *testing.T
	keys    io.WriteCloser
	shell   *exec.Cmd
	typed   int           // how many commands
	changed chan struct{} // holds a token after output

	mu     sync.Mutex
	screen string   // what is not a whole line yet
	lines  []string // since the last command was typed, but for those that were seen
	ended  map[int]int
}

// endOfCommand is a line with the number of a command and its exit code.
var endOfCommand = regexp.MustCompile(`^<command (\d+) ended: (\d+)>$`)

// newTerminal opens a terminal in a folder. It is closed after the test, with what runs in it.
func newTerminal(t *testing.T, dir string, env []string) *terminal {
	t.Helper()
	term := &terminal{t: t, shell: exec.Command("sh"), changed: make(chan struct{}, 1), ended: make(map[int]int)}
	term.shell.Dir, term.shell.Env = dir, env
	term.shell.Stdout, term.shell.Stderr = term, term
	term.shell.SysProcAttr = pgtest.OwnGroup() // so that Ctrl-C reaches what runs, and not the test
	var err error
	if term.keys, err = term.shell.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := term.shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = pgtest.Kill(-term.shell.Process.Pid, syscall.SIGKILL)
		_ = term.shell.Wait() // it was killed
	})
	term.press("trap : INT\n") // as a shell at a prompt, it outlives Ctrl-C
	return term
}

// Write takes what the shell and its commands print.
func (term *terminal) Write(p []byte) (int, error) {
	term.mu.Lock()
	defer term.mu.Unlock()
	term.screen += string(p)
	for {
		line, rest, isWhole := strings.Cut(term.screen, "\n")
		if !isWhole {
			break
		}
		term.screen = rest
		if end := endOfCommand.FindStringSubmatch(line); end != nil {
			number, _ := strconv.Atoi(end[1]) // it is digits
			term.ended[number], _ = strconv.Atoi(end[2])
			continue
		}
		term.lines = append(term.lines, line)
	}
	select {
	case term.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (term *terminal) press(keys string) {
	term.t.Helper()
	if _, err := io.WriteString(term.keys, keys); err != nil {
		term.t.Fatal(err)
	}
}

// enter types a command, and does not wait for it.
func (term *terminal) enter(command string) {
	term.t.Helper()
	term.mu.Lock()
	term.lines = nil
	term.typed++
	term.mu.Unlock()
	term.press(fmt.Sprintf("%s\necho \"<command %d ended: $?>\"\n", command, term.typed))
}

// run types a command and returns what it prints, with the exit code if that is not 0.
func (term *terminal) run(command string) string {
	term.t.Helper()
	term.enter(command)
	term.wait("the end of "+command, term.isAtPrompt)
	output := strings.Join(append(term.lines, ""), "\n")
	if code := term.ended[term.typed]; code != 0 {
		output += fmt.Sprintf("[exit code %d]\n", code)
	}
	return output
}

// interrupt presses Ctrl-C and waits for the end of what runs.
func (term *terminal) interrupt() {
	term.t.Helper()
	if err := pgtest.Kill(-term.shell.Process.Pid, syscall.SIGINT); err != nil {
		term.t.Fatal(err)
	}
	term.wait("the end after Ctrl-C", term.isAtPrompt)
}

func (term *terminal) isAtPrompt() bool {
	_, ended := term.ended[term.typed]
	return ended
}

// see waits for a line, which can be seen once.
func (term *terminal) see(what string, is func(line string) bool) {
	term.t.Helper()
	term.wait(what, func() bool {
		i := slices.IndexFunc(term.lines, is)
		if i < 0 {
			return false
		}
		term.lines = slices.Delete(term.lines, i, i+1)
		return true
	})
}

func (term *terminal) wait(what string, isThere func() bool) {
	term.t.Helper()
	deadline := time.After(patience)
	for {
		term.mu.Lock()
		found := isThere()
		shown := strings.Join(term.lines, "\n")
		term.mu.Unlock()
		if found {
			return
		}
		select {
		case <-term.changed:
		case <-deadline:
			term.t.Fatalf("the terminal does not show %s, but\n%s", what, shown)
		}
	}
}
