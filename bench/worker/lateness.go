package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/bench/internal/stats"
	"github.com/gwsql/gw/bench/internal/subject"
)

const latenessJobs = 1000

// latenessScenario measures how long after its run_at a scheduled job begins, if nothing else wakes the worker.
func latenessScenario(ctx context.Context, b *bench) error {
	const median, p99 = 2, 20
	all := b.among(ours, nodeDefaults, riverDefaults, riverBest)
	type lateness struct{ p50, p99, longest stats.Series }
	found := map[string]*lateness{}
	for round := range b.Rounds {
		for _, c := range harness.Turns(round, all) {
			times, err := b.measureLateness(ctx, c, b.Scale(latenessJobs))
			if err != nil {
				return err
			}
			fmt.Fprintf(b.Progress, "round %d: %s: p50 %.2f ms\n", round+1, c.name, times.Median())
			l := found[c.name]
			if l == nil {
				l = &lateness{}
				found[c.name] = l
			}
			l.p50 = append(l.p50, times.Median())
			l.p99 = append(l.p99, times.Quantile(0.99))
			l.longest = append(l.longest, times.Quantile(1))
		}
	}
	b.Note("%d jobs, one due every %v, the first %v after they were added. They are added without a notification, before the "+
		"worker starts. Time from the job's run_at to the start of its handler.", b.Scale(latenessJobs), spacing,
		leadTime)
	t := report.Table{{"contender", "p50, ms", "p99, ms", "max, ms"}}
	for _, c := range all {
		t.Add(c.name, found[c.name].p50.Number(), found[c.name].p99.Number(), found[c.name].longest.Number())
	}
	b.Table(t)
	mine := found[ours.name]
	b.result("lateness of scheduled jobs, median", mine.p50.Number()+" ms", fmt.Sprintf("at most %d ms", median),
		mine.p50.AtMost(median))
	b.result("lateness of scheduled jobs, p99", mine.p99.Number()+" ms", fmt.Sprintf("at most %d ms", p99),
		mine.p99.AtMost(p99))
	return nil
}

// measureLateness returns milliseconds.
func (b *bench) measureLateness(ctx context.Context, c contender, n int) (times stats.Series, err error) {
	var due map[int64]int64
	order := subject.Order{Do: subject.Work, Jobs: n, TellStarts: true}
	err = b.employ(ctx, c, order, func(db *server.Database) error {
		if err := db.Settle(ctx, c.family.tables.schedule(n)); err != nil {
			return err
		}
		due, err = dueTimes(ctx, db, c.family.tables.due)
		return err
	}, func(k *crew) error {
		for range n {
			start, err := k.processes[0].start(ctx)
			if err != nil {
				return err
			}
			// The wall clock runs at the same rate as the monotonic clock, but it may be set.
			sinceStart := subject.Now() - start.At
			at := time.Now().UnixNano() - sinceStart
			times = append(times, float64(at-1000*due[start.ID])/1e6)
		}
		if _, err := k.gone(ctx); err != nil {
			return err
		}
		counts, err := k.stop(ctx)
		if err != nil {
			return err
		}
		if early := times.Quantile(0); early < 0 {
			return fmt.Errorf("a job began %.3f ms before its time", -early)
		}
		return checkCounts(counts, 1)
	})
	return times, err
}

// dueTimes returns the time at which each job is due, in microseconds since 1970.
func dueTimes(ctx context.Context, db *server.Database, query string) (map[int64]int64, error) {
	rows, err := db.Admin.Query(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("ask when jobs are due: %w", err)
	}
	due := map[int64]int64{}
	var id, at int64
	_, err = pgx.ForEachRow(rows, []any{&id, &at}, func() error {
		due[id] = at
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("ask when jobs are due: %w", err)
	}
	return due, nil
}
