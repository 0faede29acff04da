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

// uglyPlain is the number of ready plain jobs in each table.
const uglyPlain = 20_000

// uglyBatches are the batch sizes, with the number of measured calls of each in a round.
var uglyBatches = []struct{ n, calls int }{{1, 200}, {100, 20}}

const (
	// uglyPatience is the total time of claims after which a measurement ends early, but not before uglyCalls claims.
	uglyPatience = 3 * time.Second
	uglyCalls    = 3
)

// uglyScenario compares a claim from tables in unfavourable states with a claim from a plain table, warm and without
// concurrency.
func uglyScenario(ctx context.Context, b *bench) error {
	b.Note("Each table has %d ready plain jobs besides. A state's ratio is to the plain table's, measured just before it by the "+
		"same contender with the same batch. Time and WAL bytes are medians of the claims of a round, each followed, "+
		"outside what is measured, by completing its jobs. Before each round the table is restored and vacuumed; "+
		"autovacuum is off.", uglyPlain)
	t := report.Table{{"state", "batch", "ours µs", "ratio", "at most", "holds", "WAL B", "ratio", "holds", "Node µs",
		"ratio", "WAL B", "ratio"}}
	err := b.With(ctx, map[string]string{"autovacuum": "off"}, func() error {
		for _, s := range uglyStates(b.Scale) {
			if err := b.measureState(ctx, s, &t); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			fmt.Fprintf(b.Progress, "%s\n", s.name)
		}
		return nil
	})
	b.Table(t)
	return err
}

// A cost is the cost of a claim, round by round.
type cost struct{ time, wal stats.Series }

func (c *cost) add(time, wal float64) {
	c.time, c.wal = append(c.time, time), append(c.wal, wal)
}

// measureState measures a state and its base with every contender and adds the rows to the table.
func (b *bench) measureState(ctx context.Context, s state, t *report.Table) (err error) {
	type place struct {
		contender  contender
		base, ugly *uglyTable
	}
	var places []place
	for _, c := range b.contenders(ours) {
		p := place{contender: c}
		for _, made := range []struct {
			state state
			table **uglyTable
		}{{state{}, &p.base}, {s, &p.ugly}} {
			table, makeErr := b.makeUgly(ctx, c, made.state)
			if table != nil {
				defer func() { err = errors.Join(err, table.Drop(context.WithoutCancel(ctx))) }()
			}
			if makeErr != nil {
				return fmt.Errorf("%s: %w", c.name, makeErr)
			}
			*made.table = table
		}
		places = append(places, p)
	}
	for _, batch := range uglyBatches {
		calls := max(b.Scale(batch.calls), uglyCalls)
		base, ugly := map[string]*cost{}, map[string]*cost{}
		for _, p := range places {
			base[p.contender.name], ugly[p.contender.name] = &cost{}, &cost{}
		}
		for round := range b.Rounds {
			for _, p := range harness.Turns(round, places) {
				name := p.contender.name
				if name == b.node.name && s.forbidden != nil && batch.n > 1 {
					continue // errOneByOne
				}
				if err := p.base.measure(ctx, batch.n, calls, base[name]); err != nil {
					return fmt.Errorf("%s, plain: %w", name, err)
				}
				if err := p.ugly.measure(ctx, batch.n, calls, ugly[name]); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		our, ourBase := ugly[ours.name], base[ours.name]
		time, wal := our.time.Over(ourBase.time), our.wal.Over(ourBase.wal)
		cells := []string{s.name, fmt.Sprint(batch.n), our.time.Number(), time.Ratio(), fmt.Sprint(s.budget),
			time.AtMost(s.budget),
			our.wal.Number(), wal.Ratio(), wal.AtMost(s.budget), "-", "-", "-", "-"}
		if node := ugly[b.node.name]; node != nil {
			nodeBase := base[b.node.name]
			copy(cells[9:], []string{node.time.Number(), node.time.Over(nodeBase.time).Ratio(), node.wal.Number(),
				node.wal.Over(nodeBase.wal).Ratio()})
		}
		t.Add(cells...)
	}
	return nil
}

// An uglyTable is a database in a state.
type uglyTable struct {
	*database
	state state
}

// makeUgly creates a database in the state. The caller has to drop the database even if makeUgly also returns an error.
func (b *bench) makeUgly(ctx context.Context, c contender, s state) (_ *uglyTable, err error) {
	db, err := b.copyOf(ctx, c)
	if err != nil {
		return nil, err
	}
	table := &uglyTable{database: db, state: s}
	if err := db.Run(ctx, s.make...); err != nil {
		return table, err
	}
	if !s.claimed {
		return table, nil
	}
	holder, err := db.session(ctx)
	if err != nil {
		return table, err
	}
	defer func() { err = errors.Join(err, holder.close(ctx)) }()
	if jobs, err := holder.claim(ctx, 1, nil); err != nil || len(jobs) != 1 {
		return table, fmt.Errorf("claim the job that stays claimed: %d jobs: %w", len(jobs), err)
	}
	return table, nil
}

// restore replaces the jobs that have run.
func (t *uglyTable) restore(ctx context.Context) error {
	var plain int
	err := t.Admin.QueryRow(ctx, "select count(*) from "+queue.JobsTable+" as j join "+queue.TasksTable+" as t on t.id = j.task_id "+
		"where t.identifier = $1 and j.is_available and j.job_queue_id is null and j.priority = 0",
		queue.Task).Scan(&plain)
	if err != nil {
		return fmt.Errorf("count plain jobs: %w", err)
	}
	if plain < uglyPlain {
		if err := t.Run(ctx, queue.Fill(uglyPlain-plain)); err != nil {
			return err
		}
	}
	if t.state.restore != "" {
		if err := t.Run(ctx, t.state.restore); err != nil {
			return err
		}
	}
	if t.state.unvacuumed {
		return t.Tidy(ctx, "analyze")
	}
	return t.Tidy(ctx, "vacuum (analyze)")
}

// measure adds the cost of a claim of n jobs in one round.
func (t *uglyTable) measure(ctx context.Context, n, calls int, c *cost) (err error) {
	if err := t.restore(ctx); err != nil {
		return err
	}
	s, err := t.session(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	if err := s.warmUp(ctx, n, t.state.forbidden); err != nil {
		return err
	}
	var times, wal stats.Series
	var total time.Duration
	for i := 0; i < calls && (i < uglyCalls || total < uglyPatience); i++ {
		before, err := t.WALPosition(ctx)
		if err != nil {
			return err
		}
		start := time.Now()
		jobs, err := s.claim(ctx, n, t.state.forbidden)
		elapsed := time.Since(start)
		if err != nil {
			return err
		}
		after, err := t.WALPosition(ctx)
		if err != nil {
			return err
		}
		if err := t.check(jobs, n); err != nil {
			return err
		}
		if err := s.complete(ctx, jobs); err != nil {
			return err
		}
		total += elapsed
		times, wal = append(times, micros(elapsed)), append(wal, float64(after-before))
	}
	c.add(times.Median(), wal.Median())
	return nil
}

// check returns an error unless a claim has returned the kind of jobs that the state intends.
func (t *uglyTable) check(jobs []queue.Job, n int) error {
	if len(jobs) != n {
		return fmt.Errorf("claim jobs: %d of %d were there", len(jobs), n)
	}
	for _, j := range jobs {
		if queued := j.QueueID != nil || j.QueueName != nil; queued != t.state.queued {
			return fmt.Errorf("claim jobs: job %d has the wrong kind, in a queue: %t", j.ID, queued)
		}
	}
	return nil
}
