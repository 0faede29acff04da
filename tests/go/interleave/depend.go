package interleave

import (
	"maps"
	"strings"
)

// A footprint describes what a step depends on, and what depends on it.
type footprint struct {
	reads   set // tables, or only rows, or only classes of rows
	skips   set // tables of which it passes over locked rows, or only rows, or only classes of rows
	writes  set // tables of which it may change or lock any row; sequences; "advisory" is any advisory lock
	shares  set // tables of which it may lock any row for share or key share, which lets others do the same
	rows    set // rows that it has changed or locked, as "table key"
	shared  set // rows that it has locked for key share
	classes set // classes of these rows, as "table class"
	creates set // tables that it adds rows to
	shown   set // tables, rows and classes of rows whose changes it shows to others, because it ends a transaction
}

// inProgress stands for which transactions are in progress, as if it were a table.
const inProgress = "in_progress"

type set map[string]bool

func newFootprint() footprint {
	return footprint{set{}, set{}, set{}, set{}, set{}, set{}, set{}, set{}, set{}}
}

func (f footprint) add(others ...footprint) footprint {
	for _, o := range others {
		maps.Copy(f.reads, o.reads)
		maps.Copy(f.skips, o.skips)
		maps.Copy(f.writes, o.writes)
		maps.Copy(f.shares, o.shares)
		maps.Copy(f.rows, o.rows)
		maps.Copy(f.shared, o.shared)
		maps.Copy(f.classes, o.classes)
		maps.Copy(f.creates, o.creates)
		maps.Copy(f.shown, o.shown)
	}
	return f
}

func (f footprint) isEmpty() bool {
	return len(f.reads)+len(f.writes)+len(f.shares)+len(f.creates)+len(f.rows)+len(f.shared) == 0
}

// refined returns the footprint of a step that has changed and locked these rows, and no others. held is what its
// transaction has locked before: a lock that gets stronger is not always seen, which matters to sessions that lock rows
// of shared tables for share.
func (f footprint) refined(rows set, held footprint, shared, tables set) footprint {
	exact := newFootprint().add(footprint{reads: f.reads, skips: f.skips, rows: f.rows, shared: f.shared,
		creates: f.creates,
		shown:   f.shown})
	for name := range f.writes {
		if !tables[name] {
			exact.writes[name] = true
		}
	}
	for name := range f.shares {
		if !tables[name] {
			exact.shares[name] = true
		}
	}
	for row := range rows {
		switch table := tableOf(row); {
		case f.writes[table]:
			exact.rows[row] = true
		case f.shares[table]:
			exact.shared[row] = true
		} // else behind a stop that it has passed: no other session of the world notices that row
	}
	for _, before := range []set{held.rows, held.shared} {
		for row := range before {
			if table := tableOf(row); f.writes[table] && shared[table] {
				exact.rows[row] = true
			}
		}
	}
	return exact
}

// changes returns the part of a footprint that lasts until the transaction ends.
func (f footprint) changes() footprint {
	return newFootprint().add(footprint{writes: f.writes, shares: f.shares, rows: f.rows, shared: f.shared,
		classes: f.classes,
		creates: f.creates})
}

// within returns the part of a footprint that is in these tables.
func (f footprint) within(tables set) footprint {
	part := newFootprint()
	for _, of := range []struct{ all, some set }{{f.writes, part.writes}, {f.shares, part.shares},
		{f.creates, part.creates},
		{f.rows, part.rows}, {f.shared, part.shared}, {f.classes, part.classes}} {
		for name := range of.all {
			if tables[tableOf(name)] {
				of.some[name] = true
			}
		}
	}
	return part
}

// dependent reports whether the order of two steps of different sessions can matter. Readers do not see a change before
// its commit, so they depend on the commit. The order of two commits matters to sessions that are notified.
func dependent(a, b footprint) bool {
	return len(a.shown) > 0 && len(b.shown) > 0 || affects(a, b) || affects(b, a)
}

func affects(a, b footprint) bool {
	return overlap(a.shown, b.reads) || overlap(a.creates, b.creates) || overlap(a.rows, b.rows) ||
		overlap(a.rows, b.shared) ||
		overlap(a.writes, b.creates) || overlap(a.writes, b.locked()) || overlap(a.writes, b.sharing()) ||
		overlap(a.shares, tablesOf(b.rows)) || overlap(a.skips, b.locked()) || overlap(a.skips, b.sharing()) ||
		overlap(tablesOf(a.skips), b.mayLock())
}

// byTable returns a footprint in which the tables are in place of the rows that it reads and skips.
func (f footprint) byTable() footprint {
	return newFootprint().add(f, footprint{reads: tablesOf(f.reads), skips: tablesOf(f.skips)})
}

// locked returns the rows that a footprint changes or locks and that others can see, and their tables and classes.
func (f footprint) locked() set {
	return with(with(f.rows, f.classes), with(tablesOf(f.rows), f.writes))
}

// sharing returns the rows that it locks for key share, and their tables.
func (f footprint) sharing() set {
	return with(f.shared, with(tablesOf(f.shared), f.shares))
}

// mayLock returns the tables of which a step may change or lock rows.
func (f footprint) mayLock() set { return with(f.writes, f.shares) }

// touched returns the tables of which it changes or locks rows, or adds them.
func (f footprint) touched() set {
	tables := with(tablesOf(f.rows), tablesOf(f.shared))
	maps.Copy(tables, f.mayLock())
	maps.Copy(tables, f.creates)
	return tables
}

func tablesOf(rows set) set {
	tables := set{}
	for row := range rows {
		tables[tableOf(row)] = true
	}
	return tables
}

func tableOf(row string) string {
	table, _, _ := strings.Cut(row, " ")
	return table
}

// with returns the elements that are in a or in b.
func with(a, b set) set {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

func overlap(a, b set) bool {
	for name := range a {
		if b[name] {
			return true
		}
	}
	return false
}
