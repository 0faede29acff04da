package history

import (
	"fmt"
	"slices"
)

// allowed are the SQLSTATEs that a caller may get for reasons that are not defects of the queue.
var allowed = []string{
	"GWBKC", // the job of a key changed repeatedly
	"GWCIS", // cleanup at SERIALIZABLE
}

// checkAnswers checks that a call succeeds, or fails with an error that a caller must expect.
func checkAnswers(h *index) []violation {
	var found []violation
	for _, e := range h.events {
		switch {
		case e.acted(), e.code == unknown, e.code == undone, slices.Contains(allowed, e.code):
		case e.code == "40001" && e.serializable:
		default:
			found = append(found, violation{everyCallIsPolite, fmt.Sprintf("the answer is SQLSTATE %s", e.code),
				[]*event{e}, 0})
		}
	}
	return found
}

// checkEnds checks that a call has deleted each missing row, and that no remaining job could run, because the history
// ends when no job can be claimed.
func checkEnds(h *index) []violation {
	var found []violation
	for _, j := range h.jobs {
		end, isThere := h.end[j.id]
		switch {
		case isThere && end.available:
			found = append(found, violation{noJobVanishes, fmt.Sprintf("job %d waits though nothing was left to claim",
				j.id), nil, j.id})
		case isThere && end.locked:
			found = append(found, violation{noJobVanishes, fmt.Sprintf("job %d is locked in the end", j.id), nil, j.id})
		case !isThere && !h.isDeleted(j):
			what := fmt.Sprintf("job %d is gone", j.id)
			var events []*event
			for _, a := range j.adds {
				events = append(events, a.event)
			}
			for _, c := range j.claims {
				events = append(append(events, c.event), c.ends...)
			}
			found = append(found, violation{noJobVanishes, what, events, j.id})
		}
	}
	return found
}

// isDeleted reports whether something deleted the job or may have.
func (h *index) isDeleted(j *job) bool {
	for _, c := range j.claims {
		for e := range c.outcomes {
			if e.kind == complete {
				return true
			}
		}
	}
	if slices.ContainsFunc(j.acts, func(e *event) bool { return e.kind == finish || e.kind == remove }) {
		return true
	}
	retired := false
	for _, a := range j.adds {
		if h.mayBeRemoved(a.row.key, a.event.start) {
			return true
		}
		retired = retired || a.row.key != "" && len(j.claims) > 0 ||
			h.maySilentlyBeDead(j, a.row.key, a.event.start)
	}
	return len(h.tidies) > 0 && (retired || h.mayBeFailed(j))
}
