package reshard

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// loose is the slot of jobs that have none.
const loose = -1

// looseStep is how many jobs without a slot are moved in one transaction.
const looseStep = 10_000

// Drain moves all slots of a shard to the others, each to the one with the fewest, and then its jobs without a slot, except
// those that run.
func (m *Mover) Drain(ctx context.Context, from string) (total Moved, err error) {
	states, err := m.states(ctx)
	if err != nil {
		return total, err
	}
	placed := Place(states)
	count := make(map[string]int)
	for _, d := range m.Databases {
		count[d.Name] = placed.Of(d.Name).Len()
	}
	to := make(map[string][]int)
	for _, slot := range placed.Of(from).List() {
		target := m.fewest(count, from)
		count[target]++
		to[target] = append(to[target], slot)
	}
	for _, d := range m.Databases {
		if to[d.Name] == nil {
			continue
		}
		moved, err := m.Move(ctx, to[d.Name], d.Name)
		total.Slots, total.Jobs, total.Busy = total.Slots+moved.Slots, total.Jobs+moved.Jobs, append(total.Busy, moved.Busy...)
		if err != nil {
			return total, err
		}
	}
	if len(total.Busy) > 0 {
		return total, nil // the shard is still in use
	}
	for {
		jobs, err := m.MoveLoose(ctx, from, m.fewest(count, from), looseStep)
		total.Jobs += jobs
		if err != nil || jobs == 0 {
			return total, err
		}
	}
}

// MoveLoose moves up to most jobs that have neither a queue nor a key, and so no slot, and returns their number.
func (m *Mover) MoveLoose(ctx context.Context, from, to string, most int) (int64, error) {
	source, target := m.find(from), m.find(to)
	rows, err := source.query(ctx, `select S._gw_export_loose_jobs($1::integer, $2::text)`, most, to)
	if err != nil {
		return 0, err
	}
	if _, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64]); err != nil {
		return 0, source.explained(err)
	}
	m.did("export")
	return m.completeLoose(ctx, source, target)
}

// completeLoose moves the jobs without a slot that are in transit to a target.
func (m *Mover) completeLoose(ctx context.Context, source, target *Database) (int64, error) {
	jobs, err := copySlots(ctx, source, target, []State{{Slot: loose, Since: time.Now()}})
	if err != nil {
		return 0, err
	}
	m.did("import")
	err = forget(ctx, source, []int{loose}, target.Name)
	m.did("forget")
	return jobs, err
}

// finishLoose completes moves of jobs without a slot that were interrupted.
func (m *Mover) finishLoose(ctx context.Context, moved *Moved) error {
	for _, source := range m.Databases {
		rows, err := source.query(ctx, `select t from S._gw_loose_targets() as t`)
		if err != nil {
			return err
		}
		targets, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return source.explained(err)
		}
		for _, name := range targets {
			target := m.find(name)
			if target == nil {
				return fmt.Errorf("jobs are being moved from shard %s to shard %s, which the map does not have", source.Name, name)
			}
			jobs, err := m.completeLoose(ctx, source, target)
			moved.Jobs += jobs
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// fewest returns the shard with the fewest slots, other than from.
func (m *Mover) fewest(count map[string]int, from string) (name string) {
	for _, d := range m.Databases {
		if d.Name != from && (name == "" || count[d.Name] < count[name]) {
			name = d.Name
		}
	}
	return name
}

// Load returns how many workers are at home in the shard, and how many of its jobs are due or running.
func (d *Database) Load(ctx context.Context) (homes, jobs int64, err error) {
	rows, err := d.query(ctx, `select l.homes, l.jobs from S._gw_shard_load() as l`)
	if err != nil {
		return 0, 0, err
	}
	_, err = pgx.ForEachRow(rows, []any{&homes, &jobs}, func() error { return nil })
	return homes, jobs, d.explained(err)
}
