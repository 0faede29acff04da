package main

import (
	"context"
	"fmt"

	"github.com/gwsql/gw/bench/internal/report"
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
