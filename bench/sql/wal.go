package main

import (
	"context"
	"errors"
	"fmt"
)

// walBatches are the batch sizes, with the calls that are measured of each.
var walBatches = []struct{ n, calls int }{{1, 2000}, {500, 20}}

// A footprint is what a job costs, by step, round by round.
type footprint struct{ enqueue, claim, complete series }

func (f *footprint) add(enqueue, claim, complete float64) {
	f.enqueue, f.claim, f.complete = append(f.enqueue, enqueue), append(f.claim, claim), append(f.complete, complete)
}

// walScenario counts the WAL that a plain job costs.
func walScenario(ctx context.Context, b *bench) error {
	all := b.contenders(ours, reference)
	t := table{{"batch", "step", "ours, B a job", "reference, B a job", "ours / reference", "Node, B a job", "ours / Node"}}
	err := b.with(ctx, map[string]string{"autovacuum": "off"}, func() error {
		for _, batch := range walBatches {
			results := map[string]*footprint{}
			for _, c := range append(all, b.node) {
				results[c.name] = &footprint{}
			}
			for round := range b.rounds {
				for _, c := range turns(round, all) {
					if err := b.measureWAL(ctx, c, batch.n, b.scale(batch.calls), results[c.name]); err != nil {
						return fmt.Errorf("%s, batch %d: %w", c.name, batch.n, err)
					}
				}
			}
			our, byHand, node := results[ours.name], results[reference.name], results[b.node.name]
			for _, step := range []struct {
				name               string
				ours, byHand, node series
			}{
				{"enqueue", our.enqueue, byHand.enqueue, node.enqueue},
				{"claim", our.claim, byHand.claim, node.claim},
				{"complete", our.complete, byHand.complete, node.complete},
			} {
				t.add(fmt.Sprint(batch.n), step.name, step.ours.number(), step.byHand.number(), step.ours.over(step.byHand).ratio(),
					step.node.number(), step.ours.over(step.node).ratio())
			}
		}
		return nil
	})
	b.note("Plain jobs, by add_job or add_jobs, for the reference by INSERT; the growth of the WAL during the calls, divided by "+
		"the jobs, commits included. Full page images and autovacuum are off; %d jobs have gone through the tables before.", walBefore)
	b.table(t)
	return err
}

// walBefore is how many jobs are worked before anything is measured, so that the tables and indexes have their pages.
const walBefore = 5000

func (b *bench) measureWAL(ctx context.Context, c contender, n, calls int, f *footprint) (err error) {
	db, err := b.copyOf(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.drop(context.WithoutCancel(ctx))) }()
	s, err := db.session(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	if err := db.run(ctx, c.enqueue(walBefore, "null")); err != nil {
		return err
	}
	for range walBefore / 500 {
		if _, _, err := s.work(ctx, 500, nil); err != nil {
			return err
		}
	}
	if err := db.settle(ctx); err != nil {
		return err
	}

	enqueued, err := db.walOf(ctx, func() error {
		for range calls {
			if err := db.run(ctx, c.enqueue(n, "null")); err != nil {
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
		var jobs []job
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

// walOf returns how many bytes the WAL grows while do runs.
func (db *database) walOf(ctx context.Context, do func() error) (float64, error) {
	before, err := db.walPosition(ctx)
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := db.walPosition(ctx)
	return float64(after - before), err
}
