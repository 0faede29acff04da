package history

import (
	"fmt"
	"slices"
)

// checkDebounce checks that a call of debounce puts its job off by wait, but at most by max_wait from the first such
// call since the job has last started, or until the time of its next attempt if it has failed.
func checkDebounce(h *index) (found []violation) {
	for _, chains := range h.chains(debounce) {
		for _, c := range chains {
			since := &series{job: c.job}
			report := func(rule rule, difference micros, than string) {
				what := fmt.Sprintf("job %d is due %d us %s", c.job.id, difference, than)
				found = append(found, violation{rule, what, since.events(), c.job.id})
			}
			for i, e := range c.calls {
				since.add(e, i)
				switch due := e.decided.dueAt; {
				case due < since.earliest():
					report(debounceWaits, since.earliest()-due, "too early")
				case due > since.latest():
					report(debounceWaits, due-since.latest(), "too late")
				case due < since.backoff:
					report(backoffIsKept, since.backoff-due, "before its next attempt")
				}
			}
		}
	}
	return found
}

// series is the calls of debounce about a job since it has last started. Whether it has started between two calls is
// not always
// known: a worker may have returned it, or an administrator or another request reset its attempts, which then counts as
// if it had not.
type series struct {
	job      *job
	call     *event // the last one
	previous *event // the one before, nil if there is none
	first    *event // at the latest: each claim counts as a start
	surely   *event // at the earliest: only certain starts count; nil if a call without an answer may have been the first
	backoff  micros // for which the job certainly waits since, or 0
}

func (s *series) add(call *event, number int) {
	s.previous, s.call = s.call, call
	backoff := s.job.backoff(call)
	isFirst := number == 0 && s.job.isFirst(call)
	if number == 0 || len(s.job.claimsIn(s.previous.decided.revision, call.decided.revision)) > 0 {
		s.first, s.backoff = call, 0
	}
	if isFirst || backoff > 0 {
		s.surely = call
	}
	if s.previous != nil && s.job.isActedOn(s.previous.start, call.end) {
		s.backoff = 0
	}
	s.backoff = max(s.backoff, backoff)
}

// earliest returns the earliest due time that is allowed.
func (s *series) earliest() micros {
	due := s.call.start + s.call.interval
	switch {
	case s.call.maxWait == 0:
		return due
	case s.surely == nil:
		return 0
	}
	return min(due, s.surely.start+s.call.maxWait)
}

// latest returns the latest due time that is allowed; never if the job may have failed and the time of its next attempt
// is not known.
func (s *series) latest() micros {
	due := s.call.end + s.call.interval
	if s.call.maxWait != 0 {
		due = min(due, s.first.end+s.call.maxWait)
	}
	for _, c := range s.job.claimsIn(0, s.call.decided.revision) {
		failed := c.failure()
		if failed == nil || slices.ContainsFunc(s.job.acts, func(e *event) bool { return e.start < s.call.end }) {
			return never
		}
		due = max(due, failed.retryAt[s.job.id])
	}
	return due
}

func (s *series) events() []*event {
	var events []*event
	for _, e := range []*event{s.surely, s.first, s.previous, s.call} {
		if e != nil && !slices.Contains(events, e) {
			events = append(events, e)
		}
	}
	return events
}
