package shim

import (
	"context"
	"fmt"
	"time"
)

// held counts the jobs that are claimed and whose outcomes are not settled. One may be claimed again before its return is.
type held struct {
	n  int
	by map[int64]int // how often, by id
}

func (h *held) add(jobs []*Job) {
	if h.by == nil {
		h.by = make(map[int64]int)
	}
	for _, job := range jobs {
		h.by[job.ID]++
	}
	h.n += len(jobs)
}

func (h *held) remove(ids []int64) {
	for _, id := range ids {
		if h.by[id]--; h.by[id] <= 0 {
			delete(h.by, id)
		}
	}
	h.n -= len(ids)
}

// unsure knows when jobs may be locked in our name without our knowing: after a claim without an answer, and after a
// failover to a server that has not heard of their end. The server may even execute such a claim a while after the
// connection broke, so that we ask twice.
type unsure struct {
	now      bool
	again    <-chan time.Time // when to ask once more
	listened bool             // the listening connection was there before
}

// lost is called when a claim got no answer.
func (u *unsure) lost() {
	u.now, u.again = true, time.After(callTimeout)
}

// listens is called when there is a listening connection.
func (u *unsure) listens() {
	if u.listened {
		u.lost()
	}
	u.listened = true
}

// pending reports whether there is something left to ask.
func (u *unsure) pending() bool { return u.now || u.again != nil }

// returnUnknown hands back what is locked in our name without our knowing. No claim is under way.
func (f *fetcher) returnUnknown(stop context.Context) error {
	ids := make([]int64, 0, len(f.held.by))
	for id := range f.held.by {
		ids = append(ids, id)
	}
	returned, err := f.queries.returnUnknown(context.WithoutCancel(stop), ids)
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
