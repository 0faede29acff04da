package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
)

const (
	indexesJobs   = 50_000
	indexesQueues = 1000
	indexesInsert = 1000 // at once
	indexesClaim  = 500  // at most, at once

	// indexesPatience ends the claims of a measurement without the index that makes claims fast.
	indexesPatience = 10 * time.Second
)

// A variant is a schema with one difference from ours.
type variant struct{ name, sql string }

// indexesScenario measures the cost of each index and trigger of the jobs' table, by leaving it out.
func indexesScenario(ctx context.Context, b *bench) error {
	all, err := b.variants(ctx)
	if err != nil {
		return err
	}
	b.Note("%d jobs, enqueued by add_jobs in calls of %d, then claimed up to %d at a time and completed; queued ones are in %d queues. "+
		"µs and WAL bytes a job. Ratios are to the schema as it is. Autovacuum is off. What costs much more without an index, or is "+
		"nothing (-), needs it; claims end after %s.", b.Scale(indexesJobs), indexesInsert, indexesClaim, indexesQueues,
		indexesPatience)
	return b.With(ctx, map[string]string{"autovacuum": "off"}, func() error {
		for _, queued := range []bool{false, true} {
			times, wals := map[string]*footprint{}, map[string]*footprint{}
			for _, v := range all {
				times[v.name], wals[v.name] = &footprint{}, &footprint{}
			}
			for round := range b.Rounds {
				for _, v := range harness.Turns(round, all) {
					if err := b.measureVariant(ctx, v, queued, times[v.name], wals[v.name]); err != nil {
						return fmt.Errorf("%s: %w", v.name, err)
					}
				}
			}
			kind := map[bool]string{false: "plain jobs", true: "queued jobs"}[queued]
			t := report.Table{{kind, "enqueue µs", "ratio", "claim µs", "ratio", "complete µs", "ratio", "enqueue B",
				"ratio", "claim B", "ratio",
				"complete B", "ratio"}}
			for _, v := range all {
				t.Add(append(append([]string{v.name}, times[v.name].cells(times[all[0].name])...),
					wals[v.name].cells(wals[all[0].name])...)...)
			}
			b.Table(t)
		}
		return nil
	})
}

func (f *footprint) cells(base *footprint) []string {
	return []string{
		f.enqueue.Number(), f.enqueue.Over(base.enqueue).Ratio(), f.claim.Number(), f.claim.Over(base.claim).Ratio(),
		f.complete.Number(), f.complete.Over(base.complete).Ratio(),
	}
}

// variants returns the unchanged schema, and variants that each lack an index or trigger of the jobs' table that no
// constraint needs. An empty index replaces one that is left out, because functions may name it.
func (b *bench) variants(ctx context.Context) (all []variant, err error) {
	db, err := b.copyOf(ctx, ours)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	rows, err := db.Admin.Query(ctx, `
select 'without index ' || c.relname,
       format('drop index %s; create index %I on %s (id) where false', c.oid::regclass, c.relname, i.indrelid::regclass)
  from pg_index as i join pg_class as c on c.oid = i.indexrelid
 where i.indrelid = $1::regclass and not exists (select from pg_constraint as k where k.conindid = i.indexrelid)
union all
select 'without trigger ' || t.tgname, format('drop trigger %I on %s', t.tgname, t.tgrelid::regclass)
  from pg_trigger as t
 where t.tgrelid = $1::regclass and not t.tgisinternal
 order by 1`, queue.JobsTable)
	if err != nil {
		return nil, fmt.Errorf("list the indexes and triggers: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (v variant, err error) {
		return v, row.Scan(&v.name, &v.sql)
	})
	if err != nil {
		return nil, fmt.Errorf("list the indexes and triggers: %w", err)
	}
	all = append([]variant{{"as it is", ""}}, found...)
	return append(all, variant{"fillfactor 100", "alter table " + queue.JobsTable + " set (fillfactor = 100)"}), nil
}

// measureVariant adds the cost of a job in one round, in microseconds and in bytes.
func (b *bench) measureVariant(ctx context.Context, v variant, queued bool, times, wals *footprint) (err error) {
	db, err := b.copyOf(ctx, ours)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	if err := db.Run(ctx, v.sql); err != nil {
		return err
	}
	s, err := db.session(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()

	inQueue := "null"
	if queued {
		inQueue = fmt.Sprintf("'queue-' || i %% %d", indexesQueues)
	}
	enqueued, err := db.expense(ctx, func() error {
		for range b.Scale(indexesJobs) / indexesInsert {
			if err := db.Run(ctx, ours.enqueue(indexesInsert, inQueue)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := db.Settle(ctx); err != nil {
		return err
	}
	var claimed, completed expense
	worked := 0
	for start := time.Now(); time.Since(start) < indexesPatience; {
		var jobs []queue.Job
		one, err := db.expense(ctx, func() (err error) {
			jobs, err = s.claim(ctx, indexesClaim, nil)
			return err
		})
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			break
		}
		claimed.add(one)
		if one, err = db.expense(ctx, func() error { return s.complete(ctx, jobs) }); err != nil {
			return err
		}
		completed.add(one)
		worked += len(jobs)
	}
	jobs := float64(b.Scale(indexesJobs) / indexesInsert * indexesInsert)
	done := float64(worked) // 0 / 0 is NaN
	times.add(enqueued.micros/jobs, claimed.micros/done, completed.micros/done)
	wals.add(enqueued.wal/jobs, claimed.wal/done, completed.wal/done)
	return nil
}

// expense is time and WAL.
type expense struct{ micros, wal float64 }

func (e *expense) add(other expense) {
	e.micros += other.micros
	e.wal += other.wal
}

func (db *database) expense(ctx context.Context, do func() error) (e expense, err error) {
	e.wal, err = db.walOf(ctx, func() error {
		start := time.Now()
		err := do()
		e.micros = micros(time.Since(start))
		return err
	})
	return e, err
}
