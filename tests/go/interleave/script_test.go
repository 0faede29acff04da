package interleave

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// reader is a psql that runs a script, in which a user presses return.
type reader struct {
	t       *testing.T
	name    string
	cmd     *exec.Cmd
	keys    io.WriteCloser
	mu      sync.Mutex
	printed bytes.Buffer
	more    chan struct{} // something was printed
	ended   chan error
}

func (r *reader) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.printed.Write(text)
	select {
	case r.more <- struct{}{}:
	default:
	}
	return len(text), nil
}

func openPsql(t *testing.T, url, dir, script string) *reader {
	t.Helper()
	r := &reader{t: t, name: script, more: make(chan struct{}, 1), ended: make(chan error, 1)}
	r.cmd = exec.CommandContext(t.Context(), "psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align",
		"--dbname", url, "--file", script)
	r.cmd.Dir, r.cmd.Stdout, r.cmd.Stderr = dir, r, r
	var err error
	if r.keys, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.ended <- r.cmd.Wait() }()
	return r
}

// press presses return.
func (r *reader) press() {
	r.t.Helper()
	if _, err := io.WriteString(r.keys, "\n"); err != nil {
		r.t.Fatalf("%s: %v after\n%s", r.name, err, r.text())
	}
}

func (r *reader) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.printed.String()
}

// await waits until a psql has printed a text so many times.
func (r *reader) await(text string, times int) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for strings.Count(r.text(), text) < times {
		select {
		case <-r.more:
		case <-ctx.Done():
			r.t.Fatalf("%s has not printed %q %d times:\n%s", r.name, text, times, r.text())
		}
	}
}

// end waits until a psql has ended.
func (r *reader) end() {
	r.t.Helper()
	select {
	case err := <-r.ended:
		if err != nil || strings.Contains(r.text(), "ERROR:") {
			r.t.Fatalf("%s: %v\n%s", r.name, err, r.text())
		}
	case <-time.After(patience):
		r.t.Fatalf("%s does not end:\n%s", r.name, r.text())
	}
}

func TestTheScriptsOfAFindingRunInPsqlAndDoWhatItSays(t *testing.T) {
	pgtest.OnOneVersion(t)
	d := newTestDriver(t)
	w := of("running queue", "complete", "get_job")
	f := &finding{world: w}
	err := d.explore(t.Context(), w, 10, func(order []int) (err error) {
		if slices.IsSorted(order) || slices.ContainsFunc(d.trace,
			func(s traced) bool { return strings.Contains(s.where, "waits") }) {
			return nil
		}
		f.order, f.trace = order, d.trace
		f.outcome, err = d.outcome(t.Context())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	scripts, err := d.scripts(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	url := pgtest.Database(t)
	conn := connect(t, url)
	var o origin
	text, err := run(t.Context(), conn, "select "+moments("clock_timestamp()"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(text, &o.began); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"stops.sql", "setup.sql"} {
		openPsql(t, url, dir, script).end()
	}
	if text, err = run(t.Context(), conn, originQuery); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(strings.TrimSpace(text), "%d|%d", &o.lastID, &o.lease); err != nil {
		t.Fatal(err)
	}
	playScripts(t, url, dir, f)
	got, err := readState(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	if got := got.text(o); got != f.outcome.tables {
		t.Errorf("the scripts end with\n%sinstead of\n%s", got, f.outcome.tables)
	}
}

// playScripts does what control.sql says, and waits after each step until its session is where the finding says.
func playScripts(t *testing.T, url, dir string, f *finding) {
	t.Helper()
	control := openPsql(t, url, dir, "control.sql")
	var sessions []*reader
	for i := range f.world.sessions {
		sessions = append(sessions, openPsql(t, url, dir, fmt.Sprintf("session%d.sql", i+1)))
	}
	statement, reached := make([]int, len(sessions)), make([]map[string]int, len(sessions))
	for i, s := range sessions {
		s.await(fmt.Sprintf("session %d, statement 1:", i+1), 1)
		reached[i] = make(map[string]int)
	}
	for n, step := range f.trace {
		control.await(fmt.Sprintf("step %d:", n+1), 1)
		s := sessions[step.session]
		if strings.Contains(control.text(), fmt.Sprintf("step %d: press return in session %d ", n+1, step.session+1)) {
			statement[step.session]++
			s.press()
		}
		control.press()
		switch {
		case step.where == "done":
			s.end()
		case step.stops[step.session]:
			reached[step.session][step.where]++
			s.await("NOTICE:  "+step.where+"\n", reached[step.session][step.where])
		default:
			s.await(fmt.Sprintf("session %d, statement %d:", step.session+1, statement[step.session]+1), 1)
		}
	}
	control.end()
}
