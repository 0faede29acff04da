package interleave

import "testing"

func TestOrdersOfLocksThatContradictEachOtherAreFound(t *testing.T) {
	rows := func(rows ...string) footprint {
		f := newFootprint()
		for _, row := range rows {
			f.rows[row] = true
		}
		return f
	}
	l := make(lockOrder)
	l.note(rows("jobs 1"), rows("queues 1"), newFootprint(), "one")
	l.note(rows("queues 1"), rows("workers 1"), newFootprint(), "two")
	skips := newFootprint()
	skips.skips["jobs"] = true
	l.note(rows("queues 2"), rows("jobs 2"), skips, "three")
	share := newFootprint()
	share.shared["queues 1"] = true
	l.note(rows("tasks 1"), share, newFootprint(), "a lock for key share waits for no other such lock")
	l.note(share, rows("tasks 1"), newFootprint(), "nor does who holds one make others wait who want one")
	if cycle := l.cycle(); cycle != nil {
		t.Errorf("found %q", cycle)
	}
	l.note(rows("workers 1"), rows("jobs 2"), newFootprint(), "four")
	if cycle := l.cycle(); len(cycle) != 3 {
		t.Errorf("found %q", cycle)
	}
}
