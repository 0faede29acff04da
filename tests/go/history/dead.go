package history

import (
	"fmt"
	"slices"
)

// checkDead checks that a job whose key was taken over or removed is not claimed again.
// A request that inserts a row proves that no other row had the key when it committed. So the previous row with the key
// was deleted or has lost its key.
func checkDead(h *index) []violation {
	var found []violation
	for _, j := range h.jobs {
		if len(j.claims) == 0 {
			continue
		}
		for _, a := range j.adds[:min(1, len(j.adds))] {
			// Insertions are sorted by their start: the first relevant one began after the request ended.
			of := h.inserted[a.row.key]
			from, _ := slices.BinarySearchFunc(of, a.event.end, func(i insertion, t micros) int {
				if i.event.start < t {
					return -1
				}
				return 1
			})
			for _, i := range of[from:] {
				if i.id != j.id {
					found = append(found, h.ranAfter(j, a.event, i.event, "its key was taken over")...)
					break
				}
			}
		}
		for _, e := range j.acts {
			if e.kind == remove && e.acted() {
				found = append(found, h.ranAfter(j, nil, e, "it was removed")...)
			}
		}
	}
	return found
}

// ranAfter returns the claims of a job that began after its death, unless an administrator gave it new attempts.
func (h *index) ranAfter(j *job, request, death *event, why string) []violation {
	for _, c := range j.claims {
		// The job may have lost its key before the event that proves it: then the administrator's answer has no key.
		isRevived := func(e *event) bool {
			hadNoKey := slices.ContainsFunc(e.rows, func(r row) bool { return r.id == j.id && r.key == "" })
			return e.kind == reschedule && e.revives && e.start < c.event.end && (e.end > death.start || hadNoKey)
		}
		if death.before(c.event) && !slices.ContainsFunc(j.acts, isRevived) {
			events := []*event{death, c.event}
			if request != nil {
				events = []*event{request, death, c.event}
			}
			return []violation{{deadStaysDead, fmt.Sprintf("job %d ran after %s", j.id, why), events, j.id}}
		}
	}
	return nil
}
