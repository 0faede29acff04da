package history

import (
	"cmp"
	"slices"

	"github.com/gwsql/gw/internal/pgtest"
)

// index is a history, indexed for its checks.
type index struct {
	events []*event // by start
	end    map[int64]finalJob
	stuck  []string // queues that are locked at the end
	limits []pgtest.Limit

	jobs    map[int64]*job
	claims  map[lease]*claimed
	unlocks map[string][]*event // calls that freed everything that a worker held, by worker
	removes map[string][]*event // remove_job that had or may have had an effect, by key
	strays  map[string][]*event // requests without an answer that may have had an effect, by key
	tidies  []*event            // cleanup that had or may have had an effect

	// Tasks of workers that only report what their handlers ran. They also claim jobs that they return without a
	// report.
	silent   map[string]bool
	inserted map[string][]insertion // by key and start

	decided map[kind]map[string][]*event // once, debounce and throttle that acted, by key and start
}

// insertion is an answer of add that inserted a row with a key.
type insertion struct {
	event *event
	id    int64
}

// job is all events about one id.
type job struct {
	id     int64
	adds   []added    // answers of add, by start
	claims []*claimed // by end
	acts   []*event   // finish, abort, remove and reschedule that acted on it or may have
}

// added is one answer of add.
type added struct {
	event *event
	spec  spec
	row   row
}

// claimed is one claim of one job and all events that may have ended it.
type claimed struct {
	event *event
	row   row
	lease lease
	ends  []*event // by start
}

// outcomes yields the calls that named this lease and had or may have had an effect.
func (c *claimed) outcomes(yield func(*event) bool) {
	for _, e := range c.ends {
		if e.leases != nil && !yield(e) {
			return
		}
	}
}

// heldUntil returns the time until which the job certainly was held.
func (c *claimed) heldUntil() micros {
	if len(c.ends) == 0 {
		return never
	}
	return c.ends[0].start
}

func newIndex(events []*event, end final) *index {
	h := &index{
		events: slices.SortedFunc(slices.Values(events),
			func(a, b *event) int { return cmp.Compare(a.start, b.start) }),
		end: map[int64]finalJob{}, stuck: end.lockedQueues,
		jobs: map[int64]*job{}, claims: map[lease]*claimed{}, unlocks: map[string][]*event{},
		removes: map[string][]*event{},
		strays:  map[string][]*event{}, silent: map[string]bool{}, inserted: map[string][]insertion{},
		decided: map[kind]map[string][]*event{once: {}, debounce: {}, throttle: {}},
	}
	for _, j := range end.jobs {
		h.end[j.id] = j
		h.job(j.id)
	}
	for _, e := range h.events {
		if e.mayHaveActed() {
			h.add(e)
		}
	}
	for _, e := range h.events {
		if e.mayHaveActed() {
			h.addEnds(e)
		}
	}
	for _, c := range h.claims {
		for _, e := range h.unlocks[c.lease.worker] {
			if e.end > c.event.start {
				c.ends = append(c.ends, e)
			}
		}
		slices.SortFunc(c.ends, func(a, b *event) int { return cmp.Compare(a.start, b.start) })
	}
	for _, j := range h.jobs {
		slices.SortFunc(j.claims, func(a, b *claimed) int { return cmp.Compare(a.event.end, b.event.end) })
	}
	return h
}

func (h *index) job(id int64) *job {
	if h.jobs[id] == nil {
		h.jobs[id] = &job{id: id}
	}
	return h.jobs[id]
}

func (h *index) add(e *event) {
	switch e.kind {
	case add, once, debounce, throttle:
		if e.kind != add && e.acted() {
			h.decided[e.kind][e.keys[0]] = append(h.decided[e.kind][e.keys[0]], e)
		}
		for i, r := range e.rows {
			if r.id != 0 {
				j := h.job(r.id)
				j.adds = append(j.adds, added{e, e.specs[i], r})
				if r.key != "" && r.revision == 0 {
					h.inserted[r.key] = append(h.inserted[r.key], insertion{e, r.id})
				}
			}
		}
		if e.code == unknown {
			for _, key := range e.keys {
				h.strays[key] = append(h.strays[key], e)
			}
		}
	case claim:
		for _, r := range e.rows {
			c := &claimed{event: e, row: r, lease: lease{e.worker, r.id, r.leasedAt}}
			h.claims[c.lease] = c
			j := h.job(r.id)
			j.claims = append(j.claims, c)
			if e.code == reported {
				h.silent[r.task] = true
			}
		}
	case finish, abort, reschedule:
		ids := e.ids
		if e.acted() {
			ids = nil
			for _, r := range e.rows {
				ids = append(ids, r.id)
			}
		}
		for _, id := range ids {
			h.job(id).acts = append(h.job(id).acts, e)
		}
	case remove:
		for _, r := range e.rows {
			h.job(r.id).acts = append(h.job(r.id).acts, e)
		}
		for _, key := range e.keys {
			h.removes[key] = append(h.removes[key], e)
		}
	case unlock, expire:
		h.unlocks[e.worker] = append(h.unlocks[e.worker], e)
	case cleanup:
		h.tidies = append(h.tidies, e)
	}
}

// addEnds adds an outcome to the claims that it ended or may have ended.
func (h *index) addEnds(e *event) {
	for _, l := range e.leases {
		c := h.claims[l]
		if c != nil && (e.code == unknown || slices.Contains(e.touched, l.job)) {
			c.ends = append(c.ends, e)
		}
	}
}

// mayBeRemoved reports whether a remove_job without an answer may have removed the job after this time.
func (h *index) mayBeRemoved(key string, after micros) bool {
	return key != "" && slices.ContainsFunc(h.removes[key], func(e *event) bool {
		return e.code == unknown &&
			e.end > after
	})
}

// maySilentlyBeDead reports whether a worker may have held the job, without a report, when another request inserted a
// new row with its key. The first job then never runs; the second one replaces it.
func (h *index) maySilentlyBeDead(j *job, key string, after micros) bool {
	if key == "" || len(h.silent) == 0 {
		return false
	}
	// The last request, which may be one without an answer, says which task it is.
	mayBeSilent := slices.ContainsFunc(j.adds, func(a added) bool { return h.silent[a.row.task] }) ||
		slices.ContainsFunc(h.strays[key], func(e *event) bool { return e.end > after })
	return mayBeSilent &&
		slices.ContainsFunc(h.inserted[key], func(i insertion) bool { return i.id != j.id && i.event.end > after })
}

// mayBeFailed reports whether the job may have failed permanently.
func (h *index) mayBeFailed(j *job) bool {
	for _, c := range j.claims {
		if c.row.attempts >= c.row.maxAttempts {
			return true
		}
		for e := range c.outcomes {
			if e.kind == fail {
				return true
			}
		}
	}
	return slices.ContainsFunc(j.acts, func(e *event) bool { return e.kind == abort || e.kind == remove })
}
