package main

import (
	"context"
	"fmt"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/stats"
	"github.com/gwsql/gw/bench/internal/subject"
)

const (
	limitsJobs     = 100_000
	limitsPerCall  = 10_000 // jobs of one call of add_jobs
	limitsRate     = 10_000 // jobs a second
	limitsBurst    = 1000
	limitsHands    = 200 // jobs at once of the worker that has to reach the rate: it claims no more than it can start
	limitsSlots    = 40
	limitsSlotJobs = 10 // jobs of each slot
	limitsMillis   = 1000
)

// A limitsCase is a limit with the jobs that it limits.
type limitsCase struct {
	name        string
	limit       string // the arguments of set_limit; empty: no limit
	jobs        int
	millis      int // how long a job takes
	concurrency int
}

// limitsScenario runs jobs of limits. Only ours has limits, so it is compared with itself.
func limitsScenario(ctx context.Context, b *bench) error {
	jobs := b.Scale(limitsJobs)
	free := limitsCase{name: "no limit", jobs: jobs}
	wide := limitsCase{name: "a lane of 50", limit: "max_running => 50", jobs: jobs}
	fair := limitsCase{name: "1000 fair lanes", limit: "by => 'payload:tenant', fair => true", jobs: jobs}
	rated := limitsCase{name: fmt.Sprintf("%d a second", limitsRate),
		limit: fmt.Sprintf("rate => %d, per => '1 s', burst => %d", limitsRate, limitsBurst), jobs: jobs,
		concurrency: limitsHands}
	slots := limitsCase{name: fmt.Sprintf("%d slots", limitsSlots), limit: fmt.Sprintf("max_running => %d",
		limitsSlots),
		jobs: limitsSlots * limitsSlotJobs, millis: limitsMillis, concurrency: limitsSlots}
	all := []limitsCase{free, wide, fair, rated, slots}
	found := results{}
	for round := range b.Rounds {
		for _, c := range harness.Turns(round, all) {
			one, err := b.burnLimited(ctx, c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			fmt.Fprintf(b.Progress, "round %d: %s: %.0f jobs/s\n", round+1, c.name, one.speed)
			found.add(c.name, one)
		}
	}
	b.Note("Ready jobs of one task, added by add_jobs after the limit was set; from the first start of a handler until no row is left. "+
		"The jobs do nothing; those of %s take %d ms each. The worker of %s runs %d at once, which is as many as it claims at once, "+
		"because a claim is a start.", slots.name, limitsMillis, rated.name, limitsHands)
	t := report.Table{{"limit", "jobs", "seconds", "jobs/s", "to no limit"}}
	for _, c := range all {
		f := found[c.name]
		t.Add(c.name, fmt.Sprint(c.jobs), f.seconds.Number(), f.speed.Number(),
			f.speed.Over(found[free.name].speed).Ratio())
	}
	b.Table(t)
	for _, c := range []limitsCase{wide, fair} {
		ratio := found[c.name].speed.Over(found[free.name].speed)
		b.result("limits: "+c.name+" / no limit", ratio.Ratio(), "at least 0.2", ratio.AtLeast(0.2))
	}
	// Beyond the rate, as many jobs start as the burst allows.
	share := shares(found[rated.name].seconds, float64(jobs-limitsBurst)/limitsRate)
	b.result("limits: share of the rate that is used", share.Number(), "at least 0.98", share.AtLeast(0.98))
	b.result("limits: share of the rate that is used", share.Number(), "at most 1.02", share.AtMost(1.02))
	used := shares(found[slots.name].seconds, limitsSlotJobs*limitsMillis/1000)
	b.result("limits: share of the slots in use", used.Number(), "at least 0.98", used.AtLeast(0.98))
	return nil
}

// shares returns the shortest possible time as a share of each time.
func shares(times stats.Series, shortest float64) (all stats.Series) {
	for _, time := range times {
		all = append(all, shortest/time)
	}
	return all
}

func (b *bench) burnLimited(ctx context.Context, c limitsCase) (burned, error) {
	contender := ours
	if c.concurrency > 0 {
		contender.concurrency = c.concurrency
	}
	return b.burn(ctx, contender, load{
		jobs:  c.jobs,
		order: subject.Order{SleepMillis: c.millis},
		fill: func(n int) (statements []string) {
			if c.limit != "" {
				statements = []string{queue.SetLimit(queue.Task, c.limit)}
			}
			for from := 1; from <= n; from += limitsPerCall {
				statements = append(statements,
					queue.Add(queue.Task, "json_build_object('tenant', i % 1000)", 0, from,
						min(n, from+limitsPerCall-1)))
			}
			return statements
		},
	})
}
