//go:build ha

package ha

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// notesVariable is an environment variable with which the test's binary is the persistent program of a worker. Its value is the
// file in which it notes each run.
const notesVariable = "GW_TEST_HA_NOTES"

func TestMain(m *testing.M) {
	if path := os.Getenv(notesVariable); path != "" {
		if err := serve(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve answers each job with success, after a line in the file of notes, which does not depend on the database.
func serve(path string) error {
	notes, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer notes.Close()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var job struct {
			ID      int
			Queue   string
			Payload struct{ N int }
		}
		if err := json.Unmarshal(lines.Bytes(), &job); err != nil {
			return err
		}
		r := run{N: job.Payload.N, Queue: job.Queue, Start: time.Now()}
		time.Sleep(2 * time.Millisecond) // the work, during which a second job of the queue could be seen
		r.End = time.Now()
		note, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if _, err := notes.Write(append(note, '\n')); err != nil {
			return err
		}
		if _, err := fmt.Printf(`{"id":%d,"ok":true}`+"\n", job.ID); err != nil {
			return err
		}
	}
	return lines.Err()
}

// run is one run of a job.
type run struct {
	N          int
	Queue      string
	Start, End time.Time
	worker     *worker
}

// worker is a gw-run that runs two jobs at once.
type worker struct {
	name, notes string
}

func startWorker(t *testing.T, c *cluster, name, url string) *worker {
	t.Helper()
	folder := filepath.Join(c.folder, name)
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(folder, "gw.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "tasks:\n  record: {persistent: [%q], children: 2}\n", program), 0o644); err != nil {
		t.Fatal(err)
	}
	w := &worker{name: name, notes: filepath.Join(folder, "notes")}
	start(t, filepath.Join(folder, "log"), nil, []string{notesVariable + "=" + w.notes},
		pgtest.Program(t, "gw-run"), "--connection", url, "--config", config, "--jobs", "2", "--no-migrate", "--quiet")
	return w
}

// runs returns the runs so far, in the order of their ends.
func (w *worker) runs(t *testing.T) (runs []run) {
	t.Helper()
	content, err := os.ReadFile(w.notes)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		r := run{worker: w}
		if !strings.HasSuffix(line, "\n") {
			continue // it is being written
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(a, b run) int { return a.End.Compare(b.End) })
	return runs
}

// since returns the times since a time at which jobs ended.
func (w *worker) since(t *testing.T, start time.Time) (times []time.Time) {
	t.Helper()
	for _, r := range w.runs(t) {
		times = append(times, r.End)
	}
	return after(times, start)
}
