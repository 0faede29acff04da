package shards

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// notesVariable is an environment variable with which the test's binary acts as a persistent program of gw-run, and notes each
// run in the file that it names. Its parent is the worker.
const notesVariable = "GW_TEST_SHARDS_NOTES"

// payload is the payload of a job.
type payload struct {
	N            int // the number of the job
	Queue        string
	Milliseconds int // how long it runs
}

func runAsTask() (ran bool) {
	path := os.Getenv(notesVariable)
	if path == "" {
		return false
	}
	if err := runTask(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// runTask takes one job after the other. A note is a single write, so lines of several processes do not mix.
func runTask(path string) error {
	notes, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var job struct {
			ID      int64
			Attempt int
			Payload payload
		}
		if err := json.Unmarshal(lines.Bytes(), &job); err != nil {
			return err
		}
		fmt.Fprintf(notes, "start,%d,%s,%d,%d\n", job.Payload.N, job.Payload.Queue, os.Getppid(), job.Attempt)
		time.Sleep(time.Duration(job.Payload.Milliseconds) * time.Millisecond) // the duration of the job
		fmt.Fprintf(notes, "end,%d,%s,%d,%d\n", job.Payload.N, job.Payload.Queue, os.Getppid(), job.Attempt)
		fmt.Printf("{\"id\": %d, \"ok\": true}\n", job.ID)
	}
	return nil
}

// run is one run of a job.
type run struct {
	n, worker int
	attempt   int
	queue     string
	ended     bool
}

// runs returns all runs in the order of their starts, and reports those that overlap another one of their queue, unless its
// worker was killed.
func (f *fleet) runs() (runs []*run) {
	f.t.Helper()
	content, err := os.ReadFile(f.notes)
	if err != nil {
		f.t.Fatal(err)
	}
	open := make(map[string]*run) // by queue
	latest := make(map[[2]int]*run)
	for line := range strings.Lines(string(content)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if len(fields) != 5 {
			f.t.Fatalf("unknown note %q", line)
		}
		n, _ := strconv.Atoi(fields[1])
		worker, _ := strconv.Atoi(fields[3])
		attempt, _ := strconv.Atoi(fields[4])
		if fields[0] == "end" {
			if r := latest[[2]int{n, worker}]; r != nil {
				r.ended = true
			}
			continue
		}
		r := &run{n: n, queue: fields[2], worker: worker, attempt: attempt}
		if before := open[r.queue]; r.queue != "" && before != nil && !before.ended && !f.killed[before.worker] {
			f.t.Errorf("job %d of queue %s started while job %d of it ran", r.n, r.queue, before.n)
		}
		open[r.queue] = r
		latest[[2]int{n, worker}] = r
		runs = append(runs, r)
	}
	return runs
}

// account checks the runs of all jobs that were added, by the numbers that the producers have recorded.
func (f *fleet) account(t *testing.T, acked []int) {
	t.Helper()
	runs := f.runs()
	of := make(map[int][]*run)
	newest := make(map[string]int)
	for _, r := range runs {
		if len(of[r.n]) == 0 && r.queue != "" {
			// A job that was held by a worker that died waits for its back-off, and others of its queue may overtake it.
			if r.n < newest[r.queue] && r.attempt == 1 {
				t.Errorf("job %d of queue %s ran after job %d", r.n, r.queue, newest[r.queue])
			}
			newest[r.queue] = max(newest[r.queue], r.n)
		}
		of[r.n] = append(of[r.n], r)
	}
	lost, twice, unexplained := 0, 0, 0
	for _, n := range acked {
		if !slices.ContainsFunc(of[n], func(r *run) bool { return r.ended }) {
			lost++
			t.Errorf("job %d was lost (%d runs)", n, len(of[n]))
		}
	}
	for n, all := range of {
		for _, r := range all[:len(all)-1] {
			twice++
			if !f.killed[r.worker] {
				unexplained++
				t.Errorf("job %d ran %d times, although the worker of its first run was not killed", n, len(all))
			}
		}
	}
	t.Logf("%d jobs added, %d runs: %d lost, %d run again because their worker was killed", len(acked), len(runs), lost, twice-unexplained)
}
