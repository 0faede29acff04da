package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/stats"
	"github.com/gwsql/gw/bench/internal/subject"
)

const (
	memoryJobs = 1_000_000

	// memoryBudget is the maximum later memory of a worker, as a multiple of its memory after a tenth of the jobs.
	memoryBudget = 1.25
)

// memoryScenario measures the resident memory of ours while it runs many jobs.
func memoryScenario(ctx context.Context, b *bench) error {
	n := b.Scale(memoryJobs)
	var growth stats.Series
	t := report.Table{{"round", "after a tenth, MB", "most after that, MB", "at the end, MB", "most / after a tenth"}}
	for round := range b.Rounds {
		var tenth, most, last float64
		var watchErr error
		_, err := b.burn(ctx, ours, load{jobs: n, watch: func(k *crew, s subject.Status) {
			now, err := k.processes[0].resident()
			if err != nil {
				watchErr = err
				return
			}
			if s.Executions < int64(n/10) {
				return
			}
			if tenth == 0 {
				tenth = now
			}
			most, last = max(most, now), now
		}})
		if err == nil {
			err = watchErr
		}
		if err != nil {
			return err
		}
		growth = append(growth, most/tenth)
		t.Add(fmt.Sprint(round+1), stats.Number(tenth), stats.Number(most), stats.Number(last),
			fmt.Sprintf("%.2f", most/tenth))
	}
	b.Note("Resident memory of gw's process during %d no-op jobs.", n)
	b.Table(t)
	b.result(fmt.Sprintf("resident memory over %d jobs, most / after a tenth", n), growth.Ratio(),
		fmt.Sprintf("at most %v", memoryBudget), growth.AtMost(memoryBudget))
	return nil
}

// resident returns the resident memory of the process in megabytes.
func (w *process) resident() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the memory of a process: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		var kilobytes float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kilobytes); err == nil {
			return kilobytes / 1024, nil
		}
	}
	return 0, fmt.Errorf("read the memory of a process: %q", text)
}
