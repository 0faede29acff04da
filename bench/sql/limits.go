package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/stats"
)

const (
	limitsPlain    = 20_000 // ready plain jobs in each table
	limitsSessions = 9      // sessions whose first claim is measured
)

// limitsBatches are the batch sizes of warm claims, with the number of measured calls of each.
var limitsBatches = []struct{ n, calls int }{{1, 200}, {100, 20}}

// A limitsState is a table with limited jobs besides the plain ones, and the maximum cost of a claim as a multiple of a
// claim from the plain table.
type limitsState struct {
	name   string
	budget float64
	make   []string
}

// limitsStates returns the states. The limited jobs come before the plain ones in order.
func limitsStates(size func(int) int) []limitsState {
	limited := queue.Tasks[1] // the plain jobs are those of the other one
	one := queue.SetLimit(limited, "max_running => 1")
	add := func(n int) string { return queue.Add(limited, "json_build_object('number', i)", -1, 1, size(n)) }
	keyed := queue.SetLimit(limited, "by => 'payload:number', max_running => 1")
	hold := func(n int) string {
		return fmt.Sprintf("select from %s.get_job_batch('holder', '{%s}', %d)", queue.Schema, limited, n)
	}
	return []limitsState{
		{name: "plain, measured twice", budget: 1.5},
		{name: "a limit without jobs", budget: 3, make: []string{one}},
		{name: "100 000 jobs of one full lane", budget: 3, make: []string{one, add(100_000), hold(1)}},
		{name: "10 000 full lanes with one waiting job each", budget: 3,
			make: []string{keyed, add(10_000), hold(size(10_000)), add(10_000)}},
		{name: "10 000 lanes with one ready job each, which are claimed", budget: 3, make: []string{keyed, add(10_000)}},
	}
}

// limitsScenario compares claims beside limited jobs, or of them, with claims from a table without limits.
func limitsScenario(ctx context.Context, b *bench) error {
	b.Note("Each table has %d ready plain jobs besides. A ratio is to the plain table's, measured just before it. Claims are followed, "+
		"outside what is measured, by completing their jobs. The first claim is that of a new session, the median of %d, after another "+
		"session has claimed. Autovacuum is off.", limitsPlain, limitsSessions)
	t := report.Table{{"state", "claim", "µs", "ratio", "at most", "holds"}}
	err := b.With(ctx, map[string]string{"autovacuum": "off"}, func() error {
		for _, s := range limitsStates(b.Scale) {
			base, found := &limitsCosts{}, &limitsCosts{}
			for range b.Rounds {
				if err := b.measureLimits(ctx, limitsState{}, base); err != nil {
					return fmt.Errorf("plain: %w", err)
				}
				if err := b.measureLimits(ctx, s, found); err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
			}
			row := func(claim string, its, plain stats.Series) {
				ratio := its.Over(plain)
				t.Add(s.name, claim, its.Number(), ratio.Ratio(), fmt.Sprint(s.budget), ratio.AtMost(s.budget))
			}
			row("first of a session, 1 job", found.first, base.first)
			for i, batch := range limitsBatches {
				row(fmt.Sprintf("warm, %d", batch.n), found.warm[i], base.warm[i])
			}
			fmt.Fprintf(b.Progress, "%s\n", s.name)
		}
		return nil
	})
	b.Table(t)
	return err
}

// limitsCosts are times of claims in microseconds, round by round, the warm ones by batch.
type limitsCosts struct {
	first stats.Series
	warm  [2]stats.Series
}

func (b *bench) measureLimits(ctx context.Context, s limitsState, costs *limitsCosts) (err error) {
	db, err := b.copyOf(ctx, ours)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	if err := db.Settle(ctx, slices.Concat(s.make, []string{queue.Fill(limitsPlain)})...); err != nil {
		return err
	}
	warm, err := db.session(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, warm.close(ctx)) }()
	if err := warm.warmUp(ctx, 1, nil); err != nil {
		return err
	}
	var firsts stats.Series
	for range limitsSessions {
		took, err := db.firstClaim(ctx)
		if err != nil {
			return err
		}
		firsts = append(firsts, micros(took))
	}
	costs.first = append(costs.first, firsts.Median())
	for i, batch := range limitsBatches {
		if err := warm.warmUp(ctx, batch.n, nil); err != nil {
			return err
		}
		claims, _, err := warm.times(ctx, batch.n, b.Scale(batch.calls))
		if err != nil {
			return err
		}
		costs.warm[i] = append(costs.warm[i], claims.Median())
	}
	return nil
}

// firstClaim returns how long a new session claims its first job, which it completes.
func (db *database) firstClaim(ctx context.Context) (took time.Duration, err error) {
	s, err := db.session(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	took, _, err = s.work(ctx, 1, nil)
	return took, err
}
