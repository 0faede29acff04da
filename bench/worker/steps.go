package main

import (
	"context"
	"fmt"

	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/subject"
)

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
