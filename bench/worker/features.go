package main

import (
	"context"
	"fmt"

	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/subject"
)

// keptBudget is the minimum speed of jobs whose task is kept, as a multiple of that of jobs of which nothing is kept.
const keptBudget = 0.75

// keptScenario runs jobs that do nothing, of a task that is kept and of one that is not. It compares ours with itself.
func keptScenario(ctx context.Context, b *bench) error {
	const none, kept = "nothing is kept", "the task is kept"
	jobs := b.Scale(burndownJobs)
	found, err := b.burnOurs(ctx, []namedLoad{{none, load{jobs: jobs}}, {kept, load{jobs: jobs, kept: true}}})
	if err != nil {
		return err
	}
	ratio := found[kept].speed.Over(found[none].speed)
	t := report.Table{{"case", "jobs", "jobs/s", "to nothing kept"}}
	t.Add(none, fmt.Sprint(jobs), found[none].speed.Number(), "")
	t.Add(kept, fmt.Sprint(jobs), found[kept].speed.Number(), ratio.Ratio())
	b.result("burn-down: a kept task / nothing kept", ratio.Ratio(), fmt.Sprintf("at least %v", keptBudget),
		ratio.AtLeast(keptBudget))
	b.Note("Ready jobs of one task, from the first start of a handler until no row is left; without payloads and results.")
	b.Table(t)
	return nil
}

const stepsJobs = 20_000

// stepsScenario runs jobs of steps that do nothing but are saved. It compares ours with itself.
func stepsScenario(ctx context.Context, b *bench) error {
	jobs := b.Scale(stepsJobs)
	all := []namedLoad{
		{"no steps", load{jobs: jobs}},
		{"one step", load{jobs: jobs, order: subject.Order{Steps: 1}}},
		{"five steps", load{jobs: jobs, order: subject.Order{Steps: 5}}},
		{"five steps in one transaction", load{jobs: jobs, order: subject.Order{Steps: 5, InTx: true}}},
	}
	none := all[0]
	found, err := b.burnOurs(ctx, all)
	if err != nil {
		return err
	}
	b.Note("Ready jobs of one task, from the first start of a handler until no row is left. The steps do nothing; each is " +
		"saved by a statement, and before the first one the worker reads which are saved.")
	t := report.Table{{"jobs", "number", "jobs/s", "steps/s", "time to that of no steps"}}
	for _, c := range all {
		f := found[c.name]
		t.Add(c.name, fmt.Sprint(jobs), f.speed.Number(), fmt.Sprintf("%.0f", f.speed.Median()*float64(c.order.Steps)),
			found[none.name].speed.Over(f.speed).Ratio())
	}
	b.Table(t)
	return nil
}

const (
	// txBudget is the minimum speed of handlers that are given the transaction and do not use it, as a multiple of that
	// of others.
	txBudget = 0.9
	// manyBudget is the minimum speed of handlers that are given the transaction for up to manyJobs jobs, which each
	// write a row, as a multiple of that of handlers that are given one for each job.
	manyBudget = 5
	manyJobs   = 100
	// writeJobs is the number of jobs that each write a row.
	writeJobs = 20_000
)

// txScenario runs jobs whose handlers are given the transaction that completes them, and jobs whose handlers are not:
// once they do nothing, once each job writes a row in the transaction that completes it. It compares ours with itself.
func txScenario(ctx context.Context, b *bench) error {
	empty, write := b.Scale(burndownJobs), b.Scale(writeJobs)
	table := func(n int) []string { return []string{"create table written (id bigint)", ours.family.tables.fill(n)} }
	writes := func(order subject.Order) load {
		order.Writes = true
		return load{jobs: write, fill: table, order: order}
	}
	all := []namedLoad{
		{"Handle, does nothing", load{jobs: empty}},
		{"HandleTx, does nothing", load{jobs: empty, order: subject.Order{GivenTx: true}}},
		{"Handle and CompleteTx, writes a row", writes(subject.Order{})},
		{"HandleTx, writes a row", writes(subject.Order{GivenTx: true})},
		{fmt.Sprintf("HandleManyTx of %d, writes a row a job", manyJobs),
			writes(subject.Order{GivenTx: true, Most: manyJobs})},
	}
	found, err := b.burnOurs(ctx, all)
	if err != nil {
		return err
	}
	t := report.Table{{"handler", "jobs", "jobs/s", "client CPU, µs a job", "to the one above"}}
	for i, l := range all {
		ratio := ""
		if i != 0 && i != 2 {
			ratio = found[l.name].speed.Over(found[all[i-1].name].speed).Ratio()
		}
		t.Add(l.name, fmt.Sprint(l.jobs), found[l.name].speed.Number(), found[l.name].cpu.Number(), ratio)
	}
	given := found[all[1].name].speed.Over(found[all[0].name].speed)
	b.result("burn-down: HandleTx / Handle", given.Ratio(), fmt.Sprintf("at least %v", txBudget),
		given.AtLeast(txBudget))
	many := found[all[4].name].speed.Over(found[all[3].name].speed)
	b.result("burn-down: HandleManyTx / HandleTx, a row a job", many.Ratio(), fmt.Sprintf("at least %v", manyBudget),
		many.AtLeast(manyBudget))
	b.Note("Ready jobs of one task, from the first start of a handler until no row is left.")
	b.Table(t)
	return nil
}
