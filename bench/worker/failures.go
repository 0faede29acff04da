package main

import (
	"context"
	"fmt"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/bench/internal/stats"
	"github.com/gwsql/gw/bench/internal/subject"
)

const failuresJobs = 20_000

// failuresScenario runs jobs that fail once.
func failuresScenario(ctx context.Context, b *bench) error {
	all := b.among(ours, nodeDefaults, nodeBest, riverBest)
	failed, whole := map[string]stats.Series{}, map[string]stats.Series{}
	for round := range b.Rounds {
		for _, c := range harness.Turns(round, all) {
			one, err := b.measureFailures(ctx, c)
			if err != nil {
				return err
			}
			fmt.Fprintf(b.Progress, "round %d: %s: %.0f failures/s\n", round+1, c.name, one.speed)
			failed[c.name] = append(failed[c.name], one.speed)
			whole[c.name] = append(whole[c.name], one.seconds)
		}
	}
	b.Note("%d ready jobs whose first attempts fail: failures a second until each job has failed, and the time until each has "+
		"succeeded, including the delay of the second attempt, which is 2.7 s for gw and graphile-worker, and 1 s for River.",
		b.Scale(failuresJobs))
	t := report.Table{{"contender", "failures/s", "gw / contender", "all done after, s"}}
	for _, c := range all {
		t.Add(c.name, failed[c.name].Number(), failed[ours.name].Over(failed[c.name]).Ratio(), whole[c.name].Number())
	}
	b.Table(t)
	return nil
}

func (b *bench) measureFailures(ctx context.Context, c contender) (r burned, err error) {
	n := b.Scale(failuresJobs)
	order := subject.Order{Do: subject.Work, Jobs: n, Failures: 1}
	tables := c.family.tables
	err = b.employ(ctx, c, order, func(db *server.Database) error {
		return db.Settle(ctx, tables.fill(n))
	}, func(k *crew) error {
		s, err := k.reach(ctx, n, nil)
		if err != nil {
			return err
		}
		end, err := k.settled(ctx, tables.failed, tables.allFailed)
		if err != nil {
			return err
		}
		r.speed = float64(n) / (float64(end-s.First) / 1e9)
		if _, err := k.reach(ctx, 2*n, nil); err != nil {
			return err
		}
		if end, err = k.gone(ctx); err != nil {
			return err
		}
		r.seconds = float64(end-s.First) / 1e9
		counts, err := k.stop(ctx)
		if err != nil {
			return err
		}
		return checkCounts(counts, 2)
	})
	return r, err
}
