package main

import (
	"context"
	"fmt"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/subject"
)

const (
	burndownJobs = 300_000

	// burndownCPU is the maximum processor time of the worker per job, in microseconds.
	burndownCPU = 3
)

// burndownRatios are the minimum speeds of ours, as multiples of the fastest of the others.
var burndownRatios = []struct {
	family *family
	name   string
	least  float64
}{
	{&referenceFamily, "hand-written SQL", 0.85},
	{&nodeFamily, "graphile-worker's best", 2.1},
	{&riverFamily, "River's best", 4},
}

// burndownScenario runs jobs that do nothing.
func burndownScenario(ctx context.Context, b *bench) error {
	all := b.among(ours, reference1, reference2, nodeDefaults, nodeBest, nodeBest2, riverDefaults, riverBest)
	l := load{jobs: b.Scale(burndownJobs)}
	found, err := b.burnAll(ctx, all, l)
	if err != nil {
		return err
	}
	b.reportBurndown(all, found, l, "burn-down")
	for _, c := range all {
		b.bar("burn-down.svg", "Jobs that do nothing, jobs a second", bar{
			group: "PostgreSQL " + b.Version, name: c.name, value: found[c.name].speed.Median(),
			ours: c.family == ours.family,
		})
	}
	cpu := found[ours.name].cpu
	b.result("burn-down: client CPU a job", cpu.Number()+" µs", fmt.Sprintf("at most %d µs", burndownCPU),
		cpu.AtMost(burndownCPU))
	return nil
}

// asyncScenario runs the same jobs, but commits do not wait for the disk.
func asyncScenario(ctx context.Context, b *bench) error {
	all := b.among(ours, reference1, reference2, nodeBest, nodeBest2, riverBest)
	l := load{jobs: b.Scale(burndownJobs), async: true}
	found, err := b.burnAll(ctx, all, l)
	if err != nil {
		return err
	}
	b.reportBurndown(all, found, l, "burn-down, synchronous_commit off")
	return nil
}

// burnAll runs a load with all contenders, in turns.
func (b *bench) burnAll(ctx context.Context, all []contender, l load) (results, error) {
	found := results{}
	for round := range b.Rounds {
		for _, c := range harness.Turns(round, all) {
			one, err := b.burn(ctx, c, l)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(b.Progress, "round %d: %s: %.0f jobs/s, %.2f µs\n", round+1, c.name, one.speed, one.cpu)
			found.add(c.name, one)
		}
	}
	return found, nil
}

func (b *bench) reportBurndown(all []contender, found results, l load, title string) {
	t := report.Table{{"contender", "jobs", "jobs/s", "client CPU, µs a job", "gw / contender"}}
	speed := found[ours.name].speed
	for _, c := range all {
		f := found[c.name]
		t.Add(c.name, fmt.Sprint(c.jobs(l.jobs)), f.speed.Number(), f.cpu.Number(), speed.Over(f.speed).Ratio())
	}
	b.Note("Ready jobs that do nothing; from the first start of a handler until no row is left.")
	b.Table(t)
	for _, other := range burndownRatios {
		name, its := found.best(other.family, all)
		if its == nil {
			continue
		}
		ratio := speed.Over(its)
		b.result(fmt.Sprintf("%s: %s / %s (%s)", title, ours.name, other.name, name), ratio.Ratio(),
			fmt.Sprintf("at least %v", other.least), ratio.AtLeast(other.least))
	}
}

// sleepScenario runs jobs that sleep, a hundred at once.
func sleepScenario(ctx context.Context, b *bench) error {
	const jobs, millis, most = 10_000, 10, 1.1
	all := b.among(ours, nodeDefaults, nodeBest, riverDefaults, riverBest)
	for i := range all {
		all[i].concurrency, all[i].share = 100, 0
	}
	l := load{jobs: b.Scale(jobs), order: subject.Order{SleepMillis: millis}}
	found, err := b.burnAll(ctx, all, l)
	if err != nil {
		return err
	}
	b.Note("%d jobs that sleep for %d ms, a hundred at once; from the first start until no row is left. The minimum is %.2f s.",
		l.jobs, millis, float64(l.jobs*millis)/100/1000)
	t := report.Table{{"contender", "seconds"}}
	for _, c := range all {
		t.Add(c.name, found[c.name].seconds.Number())
	}
	b.Table(t)
	budget := most * float64(l.jobs) / jobs
	seconds := found[ours.name].seconds
	b.result(fmt.Sprintf("%d jobs of %d ms, 100 at once", l.jobs, millis), seconds.Number()+" s",
		fmt.Sprintf("at most %.3g s", budget),
		seconds.AtMost(budget))
	return nil
}
