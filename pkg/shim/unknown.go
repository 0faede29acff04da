package shim

import (
	"context"
	"fmt"
	"time"
)

// held are the jobs that are claimed and whose outcomes are not settled. They are linked through their holds: a map would
// cost more than all else that is noted of a job. One may be claimed again before its return is settled, and is two then.
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
		job.hold.before, job.hold.after = nil, nil // who keeps one job must not keep them all
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

// unsure knows when jobs may be locked in our name without our knowing: after a claim without an answer, and after a
// failover to a server that has not heard of their end. The server may even execute such a claim a while after the
// connection broke, so that we ask twice.
type unsure struct {
	now   bool
	again <-chan time.Time // when to ask once more
}

// lost is called when a claim got no answer, and when the worker listens anew.
func (u *unsure) lost() {
	u.now, u.again = true, time.After(callTimeout)
}

// pending reports whether there is something left to ask.
func (u *unsure) pending() bool { return u.now || u.again != nil }

// returnUnknown hands back what is locked in our name without our knowing. No claim is under way.
func (f *fetcher) returnUnknown(stop context.Context) error {
	returned, err := f.queries.returnUnknown(context.WithoutCancel(stop), f.held.ids())
	if err != nil {
		return fmt.Errorf("return jobs of a lost claim: %w", err)
	}
	f.unsure.now = false
	if returned > 0 {
		f.look = true
		f.logger.Warn("returned jobs of a claim whose answer was lost", "jobs", returned)
	}
	return nil
}
