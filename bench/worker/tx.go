package main

import (
	"context"
	"fmt"

	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/subject"
)

const (
	// txBudget is the minimum speed of handlers that are given the transaction and do nothing, as a multiple of that of
	// others.
	txBudget = 1.8
	// writeJobs is the number of jobs that each write a row.
	writeJobs = 20_000
)

// txScenario runs jobs whose handlers are given the transaction that completes them, and jobs whose handlers are not: once
// they do nothing, once they write a row in the transaction that completes the job. It compares ours with itself.
func txScenario(ctx context.Context, b *bench) error {
	empty, write := b.Scale(burndownJobs), b.Scale(writeJobs)
	table := func(n int) []string { return []string{"create table written (id bigint)", ours.family.tables.fill(n)} }
	pairs := [][2]namedLoad{
		{{"Handle, does nothing", load{jobs: empty}},
			{"HandleTx, does nothing", load{jobs: empty, order: subject.Order{GivenTx: true}}}},
		{{"Handle and CompleteTx, writes a row", load{jobs: write, fill: table, order: subject.Order{Writes: true}}},
			{"HandleTx, writes a row", load{jobs: write, fill: table, order: subject.Order{Writes: true, GivenTx: true}}}},
	}
	found, err := b.burnOurs(ctx, append(pairs[0][:], pairs[1][:]...))
	if err != nil {
		return err
	}
	t := report.Table{{"handler", "jobs", "jobs/s", "client CPU, µs a job", "to the one above"}}
	for i, p := range pairs {
		above, given := found[p[0].name], found[p[1].name]
		ratio := given.speed.Over(above.speed)
		t.Add(p[0].name, fmt.Sprint(p[0].jobs), above.speed.Number(), above.cpu.Number(), "")
		t.Add(p[1].name, fmt.Sprint(p[1].jobs), given.speed.Number(), given.cpu.Number(), ratio.Ratio())
		if i == 0 {
			b.result("burn-down: HandleTx / Handle", ratio.Ratio(), fmt.Sprintf("at least %v", txBudget), ratio.AtLeast(txBudget))
		}
	}
	b.Note("Ready jobs of one task, from the first start of a handler until no row is left.")
	b.Table(t)
	return nil
}
