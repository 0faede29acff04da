package history

import (
	"fmt"
	"slices"
)

// checkOrder checks that the answer of a claim is sorted, and that a job that certainly waited during the whole call,
// without interference, is in the answer before less urgent ones: a job that is in no lane compared with others of this
// kind, and with all others if no other call was running; jobs of a lane always compared with each other. A claim that
// returns fewer jobs than requested leaves no job that is in no lane, unless jobs were just changed or freed, because a
// job that changes between being read and being locked leaves its place in the batch empty. While there are limits,
// claims lock more jobs than they return, and others pass them by: then jobs in no lane are compared only if no other
// call was running.
func checkOrder(h *index) verdict {
	var found []violation
	waits, taken, open := certainWaits(h), 0, []wait{}
	judged := 0
	sights := newSights(h.events)
	for _, e := range h.events {
		if e.kind != claim || !e.acted() {
			continue
		}
		for i := range e.rows[min(1, len(e.rows)):] {
			if !e.torn && e.rows[i+1].urgent(e.rows[i]) {
				what := fmt.Sprintf("job %d came before job %d in one answer", e.rows[i].id, e.rows[i+1].id)
				found = append(found, violation{urgentFirst, what, []*event{e}, e.rows[i].id})
			}
		}
		if e.size == 0 || e.torn {
			continue
		}
		found = append(found, h.behind(e)...)
		if len(e.rows) > e.size {
			found = append(found, violation{nothingIsPassedBy, fmt.Sprintf("%d jobs were asked for", e.size),
				[]*event{e}, 0})
		}
		for ; taken < len(waits) && waits[taken].from <= e.start; taken++ {
			open = append(open, waits[taken])
		}
		open = slices.DeleteFunc(open, func(w wait) bool { return w.to <= e.start })
		if sights.blind.meets(e) {
			continue
		}
		judged++
		alone, calm := !sights.all.meets(e), !sights.changes.meets(e)
		for _, w := range open {
			if w.to < e.end || e.noFlagged && w.row.flagged || e.tasks != nil && !slices.Contains(e.tasks, w.row.task) {
				continue
			}
			if v, isWrong := h.passedBy(e, w, alone, calm); isWrong {
				found = append(found, v)
			}
		}
	}
	return verdict{violations: found, waits: len(waits), judged: judged}
}

// behind checks that a job with a key is claimed as the first of its queue only, so that it can be replaced until it
// starts.
func (h *index) behind(e *event) (found []violation) {
	seen := map[lane]bool{}
	for _, r := range e.rows {
		in, _ := h.laneOf(r)
		if in.limit != "" || in.queue == "" {
			continue
		}
		if seen[in] && r.key != "" {
			found = append(found, violation{aQueueIsSerial,
				fmt.Sprintf("job %d, which has a key, is not the first of %s", r.id, in), []*event{e}, r.id})
		}
		seen[in] = true
	}
	return found
}

// passedBy checks a claim that did not take a job which certainly waited.
func (h *index) passedBy(e *event, w wait, alone, calm bool) (violation, bool) {
	events := []*event{w.cause, e}
	in, most := h.laneOf(w.row)
	if most == 0 && h.limits != nil && !alone {
		return violation{}, false
	}
	if most == 0 && len(e.rows) < e.size && calm {
		return violation{nothingIsPassedBy, fmt.Sprintf("job %d was left behind", w.row.id), events, w.row.id}, true
	}
	for _, r := range e.rows {
		if !w.row.urgent(r) {
			continue
		}
		other, width := h.laneOf(r)
		switch {
		case most > 0 && other == in:
			return violation{in.rule(), fmt.Sprintf("job %d overtook job %d of %s", r.id, w.row.id, in), events,
				w.row.id}, true
		case most == 0 && (width == 0 || alone && other.limit == "") && !h.changesDuring(r.id, e):
			return violation{urgentFirst, fmt.Sprintf("job %d was claimed before job %d", r.id, w.row.id), events,
				w.row.id}, true
		}
	}
	return violation{}, false
}

// changesDuring reports whether a request or an administrator may have changed a job while a claim chose it. The claim
// may then have taken it at its earlier place in the order: it locks the new row of the job whose old one it has read.
func (h *index) changesDuring(id int64, claim *event) bool {
	j := h.jobs[id]
	return j.isActedOn(claim.start, claim.end) ||
		slices.ContainsFunc(j.adds, func(a added) bool {
			return a.event.end > claim.start &&
				a.event.start < claim.end
		})
}

// sights are the calls that ran concurrently with claims.
type sights struct {
	all     touches
	blind   touches // claims without an answer, which may have locked anything
	changes touches // what leaves a job waiting that was another row before, or deletes one that a claim has chosen
}

func newSights(events []*event) sights {
	var blind, changes []*event
	for _, e := range events {
		switch e.kind {
		case claim:
			if e.torn || !e.acted() {
				blind = append(blind, e)
			}
		case add, once, debounce, throttle:
			if e.keys != nil {
				changes = append(changes, e)
			}
		case reschedule, giveBack, fail, unlock, expire, finish, abort, remove:
			changes = append(changes, e)
		}
	}
	return sights{newTouches(events), newTouches(blind), newTouches(changes)}
}
