package reshard

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/statement"
)

// Slots are moved in groups of atOnce: producers of a group wait while its jobs are moved.
const atOnce = 8

// The pause between two searches for running jobs is as long as the search, within these bounds.
const (
	shortPause = 20 * time.Millisecond
	longPause  = time.Second
)

// Mover moves slots between shards.
type Mover struct {
	Databases []*Database

	// Wait is how long to wait for the running jobs of a slot, and how long producers of its slots wait at most.
	Wait time.Duration

	Logger *slog.Logger

	step func(string) // called after each transaction; set in tests
}

// Moved is the result of a move.
type Moved struct {
	Slots int   // that have arrived
	Jobs  int64 // that were moved with them
	Busy  []Busy
}

// Busy is a slot that was left where it is, because one of its jobs did not end in time.
type Busy struct {
	Slot     int
	Shard    string
	Running  int64 // jobs
	Job      int64
	Worker   *string
	LockedAt *time.Time
}

// Move moves slots to a shard. Slots that are there are left; a move to that shard which was interrupted is completed.
func (m *Mover) Move(ctx context.Context, slots []int, target string) (moved Moved, err error) {
	states, err := m.states(ctx)
	if err != nil {
		return moved, err
	}
	placed := Place(states)
	bySource := make(map[string][]int)
	for _, slot := range slots {
		source := placed.Owners[slot]
		if source == "" || m.find(source) == nil {
			return moved, fmt.Errorf("slot %d is in shard %q, which the map does not have", slot, source)
		}
		if source != target || slices.ContainsFunc(placed.Moving, func(s Moving) bool { return s.Slot == slot }) {
			bySource[source] = append(bySource[source], slot)
		}
	}
	if err := m.finish(ctx, placed.Moving, slots, &moved); err != nil {
		return moved, err
	}
	for _, source := range m.Databases {
		for group := range slices.Chunk(bySource[source.Name], atOnce) {
			if source.Name == target {
				continue
			}
			if err := m.moveGroup(ctx, source, m.find(target), group, &moved); err != nil {
				return moved, err
			}
		}
	}
	return moved, nil
}

// Resume completes moves that were interrupted, of slots whose state has not changed for a time.
func (m *Mover) Resume(ctx context.Context, after time.Duration) (moved Moved, err error) {
	states, err := m.states(ctx)
	if err != nil {
		return moved, err
	}
	var slots []int
	placed := Place(states)
	for _, s := range placed.Moving {
		if time.Since(s.Since) >= after {
			slots = append(slots, s.Slot)
		}
	}
	if err := m.finish(ctx, placed.Moving, slots, &moved); err != nil {
		return moved, err
	}
	return moved, m.finishLoose(ctx, &moved)
}

// forget ends the move of slots that have arrived.
func forget(ctx context.Context, source *Database, slots []int, target string) error {
	_, err := source.slots(ctx, `select f::integer from S._gw_forget_shard_slots($1::integer[], $2::text) as f`, slots, target)
	return err
}

