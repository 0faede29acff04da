package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/bench/internal/subject"
)

const (
	shardsJobs       = 200_000
	shardsSleepJobs  = 20_000
	shardsMillis     = 5
	shardsBudget     = 0.9 // jobs per second of several shards on one server, as a multiple of those without shards
	shardsPerProcess = 4
)

// A shardsCase is a number of shards in one process.
type shardsCase struct {
	name     string
	shards   int  // 0: no shards, a worker with a concurrency
	visitors bool // all shards but the first are visited while the first has no jobs
}

// shardsScenario runs the same number of jobs from one database and from several of one server. More databases on a server cannot be
// faster than one; it shows what they cost. Only ours has shards, so it is compared with itself.
func shardsScenario(ctx context.Context, b *bench) error {
	none := shardsCase{name: "none, one database"}
	all := []shardsCase{none, {name: "1", shards: 1}, {name: "2", shards: 2}, {name: "4", shards: shardsPerProcess},
		{name: "4, of which 3 are visited", shards: shardsPerProcess, visitors: true}}
	t := report.Table{{"shards", "jobs", "a job takes", "jobs/s", "client CPU, µs a job", "to none"}}
	for _, l := range []load{{jobs: b.Scale(shardsJobs)}, {jobs: b.Scale(shardsSleepJobs), order: subject.Order{SleepMillis: shardsMillis}}} {
		l.jobs -= l.jobs % shardsPerProcess
		found := results{}
		for round := range b.Rounds {
			for _, c := range harness.Turns(round, all) {
				one, err := b.burnShards(ctx, c, l)
				if err != nil {
					return fmt.Errorf("shards: %s: %w", c.name, err)
				}
				fmt.Fprintf(b.Progress, "round %d: %d ms, shards: %s: %.0f jobs/s, %.2f µs\n", round+1, l.order.SleepMillis, c.name, one.speed, one.cpu)
				found.add(c.name, one)
			}
		}
		for _, c := range all {
			f := found[c.name]
			ratio := f.speed.Over(found[none.name].speed)
			t.Add(c.name, fmt.Sprint(l.jobs), fmt.Sprintf("%d ms", l.order.SleepMillis), f.speed.Number(), f.cpu.Number(), ratio.Ratio())
			if c.shards > 0 && !c.visitors { // visits are for what the homes of other processes leave
				b.result(fmt.Sprintf("shards: %s / none, jobs of %d ms", c.name, l.order.SleepMillis), ratio.Ratio(),
					fmt.Sprintf("at least %v", shardsBudget), ratio.AtLeast(shardsBudget))
			}
		}
	}
	b.Note("Ready jobs, distributed evenly over the databases, all of one server; one process with %d job slots. From the first start of a "+
		"handler until no row is left in any of them.", concurrency)
	b.Table(t)
	return nil
}

// burnShards runs a load that is distributed over the databases of shards.
func (b *bench) burnShards(ctx context.Context, c shardsCase, l load) (r burned, err error) {
	fill := ours.family.tables.fill(l.jobs / max(c.shards, 1))
	var others []*server.Database
	defer func() {
		for _, db := range others {
			err = errors.Join(err, db.Drop(context.WithoutCancel(ctx)))
		}
	}()
	urls := []string{}
	for range c.shards - 1 {
		db, err := b.Copy(ctx, ours.family.template)
		if err != nil {
			return r, err
		}
		others = append(others, db)
		urls = append(urls, db.URL())
		if err := db.Settle(ctx, fill); err != nil {
			return r, err
		}
	}
	worker := ours
	if c.shards > 0 {
		worker.settings = map[string]any{"shards": urls, "visitors": c.visitors}
	}
	l.order.Do, l.order.Jobs = subject.Work, l.jobs
	err = b.employ(ctx, worker, l.order, func(db *server.Database) error { return db.Settle(ctx, fill) }, func(k *crew) error {
		if r, err = k.burnDownAll(ctx, others, l); err != nil {
			return err
		}
		counts, err := k.stop(ctx)
		if err != nil {
			return err
		}
		return checkCounts(counts, 1)
	})
	return r, err
}

// burnDownAll is burnDown of a crew with further databases.
func (k *crew) burnDownAll(ctx context.Context, others []*server.Database, l load) (r burned, err error) {
	if r, err = k.burnDown(ctx, l, l.jobs); err != nil {
		return r, err
	}
	s, err := k.status(ctx)
	if err != nil {
		return r, err
	}
	end := s.First + int64(r.seconds*1e9)
	for _, db := range others {
		of := *k
		of.db = db
		at, err := of.gone(ctx)
		if err != nil {
			return r, err
		}
		end = max(end, at)
	}
	r.seconds = float64(end-s.First) / 1e9
	r.speed = float64(l.jobs) / r.seconds
	return r, nil
}
