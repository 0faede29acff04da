package history

import (
	"fmt"
	"slices"
)

// checkOnce checks that the calls of once under a key within the interval of a call that added a job all return this
// job. The interval begins during that call. A call that returns a job without adding it must be within the interval of
// the call that added it.
func checkOnce(h *index) (found []violation) {
	for key, calls := range h.decided[once] {
		lost := h.lost(once, key)
		var adders []*event
		for _, e := range calls {
			if len(e.rows) > 0 {
				adders = append(adders, e)
			}
		}
		for _, e := range calls {
			report := func(what string, other ...*event) {
				found = append(found, violation{onceIsOnce, what, append(other, e), e.decided.id})
			}
			isAdder, isExplained := len(e.rows) > 0, false
			for _, a := range adders {
				isInside := e.end < a.start+a.interval
				switch {
				case a == e || a.start >= e.end:
				case isAdder && isInside && a.end < e.start+e.interval:
					report(fmt.Sprintf("jobs %d and %d were both added", a.decided.id, e.decided.id), a)
				case isInside && a.end <= e.start && a.decided.id != e.decided.id:
					report(fmt.Sprintf("job %d was returned though job %d was the first", e.decided.id, a.decided.id),
						a)
				}
				isExplained = isExplained || a.decided.id == e.decided.id && a.start < e.end &&
					e.start < a.end+a.interval
			}
			isExplained = isExplained || slices.ContainsFunc(lost, func(l *event) bool {
				return l.start < e.end && e.start < l.end+l.interval
			})
			if !isAdder && !isExplained {
				report(fmt.Sprintf("job %d was returned though it was not added within the interval", e.decided.id))
			}
			if what, other := h.hasOtherState(e); what != "" {
				report(what, other)
			}
		}
	}
	return found
}

// hasOtherState returns in what the state that a call of once returned for the job of an earlier call differs from the
// history.
func (h *index) hasOtherState(e *event) (string, *event) {
	j := h.jobs[e.decided.id]
	if len(e.rows) > 0 || j == nil {
		return "", nil
	}
	for _, c := range j.claims {
		if e.decided.state == "gone" && e.before(c.event) {
			return fmt.Sprintf("job %d ran after it was gone", j.id), c.event
		}
		for end := range c.outcomes {
			if e.decided.state != "gone" && end.kind == complete && end.acted() && end.before(e) {
				return fmt.Sprintf("job %d is %s after it was completed", j.id, e.decided.state), end
			}
		}
	}
	return "", nil
}
