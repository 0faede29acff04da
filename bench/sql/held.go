package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/stats"
)

const (
	heldJobs = 200_000

	// heldPatience ends a measurement that takes too long; its result then contains only the completed tenths.
	heldPatience = time.Minute
)

// heldScenario runs jobs while a transaction with a snapshot stays open, so that deleted rows cannot be removed.
func heldScenario(ctx context.Context, b *bench) error {
	t := report.Table{{"batch", "contender", "first tenth, jobs/s", "last tenth, jobs/s", "last / first", "at least",
		"holds",
		"jobs/s by tenth, medians"}}
	for _, n := range []int{10, 500} {
		all := b.contenders(ours)
		tenths := map[string][]stats.Series{} // by contender, then by tenth
		for round := range b.Rounds {
			for _, c := range harness.Turns(round, all) {
				speeds, err := b.measureHeld(ctx, c, n)
				if err != nil {
					return fmt.Errorf("%s, batch %d: %w", c.name, n, err)
				}
				if tenths[c.name] == nil {
					tenths[c.name] = make([]stats.Series, 10)
				}
				for i, speed := range speeds {
					tenths[c.name][i] = append(tenths[c.name][i], speed)
				}
			}
		}
		for _, c := range all {
			t.Add(heldRow(n, c.name, tenths[c.name])...)
		}
	}
	b.Note("%d ready plain jobs, claimed and completed over one connection, while another one holds a REPEATABLE READ "+
		"transaction that has read the table. A measurement ends after %s; - stands for tenths that it did not get to, and then "+
		"the last is the last that it has.", b.Scale(heldJobs), heldPatience)
	b.Table(t)
	return nil
}

func heldRow(n int, name string, tenths []stats.Series) []string {
	var medians []string
	last := tenths[0]
	for _, tenth := range tenths {
		medians = append(medians, stats.Number(tenth.Median()))
		if len(tenth) == len(tenths[0]) {
			last = tenth
		}
	}
	kept := last.Over(tenths[0])
	row := []string{fmt.Sprint(n), name, tenths[0].Number(), last.Number(), kept.Ratio(), "0.90", kept.AtLeast(0.9)}
	if name != ours.name {
		row[5], row[6] = "", ""
	}
	return append(row, strings.Join(medians, " "))
}

// measureHeld returns the jobs per second of each tenth of the jobs.
func (b *bench) measureHeld(ctx context.Context, c contender, n int) (speeds []float64, err error) {
	db, err := b.copyOf(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	tenth := b.Scale(heldJobs) / 10 / n
	if err := db.Settle(ctx, queue.Fill(n*(10*tenth+warmUp))); err != nil {
		return nil, err
	}
	s, err := db.session(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	if err := s.warmUp(ctx, n, nil); err != nil {
		return nil, err
	}
	// The session that prepares the database holds the snapshot.
	if err := db.Run(ctx, "begin isolation level repeatable read",
		"select count(*) from "+queue.JobsTable); err != nil {
		return nil, err
	}
	start := time.Now()
	for range 10 {
		began := time.Now()
		for range tenth {
			if _, _, err := s.work(ctx, n, nil); err != nil {
				return nil, err
			}
			if time.Since(start) > heldPatience {
				return speeds, nil
			}
		}
		speeds = append(speeds, float64(n*tenth)/time.Since(began).Seconds())
	}
	return speeds, nil
}
