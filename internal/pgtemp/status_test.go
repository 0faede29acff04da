package pgtemp

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestATerminalHasOneLineThatIsWrittenAnew(t *testing.T) {
	told := make(chan string, 100)
	s := runStatus(lines(told), true, time.Millisecond)
	s.set("working")
	if first := <-told; !strings.HasPrefix(first, "PostgreSQL: working (") || strings.Contains(first, "\n") {
		t.Errorf("the first is %q", first)
	}
	if second := <-told; second != clearLine {
		t.Errorf("then comes %q", second)
	}
	s.end()
	var after strings.Builder
	s.out = &after
	fmt.Fprintln(s, "done")
	if after.String() != "done\n" {
		t.Errorf("a line after the end is %q", after.String())
	}
}

func TestALineBetweenTakesTheTerminalsLineAway(t *testing.T) {
	var out strings.Builder
	s := &status{out: &out, terminal: true, since: time.Now()}
	s.set("working")
	s.tell()
	fmt.Fprintln(s, "a line")
	s.tell()
	if want := "PostgreSQL: working (0s)" + clearLine + "a line\nPostgreSQL: working (0s)"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// lines is a writer that passes on what it is given.
type lines chan<- string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default: // nobody takes them any more
	}
	return len(p), nil
}
