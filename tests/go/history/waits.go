package history

import (
	"cmp"
	"slices"
)

// wait is a period in which a job certainly could be claimed: it was free and due, and no call affected it.
type wait struct {
	from, to micros
	row      row
	cause    *event
}

// certainWaits returns the waits of all jobs, sorted by from, except jobs of tasks that unrecorded claims may take.
func certainWaits(h *index) []wait {
	keyed := map[string][]*event{} // every add and remove of a key, whatever its answer: it may have locked the row
	named := map[int64][]*event{}  // likewise calls that named a job
	for _, e := range h.events {
		for _, key := range e.keys {
			keyed[key] = append(keyed[key], e)
		}
		for _, id := range e.ids {
			named[id] = append(named[id], e)
		}
		for _, l := range e.leases {
			named[l.job] = append(named[l.job], e)
		}
		if e.kind == claim {
			for _, r := range e.rows {
				named[r.id] = append(named[r.id], e)
			}
		}
	}
	var lockers []*event // calls that may have locked a row that they did not take, because it changed
	for _, e := range h.events {
		if e.kind == claim || e.kind == unlock || e.kind == expire {
			lockers = append(lockers, e)
		}
	}
	passing := newTouches(lockers)
	byKey := map[string]touches{}
	for key, events := range keyed {
		byKey[key] = newTouches(events)
	}

	var waits []wait
	for _, j := range h.jobs {
		own := newTouches(named[j.id])
		for _, s := range h.starts(j) {
			if h.silent[s.row.task] {
				continue
			}
			to := own.next(s.cause)
			if key := s.row.key; key != "" {
				to = min(to, byKey[key].next(s.cause))
			}
			if s.from, s.to = max(s.cause.end, s.row.runAt, passing.met(s.cause)), to; s.from < s.to {
				waits = append(waits, s)
			}
		}
	}
	slices.SortFunc(waits, func(a, b wait) int { return cmp.Compare(a.from, b.from) })
	return waits
}

// starts returns the calls after which the job certainly waited, if nothing came between.
func (h *index) starts(j *job) []wait {
	var starts []wait
	for _, a := range j.adds {
		if a.row.available && (a.spec.mode != "unsafe_dedupe" || a.row.revision == 0) {
			starts = append(starts, wait{row: a.row, cause: a.event})
		}
	}
	for _, c := range j.claims {
		for _, e := range c.ends {
			// A job with a key may have lost it in the meantime.
			if e.kind == giveBack && e.code == done && !e.delayed && c.row.key == "" {
				starts = append(starts, wait{row: c.row, cause: e})
			}
		}
	}
	for _, e := range j.acts {
		if e.kind != reschedule || e.code != done || len(j.adds) == 0 {
			continue
		}
		for _, r := range e.rows {
			// Its queue and task are those of the last request, of which a keyed job may have had others.
			if base := j.adds[0].row; r.id == j.id && r.available && base.key == "" {
				r.queue, r.task, r.flagged = base.queue, base.task, base.flagged
				starts = append(starts, wait{row: r, cause: e})
			}
		}
	}
	return starts
}

// touches are the calls that may have locked or changed an object, sorted by start.
type touches struct {
	events []*event
	ends   []micros // the latest end of the events so far
}

func newTouches(events []*event) touches {
	t := touches{events: events, ends: make([]micros, len(events))}
	latest := micros(0)
	for i, e := range events {
		latest = max(latest, e.end)
		t.ends[i] = latest
	}
	return t
}

// next returns the start of the first call after e, 0 if another call overlapped e.
func (t touches) next(e *event) micros {
	after := t.after(e)
	switch {
	case t.meets(e):
		return 0
	case after == len(t.events):
		return never
	}
	return t.events[after].start
}

// after returns the index of the first call that began after e.
func (t touches) after(e *event) int {
	after, _ := slices.BinarySearchFunc(t.events, e.end, func(other *event, end micros) int {
		if other.start < end {
			return -1
		}
		return 1
	})
	return after
}

// met returns the end of the last call that overlapped e, 0 if there was none.
func (t touches) met(e *event) micros {
	latest := micros(0)
	for i := t.after(e) - 1; i >= 0 && t.ends[i] > e.start; i-- {
		if other := t.events[i]; other != e && other.end > e.start {
			latest = max(latest, other.end)
		}
	}
	return latest
}

// meets reports whether another call overlapped e.
func (t touches) meets(e *event) bool {
	return t.met(e) > 0
}
