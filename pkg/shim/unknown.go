package shim

import (
	"context"
	"fmt"
	"time"
)

// held is the list of claimed jobs whose outcomes are not settled. They are linked through their holds, because a map
// would cost more than all other bookkeeping of a job. A job may be claimed again before its return is settled, and is
// in the list twice then.
type held struct {
	n     int
	bytes int64
	last  *Job
}

func (h *held) add(jobs []*Job) {
	for _, job := range jobs {
		job.hold.before, job.hold.after = h.last, nil
		if h.last != nil {
			h.last.hold.after = job
		}
		h.last = job
		h.bytes += job.hold.bytes
	}
	h.n += len(jobs)
}

func (h *held) remove(jobs []*Job) {
	for _, job := range jobs {
		before, after := job.hold.before, job.hold.after
		if before != nil {
			before.hold.after = after
		}
		if after != nil {
			after.hold.before = before
		} else {
			h.last = before
		}
		h.bytes -= job.hold.bytes
		job.hold.before, job.hold.after = nil, nil // so that one retained job does not retain them all
	}
	h.n -= len(jobs)
}

func (h *held) ids() []int64 {
	ids := make([]int64, 0, h.n)
	for job := h.last; job != nil; job = job.hold.before {
		ids = append(ids, job.ID)
	}
	return ids
}

// unsure records that jobs may be locked in the worker's name without its knowledge: after a claim without an answer,
// and after a failover to a server that lacks the commits of their outcomes. The server may execute such a claim some
// time after the connection broke, so the worker checks twice.
type unsure struct {
	now   bool
	again <-chan time.Time // when to check again
}

// lost is called when a claim got no answer, and when the worker listens again.
func (u *unsure) lost() {
	u.now, u.again = true, time.After(callTimeout)
}

// pending reports whether a check is left.
func (u *unsure) pending() bool { return u.now || u.again != nil }

// returnUnknown returns to the queue the jobs locked in the worker's name that it does not know of. No claim is in
// flight.
func (f *fetcher) returnUnknown(stop context.Context) error {
	returned, err := f.queries.returnUnknown(context.WithoutCancel(stop), f.held.ids())
	if err != nil {
		return fmt.Errorf("return jobs of a lost claim: %w", err)
	}
	f.unsure.now = false
	if returned > 0 {
		f.look = true
		f.logger.Warn("jobs of a claim without an answer returned to the queue", "jobs", returned)
	}
	return nil
}
