package history

import (
	"cmp"
	"fmt"
	"slices"
)

// checkThrottle checks the jobs of throttle under each key: they are due the interval apart, and no later than that;
// and a call that replaces one does not move it, unless it has failed and waits for its next attempt.
func checkThrottle(h *index) (found []violation) {
	for key, chains := range h.chains(throttle) {
		slices.SortFunc(chains, func(a, b chain) int {
			return cmp.Compare(a.calls[0].decided.dueAt, b.calls[0].decided.dueAt)
		})
		for i, c := range chains {
			found = append(found, c.moves()...)
			if i > 0 {
				last, next := chains[i-1].calls[len(chains[i-1].calls)-1], c.calls[0]
				if gap := next.decided.dueAt - last.decided.dueAt; gap < next.interval {
					what := fmt.Sprintf("job %d is due %d us after job %d", c.job.id, gap, last.decided.id)
					found = append(found, violation{throttleSpaces, what, []*event{last, next}, c.job.id})
				}
			}
			if latest := h.latestStart(key, c); c.calls[0].decided.dueAt > latest {
				what := fmt.Sprintf("job %d is due %d us too late", c.job.id, c.calls[0].decided.dueAt-latest)
				found = append(found, violation{throttleSpaces, what, c.calls[:1], c.job.id})
			}
		}
	}
	return found
}

// moves returns the calls that have moved the job, or have not kept the time of its next attempt.
func (c chain) moves() (found []violation) {
	for i, e := range c.calls {
		due, backoff := e.decided.dueAt, c.job.backoff(e)
		if due < backoff {
			what := fmt.Sprintf("job %d is due %d us before its next attempt", c.job.id, backoff-due)
			found = append(found, violation{backoffIsKept, what, []*event{e}, c.job.id})
		}
		if i == 0 {
			if c.job.isFirst(e) && due < e.start {
				what := fmt.Sprintf("job %d was due before it was added", c.job.id)
				found = append(found, violation{throttleSpaces, what, []*event{e}, c.job.id})
			}
			continue
		}
		last := c.calls[i-1]
		mayHaveFailed := len(c.job.claimsIn(last.decided.revision, e.decided.revision)) > 0
		switch moved := due - last.decided.dueAt; {
		case moved < 0, moved > 0 && !mayHaveFailed, moved > 0 && backoff > 0 && due != backoff:
			what := fmt.Sprintf("a call has moved job %d by %d us", c.job.id, moved)
			found = append(found, violation{throttleSpaces, what, []*event{last, e}, c.job.id})
		}
	}
	return found
}

// latestStart returns the latest due time of a job that is allowed for the first call about it: that call, or the
// interval after the job of an earlier call. Calls without an answer may have added jobs in between. It returns never
// if the first call is not known, or the job may have failed before it.
func (h *index) latestStart(key string, c chain) micros {
	first := c.calls[0]
	if !c.job.isFirst(first) || len(c.job.claimsIn(0, first.decided.revision)) > 0 {
		return never
	}
	var due, since micros
	for _, e := range h.decided[throttle][key] {
		if e.start >= first.end {
			break
		}
		if e.decided.id != c.job.id {
			due = max(due, e.decided.dueAt)
		}
		if e.before(first) {
			since = max(since, e.start)
		}
	}
	latest := max(first.end, due+first.interval)
	for _, e := range h.lost(throttle, key) {
		if e.start < first.end && e.end > since {
			latest += e.interval
		}
	}
	return latest
}
