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

const (
	burstJobs   = 300_000
	burstInsert = 1000 // at once
	burstClaim  = 10
	burstNext   = 20 // claims after the first
)

// burstScenario measures claims with a plan that was cached while the queue was empty.
func burstScenario(ctx context.Context, b *bench) error {
	all := b.contenders(ours, byHand)
	results := map[string]*burst{}
	for _, c := range all {
		results[c.name] = &burst{}
	}
	err := b.With(ctx, map[string]string{"autovacuum": "off"}, func() error {
		for round := range b.Rounds {
			for _, c := range harness.Turns(round, all) {
				if err := b.measureBurst(ctx, c, results[c.name]); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.Note("A session claims from the empty, vacuumed, never analysed table until its plans are cached. Another one adds %d jobs. "+
		"Then the first session claims %d at a time, and completes them: the first time, and the median of the next %d. "+
		"Autovacuum is off.", b.Scale(burstJobs), burstClaim, burstNext)
	t := report.Table{{"contender", "first claim, µs", "first complete, µs", "next claims, µs", "next completes, µs"}}
	for _, c := range all {
		r := results[c.name]
		t.Add(c.name, r.claim.Number(), r.complete.Number(), r.nextClaims.Number(), r.nextCompletes.Number())
	}
	b.Table(t)
	return nil
}

// burst is the durations of one contender's calls in microseconds, round by round.
type burst struct{ claim, complete, nextClaims, nextCompletes stats.Series }

func (b *bench) measureBurst(ctx context.Context, c contender, r *burst) (err error) {
	db, err := b.copyOf(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	if err := db.Tidy(ctx, "vacuum"); err != nil {
		return err
	}
	s, err := db.session(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	absent := make([]queue.Job, burstClaim)
	for i := range absent {
		absent[i].ID = -int64(i + 1)
	}
	for range 2 * warmUp {
		if _, err := s.claim(ctx, burstClaim, nil); err != nil {
			return err
		}
		if err := s.complete(ctx, absent); err != nil && !errors.Is(err, queue.ErrMissed) {
			return err
		}
	}
	for range b.Scale(burstJobs) / burstInsert {
		if err := db.Run(ctx, c.enqueue(burstInsert, "null")); err != nil {
			return err
		}
	}
	claimed, completed, err := s.work(ctx, burstClaim, nil)
	if err != nil {
		return err
	}
	r.claim, r.complete = append(r.claim, micros(claimed)), append(r.complete, micros(completed))
	claims, completes, err := s.times(ctx, burstClaim, burstNext)
	r.nextClaims, r.nextCompletes = append(r.nextClaims, claims.Median()), append(r.nextCompletes, completes.Median())
	return err
}
