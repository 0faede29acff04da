//go:build ha

package ha

import (
	"cmp"
	"slices"
	"testing"
	"time"
)

// deadAfter is the setting dead_after: how long a worker may be silent before its jobs are recovered.
const deadAfter = 30 * time.Second

// account checks all jobs against what producers and handlers have recorded outside of the database. Each acknowledged job has run.
// No job has run twice, with one exception: its worker ran nothing for longer than dead_after after it, so that it counted as dead
// before it could report the first run. Runs of a named queue do not overlap.
func account(t *testing.T, producers []*producer, workers []*worker) {
	t.Helper()
	byNumber, byQueue := make(map[int][]run), make(map[string][]run)
	total := 0
	for _, w := range workers {
		for _, r := range w.runs(t) {
			total++
			byNumber[r.N] = append(byNumber[r.N], r)
			if r.Queue != "" {
				byQueue[r.Queue] = append(byQueue[r.Queue], r)
			}
		}
	}
	acked, unanswered, added, lost, twice := 0, 0, 0, 0, 0
	for _, p := range producers {
		acked += len(p.acked)
		unanswered += len(p.unanswered)
		for n := range p.acked {
			if len(byNumber[n]) == 0 {
				lost++
				t.Errorf("job %d of %s, added at %s, was lost", n, p.name, p.acked[n])
			}
		}
		for _, n := range p.unanswered {
			if len(byNumber[n]) > 0 {
				added++
			}
		}
	}
	for n, runs := range byNumber {
		if len(runs) == 1 {
			continue
		}
		twice++
		slices.SortFunc(runs, func(a, b run) int { return a.Start.Compare(b.Start) })
		if silence := silence(runs[0].worker.since(t, runs[0].End)); silence < deadAfter {
			t.Errorf("job %d ran %d times: by %s until %s, which was away for %s only, and by %s from %s on",
				n, len(runs), runs[0].worker.name, runs[0].End, silence, runs[1].worker.name, runs[1].Start)
		}
	}
	overlaps := 0
	for queue, runs := range byQueue {
		slices.SortFunc(runs, func(a, b run) int { return cmp.Or(a.Start.Compare(b.Start), a.End.Compare(b.End)) })
		for i := range runs[1:] {
			if runs[i+1].Start.Before(runs[i].End) {
				overlaps++
				t.Errorf("in queue %s job %d started before job %d ended", queue, runs[i+1].N, runs[i].N)
			}
		}
	}
	t.Logf("%d jobs acknowledged, %d runs: %d lost, %d twice, %d overlaps in queues; %d add_job unanswered, of which %d were added",
		acked, total, lost, twice, overlaps, unanswered, added)
}

// silence returns the time between the first two of these times.
func silence(times []time.Time) time.Duration {
	if len(times) < 2 {
		return 0
	}
	return times[1].Sub(times[0])
}

// gap returns the longest time between two of these times.
func gap(times []time.Time) (longest time.Duration) {
	for i := 1; i < len(times); i++ {
		longest = max(longest, times[i].Sub(times[i-1]))
	}
	return longest
}

// after returns the times that are not before start.
func after(times []time.Time, start time.Time) []time.Time {
	i, _ := slices.BinarySearchFunc(times, start, time.Time.Compare)
	return slices.Clone(times[i:])
}
