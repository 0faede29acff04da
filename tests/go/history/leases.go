package history

import (
	"fmt"
	"slices"
)

// checkLeases checks that an outcome has an effect exactly while its lease holds.
func checkLeases(h *index) []violation {
	var found []violation
	for _, e := range h.events {
		if e.leases == nil || e.code != done {
			continue
		}
		for _, l := range e.leases {
			c := h.claims[l]
			accepted := slices.Contains(e.touched, l.job)
			var what string
			var other *event
			switch {
			case c == nil && accepted:
				what = fmt.Sprintf("the outcome of job %d acted without a claim", l.job)
			case c == nil:
				continue
			case accepted:
				what, other = h.endedBefore(c, e)
			default:
				if !slices.ContainsFunc(c.ends, func(end *event) bool { return end.start < e.end }) {
					what, other = fmt.Sprintf("the outcome of job %d did not act though the lease held", l.job), c.event
				}
			}
			if what == "" {
				continue
			}
			events := []*event{e}
			if other != nil {
				events = []*event{other, e}
			}
			if c != nil && c.event != other {
				events = append([]*event{c.event}, events...)
			}
			found = append(found, violation{aLeaseIsOneClaim, what, events, l.job})
		}
	}
	return found
}

// endedBefore returns how the lease had certainly ended before an outcome that had an effect nevertheless.
func (h *index) endedBefore(c *claimed, outcome *event) (string, *event) {
	for _, end := range c.ends {
		switch {
		case end == outcome:
		case end.leases != nil && end.acted() && end.start <= outcome.start:
			return fmt.Sprintf("two outcomes of one lease of job %d acted", c.row.id), end
		case end.leases == nil && end.acted() && end.start >= c.event.end && end.before(outcome):
			return fmt.Sprintf("the outcome of job %d acted after the lease was taken away", c.row.id), end
		}
	}
	for _, later := range h.jobs[c.row.id].claims {
		if c.event.before(later.event) && later.event.before(outcome) {
			return fmt.Sprintf("the outcome of job %d acted on a later claim", c.row.id), later.event
		}
	}
	return "", nil
}

// checkRuns checks that between two claims of a job an event ended the first claim, but not the job. Of two overlapping
// claims either may be the first: locked_at does not determine that, because it is read before the job is locked.
func checkRuns(h *index) []violation {
	var found []violation
	for _, j := range h.jobs {
		for i, second := range j.claims {
			if i == 0 {
				continue
			}
			first := j.claims[i-1]
			if !first.mayPrecede(second) && (first.event.before(second.event) || !second.mayPrecede(first)) {
				what := fmt.Sprintf("job %d was claimed again", j.id)
				found = append(found, violation{nothingRunsTwice, what, append([]*event{first.event, second.event},
					first.ends...), j.id})
			}
		}
	}
	return found
}

// mayPrecede reports whether something other than the job's completion may have ended a claim before another one.
func (c *claimed) mayPrecede(next *claimed) bool {
	return slices.ContainsFunc(c.ends, func(e *event) bool { return e.kind != complete && e.start < next.event.end })
}
