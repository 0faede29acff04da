package history

import (
	"cmp"
	"fmt"
	"slices"
)

// checkDecisions checks that the answer of a call of once, debounce or throttle describes the job that it has added or
// replaced.
func checkDecisions(h *index) (found []violation) {
	for k, rule := range map[kind]rule{once: onceIsOnce, debounce: debounceWaits, throttle: throttleSpaces} {
		for _, events := range h.decided[k] {
			for _, e := range events {
				d := e.decided
				for _, r := range e.rows {
					if d.id != r.id || d.dueAt != r.runAt || d.revision != r.revision || d.isNew != (r.revision == 0) {
						what := fmt.Sprintf("the answer does not describe job %d", r.id)
						found = append(found, violation{rule, what, []*event{e}, r.id})
					}
				}
			}
		}
	}
	return found
}

// checkRunAt checks that a claim takes only jobs that are due when it ends.
func checkRunAt(h *index) (found []violation) {
	for _, c := range h.claims {
		if c.row.runAt > c.event.end {
			what := fmt.Sprintf("job %d was claimed too early", c.row.id)
			found = append(found, violation{runAtIsKept, what, []*event{c.event}, c.row.id})
		}
	}
	return found
}

// chain is the calls of debounce or throttle that have added or replaced one job. Each has made a revision of the job,
// so their order is known although they may have overlapped.
type chain struct {
	job   *job
	calls []*event
}

// chains returns the chains of a kind, by key.
func (h *index) chains(k kind) map[string][]chain {
	all := map[string][]chain{}
	for key, events := range h.decided[k] {
		byJob := map[int64][]*event{}
		for _, e := range events {
			byJob[e.decided.id] = append(byJob[e.decided.id], e)
		}
		for id, calls := range byJob {
			slices.SortFunc(calls, func(a, b *event) int { return cmp.Compare(a.decided.revision, b.decided.revision) })
			all[key] = append(all[key], chain{h.jobs[id], calls})
		}
	}
	return all
}

// claimsIn returns the claims of a job at these revisions: those that came after the call that made revision from, and
// before the call that made revision to.
func (j *job) claimsIn(from, to int) (claims []*claimed) {
	for _, c := range j.claims {
		if c.row.revision >= from && c.row.revision < to {
			claims = append(claims, c)
		}
	}
	return claims
}

// isActedOn reports whether an administrator or remove_job may have acted on the job between two times.
func (j *job) isActedOn(from, to micros) bool {
	return slices.ContainsFunc(j.acts, func(e *event) bool { return e.end > from && e.start < to })
}

// backoff returns the time of the next attempt for which the job certainly waited when a call replaced it, and 0 if it
// is not certain that the job had failed, or for how long it was put off: the last claim of the revision before that of
// the call has failed, and nothing else changed the job until the call.
func (j *job) backoff(call *event) micros {
	claims := j.claimsIn(call.decided.revision-1, call.decided.revision)
	if len(claims) == 0 {
		return 0
	}
	failed := claims[len(claims)-1].failure()
	if failed == nil || j.isActedOn(failed.start, call.end) {
		return 0
	}
	return failed.retryAt[j.id]
}

// failure returns the call that has certainly failed the claim, nil if there is none.
func (c *claimed) failure() *event {
	for e := range c.outcomes {
		if e.kind == fail && e.acted() {
			return e
		}
	}
	return nil
}

// isFirst reports whether a call is certainly the first of its kind about a job: all earlier revisions were made by
// other calls.
func (j *job) isFirst(call *event) bool {
	known := 0
	for _, a := range j.adds {
		if a.row.revision < call.decided.revision && a.event.kind != call.kind {
			known++
		}
	}
	return known == call.decided.revision
}

// lost returns the calls of a kind under a key without an answer, which may have had an effect.
func (h *index) lost(k kind, key string) (calls []*event) {
	for _, e := range h.strays[key] {
		if e.kind == k {
			calls = append(calls, e)
		}
	}
	return calls
}
