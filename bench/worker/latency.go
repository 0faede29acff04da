package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/bench/internal/stats"
	"github.com/gwsql/gw/bench/internal/subject"
)

const (
	// latencySamples is the number of samples of all rounds together.
	latencySamples = 1000
	latencyWarmUp  = 20

	// latencyPause is the minimum pause of a worker before the next job, and half of the maximum one.
	latencyPause = 5 * time.Millisecond

	// latencyBudget is the maximum latency of ours, as a multiple of that with the minimum of work.
	latencyBudget = 2
)

// byHandAlone starts single jobs with the minimum of work: a notification and an update of the row.
var byHandAlone = contender{name: "hand-written: NOTIFY and one update", family: &referenceFamily, processes: 1,
	concurrency: 1}

// latencyScenario adds single jobs and measures when their handlers begin.
func latencyScenario(ctx context.Context, b *bench) error {
	all := b.among(ours, byHandAlone, nodeDefaults, nodeBest, riverDefaults, riverBest)
	samples := max(b.Scale(latencySamples)/b.Rounds, 10)
	medians, pooled := map[string]stats.Series{}, map[string]stats.Series{}
	for round := range b.Rounds {
		for _, c := range harness.Turns(round, all) {
			n := samples
			if c.family == &riverFamily {
				n = max(n/5, 10) // its jobs are deleted a tenth of a second later
			}
			times, err := b.measureLatency(ctx, c, n, nil, nil)
			if err != nil {
				return err
			}
			fmt.Fprintf(b.Progress, "round %d: %s: p50 %.2f ms\n", round+1, c.name, times.Median())
			medians[c.name] = append(medians[c.name], times.Median())
			pooled[c.name] = append(pooled[c.name], times...)
		}
	}
	t := report.Table{{"contender", "min, ms", "p50, ms", "p95, ms", "p99, ms", "max, ms", "p50, contender / gw"}}
	for _, c := range all {
		p := pooled[c.name]
		t.Add(c.name, stats.Number(p.Quantile(0)), medians[c.name].Number(), stats.Number(p.Quantile(0.95)),
			stats.Number(p.Quantile(0.99)), stats.Number(p.Quantile(1)),
			medians[c.name].Over(medians[ours.name]).Ratio())
	}
	b.Note("Time from the call that adds a job, by the contender's own client in another process, to the start of its handler. "+
		"One job at a time, %d in total, for River a fifth of that; each is added %v to %v after the previous one has completed. "+
		"p50 is the median of the rounds' medians, the other figures are of all jobs.", samples*b.Rounds, latencyPause,
		3*latencyPause)
	b.Table(t)
	toLeast := medians[ours.name].Over(medians[byHandAlone.name])
	b.result("pick-up of a single job, p50: gw / (NOTIFY and one update)", toLeast.Ratio(),
		fmt.Sprintf("at most %d", latencyBudget), toLeast.AtMost(latencyBudget))
	for _, c := range all {
		if c.family == ours.family || c.family == byHandAlone.family {
			continue
		}
		ratio := medians[c.name].Over(medians[ours.name])
		b.result("pick-up of a single job, p50: "+c.name+" / gw", ratio.Ratio(), "at least 1", ratio.AtLeast(1))
	}
	return nil
}

// measureLatency returns milliseconds. adds are the settings of the process that adds the jobs, after the statements
// that run when the table has settled.
func (b *bench) measureLatency(ctx context.Context, c contender, n int, adds map[string]any,
	after []string) (times stats.Series, err error) {
	order := subject.Order{Do: subject.Work, Jobs: n + latencyWarmUp, TellStarts: true}
	err = b.employ(ctx, c, order, func(db *server.Database) error {
		if err := db.Settle(ctx); err != nil {
			return err
		}
		return db.Run(ctx, after...)
	}, func(k *crew) error {
		adding, err := startProcess(ctx, c.family, b.programs, subject.Order{URL: k.db.URL(), Do: subject.Add,
			Settings: adds})
		if err != nil {
			return err
		}
		defer adding.kill()
		if err := adding.tell("go"); err != nil {
			return err
		}
		for i := range n + latencyWarmUp {
			took, err := k.pickUp(ctx, adding)
			if err != nil {
				return err
			}
			if i >= latencyWarmUp {
				times = append(times, float64(took.Nanoseconds())/1e6)
			}
			time.Sleep(latencyPause + rand.N(2*latencyPause))
		}
		if err := adding.stop(ctx); err != nil {
			return err
		}
		counts, err := k.stop(ctx)
		if err != nil {
			return err
		}
		return checkCounts(counts, 1)
	})
	return times, err
}

// pickUp adds a job, waits until it is deleted, and returns the time until it began.
func (k *crew) pickUp(ctx context.Context, adding *process) (time.Duration, error) {
	added, err := adding.add(ctx, 1, 1)
	if err != nil {
		return 0, err
	}
	start, err := k.processes[0].start(ctx)
	if err != nil {
		return 0, err
	}
	if start.ID != added.ID {
		return 0, fmt.Errorf("job %d began, not job %d", start.ID, added.ID)
	}
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		var gone bool
		if err := k.db.Admin.QueryRow(ctx, k.contender.family.tables.gone, []int64{added.ID}).Scan(&gone); err != nil {
			return 0, fmt.Errorf("look for the job: %w", err)
		}
		if gone {
			return time.Duration(start.At - added.Begin), nil
		}
		if time.Since(begin) > patience {
			return 0, fmt.Errorf("job %d was not deleted", added.ID)
		}
	}
}
