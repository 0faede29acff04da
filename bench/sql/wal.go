package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/stats"
)

// walBatches are the batch sizes, with the number of measured calls of each.
var walBatches = []struct{ n, calls int }{{1, 2000}, {500, 20}}

// A footprint is the WAL of a job, by step, round by round.
type footprint struct{ enqueue, claim, complete stats.Series }

func (f *footprint) add(enqueue, claim, complete float64) {
	f.enqueue, f.claim, f.complete = append(f.enqueue, enqueue), append(f.claim, claim), append(f.complete, complete)
}

// walScenario measures the WAL of a plain job.
func walScenario(ctx context.Context, b *bench) error {
	all := b.contenders(ours, byHand)
	t := report.Table{{"batch", "step", "ours, B a job", "reference, B a job", "ours / reference", "Node, B a job",
		"ours / Node"}}
	err := b.With(ctx, map[string]string{"autovacuum": "off"}, func() error {
		for _, batch := range walBatches {
			results := map[string]*footprint{}
			for _, c := range append(all, b.node) {
				results[c.name] = &footprint{}
			}
			for round := range b.Rounds {
				for _, c := range harness.Turns(round, all) {
					if err := b.measureWAL(ctx, c, batch.n, b.Scale(batch.calls), results[c.name]); err != nil {
						return fmt.Errorf("%s, batch %d: %w", c.name, batch.n, err)
					}
				}
			}
			our, reference, node := results[ours.name], results[byHand.name], results[b.node.name]
			for _, step := range []struct {
				name                  string
				ours, reference, node stats.Series
			}{
				{"enqueue", our.enqueue, reference.enqueue, node.enqueue},
				{"claim", our.claim, reference.claim, node.claim},
				{"complete", our.complete, reference.complete, node.complete},
			} {
				t.Add(fmt.Sprint(batch.n), step.name, step.ours.Number(), step.reference.Number(),
					step.ours.Over(step.reference).Ratio(),
					step.node.Number(), step.ours.Over(step.node).Ratio())
			}
		}
		return nil
	})
	b.Note("Plain jobs, by add_job or add_jobs, for the reference by INSERT; the growth of the WAL during the calls, divided by "+
		"the jobs, commits included. Full page images and autovacuum are off; %d jobs have gone through the tables before.", walBefore)
	b.Table(t)
	return err
}

// walBefore is the number of jobs that run before the measurement, so that the tables and indexes have their pages.
const walBefore = 5000

func (b *bench) measureWAL(ctx context.Context, c contender, n, calls int, f *footprint) (err error) {
	db, err := b.copyOf(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	s, err := db.session(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	if err := db.Run(ctx, c.enqueue(walBefore, "null")); err != nil {
		return err
	}
	for range walBefore / 500 {
		if _, _, err := s.work(ctx, 500, nil); err != nil {
			return err
		}
	}
	if err := db.Settle(ctx); err != nil {
		return err
	}

	enqueued, err := db.walOf(ctx, func() error {
		for range calls {
			if err := db.Run(ctx, c.enqueue(n, "null")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var claimed, completed float64
	for range calls {
		var jobs []queue.Job
		wal, err := db.walOf(ctx, func() (err error) {
			jobs, err = s.claim(ctx, n, nil)
			return err
		})
		if err != nil {
			return err
		}
		claimed += wal
		if wal, err = db.walOf(ctx, func() error { return s.complete(ctx, jobs) }); err != nil {
			return err
		}
		completed += wal
	}
	total := float64(n * calls)
	f.add(enqueued/total, claimed/total, completed/total)
	return nil
}

// walOf returns the number of bytes by which the WAL grows while do runs.
func (db *database) walOf(ctx context.Context, do func() error) (float64, error) {
	before, err := db.WALPosition(ctx)
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := db.WALPosition(ctx)
	return float64(after - before), err
}
