package history

import (
	"cmp"
	"fmt"
	"slices"
)

// lane is the jobs of a named queue, or those of a limit.
type lane struct{ limit, queue string }

// laneOf returns the lane in whose order a job starts, and how many of its jobs may be held at once; 0 for a job that
// is in no lane.
func (h *index) laneOf(r row) (lane, int) {
	if r.queue != "" {
		return lane{queue: r.queue}, 1
	}
	return h.limitOf(r)
}

// limitOf returns the lane of the limit that applies to a job, and how many of its jobs may be held at once; 0 if there
// is none.
func (h *index) limitOf(r row) (lane, int) {
	for _, l := range h.limits {
		if l.Task == r.task {
			return lane{limit: l.Name}, l.Most
		}
	}
	return lane{}, 0
}

func (l lane) rule() rule {
	if l.limit == "" {
		return aQueueIsSerial
	}
	return aLimitHolds
}

func (l lane) String() string {
	if l.limit == "" {
		return "queue " + l.queue
	}
	return "limit " + l.limit
}

// checkLanes checks that no more jobs of a lane are held at once than it allows, and that no queue is locked at the
// end. A job is held from the end of its claim to the start of any event that may have ended the claim. Jobs of a queue
// that were claimed together count as one: their worker runs them one after the other.
func checkLanes(h *index) []violation {
	var found []violation
	lanes, mosts := map[lane][]*claimed{}, map[lane]int{}
	for _, c := range h.claims {
		if in, most := h.limitOf(c.row); most > 0 {
			lanes[in], mosts[in] = append(lanes[in], c), most
		}
		if c.row.queue != "" {
			in, most := h.laneOf(c.row)
			lanes[in], mosts[in] = append(lanes[in], c), most
		}
	}
	for in, claims := range lanes {
		slices.SortFunc(claims, func(a, b *claimed) int {
			return cmp.Or(cmp.Compare(a.event.end, b.event.end), cmp.Compare(a.heldUntil(), b.heldUntil()))
		})
		var held []*claimed
		for _, c := range claims {
			if c.heldUntil() <= c.event.end {
				continue
			}
			held = slices.DeleteFunc(held, func(other *claimed) bool { return other.heldUntil() <= c.event.end })
			held = append(held, c)
			if areTooMany(in, mosts[in], held) {
				found = append(found, tooMany(in, held))
			}
		}
	}
	for _, queue := range h.stuck {
		found = append(found, violation{aQueueIsSerial, fmt.Sprintf("queue %s is locked in the end", queue), nil, 0})
	}
	return found
}

// areTooMany reports whether these jobs of a lane may not be held at once. The last of them was claimed last.
func areTooMany(in lane, most int, held []*claimed) bool {
	if in.limit != "" {
		return len(held) > most
	}
	last := held[len(held)-1].event
	return len(held) > max(1, last.ofQueue) || slices.ContainsFunc(held,
		func(c *claimed) bool { return c.event != last })
}

// tooMany returns the violation of jobs that were all held when the last of them was claimed.
func tooMany(in lane, held []*claimed) violation {
	var ids []int64
	var events []*event
	for _, c := range held {
		ids, events = append(ids, c.row.id), append(events, c.event)
	}
	for _, c := range held {
		if len(c.ends) > 0 {
			events = append(events, c.ends[0])
		}
	}
	return violation{in.rule(), fmt.Sprintf("jobs %d of %s were held at once", ids, in), events,
		held[len(held)-1].row.id}
}