// finish completes the moves of these slots that others have begun.
func (m *Mover) finish(ctx context.Context, moving []Moving, slots []int, moved *Moved) error {
	type way struct{ source, target string }
	ways := make(map[way][]int)
	for _, s := range moving {
		if slices.Contains(slots, s.Slot) {
			ways[way{s.Source, s.Target}] = append(ways[way{s.Source, s.Target}], s.Slot)
		}
	}
	for w, of := range ways {
		source, target := m.find(w.source), m.find(w.target)
		if target == nil {
			return fmt.Errorf("slots %v are being moved from shard %s to shard %s, which the map does not have", of, w.source, w.target)
		}
		for group := range slices.Chunk(of, atOnce) {
			if err := m.complete(ctx, source, target, group, moved); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Mover) moveGroup(ctx context.Context, source, target *Database, slots []int, moved *Moved) error {
	leaving, err := source.slots(ctx, `select l::integer from S._gw_leave_shard_slots($1::integer[], $2::text) as l`, slots, target.Name)
	if err != nil {
		return err
	}
	m.did("leave")
	return m.complete(ctx, source, target, leaving, moved)
}

// complete moves slots that are leaving or have left.
func (m *Mover) complete(ctx context.Context, source, target *Database, slots []int, moved *Moved) error {
	busy, err := m.export(ctx, source, slots)
	if err != nil {
		return err
	}
	if len(busy) > 0 {
		if err := m.keep(ctx, source, busy, moved); err != nil {
			return err
		}
	}
	states, err := source.States(ctx)
	if err != nil {
		return err
	}
	states = slices.DeleteFunc(states, func(s State) bool {
		return s.State != "left" || s.Target != target.Name || !slices.Contains(slots, s.Slot)
	})
	if len(states) == 0 {
		return nil
	}
	jobs, err := copySlots(ctx, source, target, states)
	if err != nil {
		return err
	}
	m.did("import")
	arrived := make([]int, len(states))
	for i, s := range states {
		arrived[i] = s.Slot
	}
	if err := forget(ctx, source, arrived, target.Name); err != nil {
		return err
	}
	m.did("forget")
	moved.Slots += len(arrived)
	moved.Jobs += jobs
	m.Logger.Info("slots moved", "from", source.Name, "to", target.Name, "slots", arrived, "jobs", jobs)
	return nil
}

// export takes the jobs of slots out of the queue until none of them runs, or the time to wait is over. It returns the slots of
// which jobs still run.
func (m *Mover) export(ctx context.Context, source *Database, slots []int) ([]Busy, error) {
	deadline := time.Now().Add(m.Wait)
	for {
		began := time.Now()
		rows, err := source.query(ctx, `
			select e.slot::integer, $2::text, e.running, e.job_id, e.worker_id, e.locked_at
			  from S._gw_export_shard_slots($1::integer[]) as e`, slots, source.Name)
		if err != nil {
			return nil, err
		}
		busy, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Busy])
		if err != nil {
			return nil, source.explained(err)
		}
		m.did("export")
		if len(busy) == 0 || time.Now().After(deadline) {
			return busy, nil
		}
		select {
		case <-time.After(min(max(time.Since(began), shortPause), longPause)):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// keep gives up the move of slots whose jobs run too long.
func (m *Mover) keep(ctx context.Context, source *Database, busy []Busy, moved *Moved) error {
	slots := make([]int, len(busy))
	for i, b := range busy {
		slots[i] = b.Slot
	}
	if _, err := source.slots(ctx, `select k::integer from S._gw_keep_shard_slots($1::integer[]) as k`, slots); err != nil {
		return err
	}
	m.did("keep")
	moved.Busy = append(moved.Busy, busy...)
	return nil
}

// copySlots copies what is in transit for slots and puts it into the queue of the target, in one transaction there.
func copySlots(ctx context.Context, source, target *Database, states []State) (jobs int64, err error) {
	var slots, versions []int
	left := states[0].Since
	list, condition := "", ""
	for _, s := range states {
		slots, versions = append(slots, s.Slot), append(versions, s.Version)
		if s.Since.Before(left) {
			left = s.Since
		}
		list += fmt.Sprintf("%d,", s.Slot)
	}
	if states[0].Slot == loose {
		condition = ` and t.target operator(pg_catalog.=) '` + target.Name + `'` // a name has no quotes
	}
	const columns = "slot, kind, job_id, was_due, task, queue_name, record"
	var content bytes.Buffer
	_, err = source.conn.PgConn().CopyTo(ctx, &content, statement.In(source.schema,
		`copy (select `+columns+` from S._gw_shard_transit as t where t.slot operator(pg_catalog.=) any ('{`+list[:len(list)-1]+`}'::smallint[])`+condition+`) to stdout`))
	if err != nil {
		return 0, source.explained(err)
	}
	if target.conn.IsClosed() {
		if err := target.connect(ctx); err != nil {
			return 0, err
		}
	}
	err = pgx.BeginFunc(ctx, target.conn, func(tx pgx.Tx) error {
		if _, err := target.conn.PgConn().CopyFrom(ctx, &content, statement.In(target.schema, `copy S._gw_shard_transit (`+columns+`) from stdin`)); err != nil {
			return err
		}
		return tx.QueryRow(ctx, statement.In(target.schema, `select S._gw_import_shard_slots($1::integer[], $2::integer[], $3::text, $4::timestamptz)`),
			slots, versions, source.Name, left).Scan(&jobs)
	})
	return jobs, target.explained(err)
}

func (m *Mover) states(ctx context.Context) (map[string][]State, error) {
	states := make(map[string][]State, len(m.Databases))
	for _, d := range m.Databases {
		of, err := d.States(ctx)
		if err != nil {
			return nil, err
		}
		if len(of) == 0 {
			return nil, fmt.Errorf("shard %s: %w", d.Name, ErrNoShard)
		}
		states[d.Name] = of
	}
	return states, nil
}

func (m *Mover) find(name string) *Database {
	for _, d := range m.Databases {
		if d.Name == name {
			return d
		}
	}
	return nil
}

func (m *Mover) did(step string) {
	if m.step != nil {
		m.step(step)
	}
}
