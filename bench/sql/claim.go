package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/stats"
)

// claimJobs is the number of ready jobs in the table at the start of a measurement.
const claimJobs = 200_000

// claimBatches are the batch sizes, with the number of measured calls of each.
var claimBatches = []struct{ n, calls int }{{1, 5000}, {10, 2000}, {100, 500}, {500, 200}}

// claimScenario runs plain jobs in two round trips per batch, over one connection.
func claimScenario(ctx context.Context, b *bench) error {
	all := b.contenders(ours, byHand)
	times := report.Table{{"batch", "contender", "claim µs", "complete µs", "jobs/s"}}
	ratios := report.Table{{"batch", "ours / reference", "at least", "holds", "ours / Node",
		"claim time, ours / reference",
		"complete time, ours / reference"}}
	for _, batch := range claimBatches {
		claim, complete, speed := map[string]stats.Series{}, map[string]stats.Series{}, map[string]stats.Series{}
		for round := range b.Rounds {
			for _, c := range harness.Turns(round, all) {
				m, err := b.measureClaims(ctx, c, batch.n, b.Scale(batch.calls))
				if err != nil {
					return fmt.Errorf("%s, batch %d: %w", c.name, batch.n, err)
				}
				claim[c.name] = append(claim[c.name], m.claim)
				complete[c.name] = append(complete[c.name], m.complete)
				speed[c.name] = append(speed[c.name], m.speed)
			}
		}
		for _, c := range all {
			times.Add(fmt.Sprint(batch.n), c.name, claim[c.name].Number(), complete[c.name].Number(),
				speed[c.name].Number())
		}
		least := 0.85
		if batch.n == 1 {
			least = 0.8
		}
		toReference, toNode := speed["ours"].Over(speed["reference"]), speed["ours"].Over(speed["Node"])
		ratios.Add(fmt.Sprint(batch.n), toReference.Ratio(), fmt.Sprint(least), toReference.AtLeast(least),
			toNode.Ratio(),
			claim["ours"].Over(claim["reference"]).Ratio(), complete["ours"].Over(complete["reference"]).Ratio())
	}
	b.Note("%d ready plain jobs, vacuumed and analysed; claim, then complete, by prepared statements over one connection; every "+
		"row read in full. Times are the median of a round's calls; jobs/s count all of them, slow ones too.",
		b.Scale(claimJobs))
	b.Table(times)
	b.Note("Speed (jobs/s) and time as ratios:")
	b.Table(ratios)
	return nil
}

// claimResult is the microseconds per call and the jobs per second.
type claimResult struct{ claim, complete, speed float64 }

func (b *bench) measureClaims(ctx context.Context, c contender, n, calls int) (m claimResult, err error) {
	db, err := b.copyOf(ctx, c)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	if err := db.Settle(ctx, queue.Fill(max(b.Scale(claimJobs), n*(calls+warmUp)))); err != nil {
		return m, err
	}
	s, err := db.session(ctx)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	if err := s.warmUp(ctx, n, nil); err != nil {
		return m, err
	}
	claims, completes, err := s.times(ctx, n, calls)
	if err != nil {
		return m, err
	}
	seconds := (claims.Sum() + completes.Sum()) / 1e6
	return claimResult{claims.Median(), completes.Median(), float64(n*calls) / seconds}, nil
}

// warmUp is the number of claims before the measurement: plans are cached after five calls.
const warmUp = 10

func (s *session) warmUp(ctx context.Context, n int, forbidden []string) error {
	for range warmUp {
		if _, _, err := s.work(ctx, n, forbidden); err != nil {
			return err
		}
	}
	return nil
}

// work claims and completes n jobs, all of which must exist, and returns the duration of each call.
func (s *session) work(ctx context.Context, n int, forbidden []string) (claimed, completed time.Duration, err error) {
	start := time.Now()
	jobs, err := s.claim(ctx, n, forbidden)
	claimed = time.Since(start)
	if err != nil {
		return 0, 0, err
	}
	if len(jobs) != n {
		return 0, 0, fmt.Errorf("claim jobs: %d of %d were there", len(jobs), n)
	}
	start = time.Now()
	err = s.complete(ctx, jobs)
	return claimed, time.Since(start), err
}

// times runs n jobs repeatedly and returns the durations of the calls in microseconds.
func (s *session) times(ctx context.Context, n, calls int) (claims, completes stats.Series, err error) {
	for range calls {
		var claimed, completed time.Duration
		if claimed, completed, err = s.work(ctx, n, nil); err != nil {
			return nil, nil, err
		}
		claims, completes = append(claims, micros(claimed)), append(completes, micros(completed))
	}
	return claims, completes, nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
