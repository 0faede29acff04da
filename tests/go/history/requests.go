package history

import (
	"fmt"
	"slices"
)

// checkRequests checks that the row in the answer of each request contains the request, that no later request
// overwrites it unnoticed, and that it is executed: that row is claimed as the request left it or as a later one
// changed it; or it still waits, or an administrator or remove_job has ended it afterwards.
func checkRequests(h *index) []violation {
	var found []violation
	report := func(job int64, what string, events ...*event) {
		found = append(found, violation{noRequestIsLost, what, events, job})
	}
	for _, e := range h.events {
		if !e.isRequest() || !e.acted() || e.kind == once && len(e.rows) == 0 {
			continue
		}
		if len(e.rows) != len(e.specs) {
			report(0, fmt.Sprintf("%d requests have %d answers", len(e.specs), len(e.rows)), e)
			continue
		}
		for i, r := range e.rows {
			deduplicated := e.specs[i].mode == "unsafe_dedupe" && r.revision > 0
			switch {
			case r.id == 0:
				report(0, "add answers null", e)
			case r.key != e.specs[i].key:
				report(r.id, fmt.Sprintf("the answer has the key %q", r.key), e)
			case !deduplicated && !slices.Contains(r.numbers, e.specs[i].number):
				report(r.id, "the answer has another payload", e)
			case !deduplicated && !h.isExecuted(e, r):
				report(r.id, fmt.Sprintf("job %d never ran again", r.id), e)
			}
		}
	}
	for _, j := range h.jobs {
		revisions := map[int]added{}
		for _, a := range j.adds {
			if other, isThere := revisions[a.row.revision]; isThere {
				report(j.id, fmt.Sprintf("two requests made revision %d of job %d", a.row.revision, j.id), other.event,
					a.event)
			}
			revisions[a.row.revision] = a
		}
		for revision, a := range revisions {
			next, isThere := revisions[revision+1]
			if !isThere {
				continue
			}
			if !slices.Equal(next.row.numbers, merged(a.row, next.spec)) {
				report(j.id, fmt.Sprintf("the payload of job %d is not what two requests make it", j.id), a.event,
					next.event)
			}
		}
		for _, c := range j.claims {
			a, isThere := revisions[c.row.revision]
			if isThere && !slices.Equal(a.row.numbers, c.row.numbers) {
				report(j.id, fmt.Sprintf("job %d ran with another payload", j.id), a.event, c.event)
			}
			if isThere && a.spec.mode != "unsafe_dedupe" && a.spec.task != c.row.task {
				report(j.id, fmt.Sprintf("job %d of %s ran as one of %s", j.id, a.spec.task, c.row.task), a.event,
					c.event)
			}
		}
	}
	return found
}

// merged returns the numbers in the payload after a request with the key of a waiting job.
func merged(waiting row, request spec) []int64 {
	switch {
	case request.mode == "unsafe_dedupe":
		return waiting.numbers
	case waiting.list:
		return append(slices.Clone(waiting.numbers), request.number)
	}
	return []int64{request.number}
}

// isExecuted reports whether a request had an allowed end.
func (h *index) isExecuted(request *event, r row) bool {
	j := h.jobs[r.id]
	if end, isThere := h.end[r.id]; isThere && end.available && end.revision >= r.revision {
		return true
	}
	return slices.ContainsFunc(j.claims, func(c *claimed) bool {
		return c.row.revision >= r.revision &&
			c.event.end > request.start
	}) ||
		slices.ContainsFunc(j.acts, func(e *event) bool { return e.kind != reschedule && e.end > request.start }) ||
		h.mayBeRemoved(r.key, request.start) || h.maySilentlyBeDead(j, r.key, request.start)
}
