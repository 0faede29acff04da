package interleave

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
)

// A progress is a file of the worlds that runs have done, so that a run can continue where another one ended. Worlds
// with findings are not written to it.
type progress struct {
	mu   sync.Mutex
	test string
	file *os.File
	done set
	did  tally
}

// openProgress reads the file of a flag; without one, nothing has been done and nothing is written.
func openProgress(t *testing.T, path string) *progress {
	t.Helper()
	p := &progress{test: t.Name(), done: set{}}
	if path == "" {
		return p
	}
	if err := p.read(path); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	p.file = file
	return p
}

// read reads lines of a test, a world, and its numbers of orders, runs and steps.
func (p *progress) read(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		did := tally{worlds: 1}
		if len(fields) != 3 {
			return fmt.Errorf("read %s: the line %q has not three fields", path, line)
		}
		if _, err := fmt.Sscan(fields[2], &did.orders, &did.runs, &did.steps); err != nil {
			return fmt.Errorf("read %s: the line %q: %w", path, line, err)
		}
		if name := fields[1]; fields[0] == p.test && !p.done[name] {
			p.done[name] = true
			p.did.add(did)
		}
	}
	return nil
}

func (p *progress) has(w world) bool { return p.done[w.name] }

// note adds a world.
func (p *progress) note(w world, did tally, sound bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.did.add(did)
	if p.file == nil || !sound {
		return nil
	}
	if _, err := fmt.Fprintf(p.file, "%s\t%s\t%d %d %d\n", p.test, w.name, did.orders, did.runs,
		did.steps); err != nil {
		return fmt.Errorf("write what is done: %w", err)
	}
	return nil
}
