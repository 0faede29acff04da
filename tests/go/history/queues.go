package history

import (
	"cmp"
	"fmt"
	"slices"
)

// checkQueues checks that no two jobs of a named queue are held at once, and that no queue is locked at the end. A job is held from the
// end of its claim to the start of any event that may have ended the claim.
func checkQueues(h *index) []violation {
	var found []violation
	queues := map[string][]*claimed{}
	for _, c := range h.claims {
		if c.row.queue != "" {
			queues[c.row.queue] = append(queues[c.row.queue], c)
		}
	}
	for queue, claims := range queues {
		slices.SortFunc(claims, func(a, b *claimed) int {
			return cmp.Or(cmp.Compare(a.event.end, b.event.end), cmp.Compare(a.heldUntil(), b.heldUntil()))
		})
		var longest *claimed
		for _, c := range claims {
			// There is a time at which both are held: longest was held already when c's claim ended.
			if longest != nil && c.event.end < longest.heldUntil() && c.event.end < c.heldUntil() {
				what := fmt.Sprintf("jobs %d and %d of queue %s were held at once", longest.row.id, c.row.id, queue)
				events := []*event{longest.event, c.event}
				for _, of := range []*claimed{longest, c} {
					if len(of.ends) > 0 {
						events = append(events, of.ends[0])
					}
				}
				found = append(found, violation{aQueueIsSerial, what, events, c.row.id})
			}
			if longest == nil || c.heldUntil() > longest.heldUntil() {
				longest = c
			}
		}
	}
	for _, queue := range h.stuck {
		found = append(found, violation{aQueueIsSerial, fmt.Sprintf("queue %s is locked in the end", queue), nil, 0})
	}
	return found
}
