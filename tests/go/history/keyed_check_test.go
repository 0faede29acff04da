package history

import (
	"slices"
	"testing"
)

// call is a call of once, debounce or throttle that has made this revision of a job with the key k, due at this time.
// The interval is 100, max_wait 150 (debounce).
func call(how kind, id int64, revision int, start, end, due micros) *event {
	e := addedAs(id, revision, int64(revision)+10*id, start, end)
	e.kind, e.specs[0].mode, e.interval = how, string(how), 100
	if how == debounce {
		e.maxWait = 150
	}
	e.rows[0].runAt = due
	e.decided = decision{id: id, state: "ready", dueAt: due, revision: revision, isNew: revision == 0}
	return e
}

// returned is a call of once that has returned an earlier call's job.
func returned(id int64, state string, start, end micros) *event {
	e := call(once, id, 0, start, end, 0)
	e.rows, e.decided = nil, decision{id: id, state: state}
	return e
}

// ran is a claim of a revision of a job, and its completion.
func ran(id int64, revision int, due, start micros) []*event {
	return []*event{
		claimBy("a", start, start+1, row{id: id, key: "k", revision: revision, numbers: []int64{int64(revision) +
			10*id}, runAt: due}),
		ended(complete, "a", id, start, start+2, start+3, true),
	}
}

// broke is a claim of a revision of a job that fails and is tried again at a time.
func broke(id int64, revision int, due, start, again micros) []*event {
	events := ran(id, revision, due, start)
	events[1].kind, events[1].retryAt = fail, map[int64]micros{id: again}
	return events
}

func TestCallsThatDecideByAKeyAreJudgedByTheRules(t *testing.T) {
	lost := func(how kind, start, end micros) *event {
		return &event{kind: how, keys: []string{"k"}, code: unknown, start: start, end: end, interval: 100,
			maxWait: 150}
	}
	for _, c := range []struct {
		name   string
		events []*event
		then   []*event
		want   rule // none if empty
	}{
		{name: "once: the first job is returned",
			events: []*event{call(once, 7, 0, 10, 20, 15), returned(7, "ready", 30, 40)}, then: ran(7, 0, 15, 50)},
		{name: "once: the first job is returned after it has gone",
			events: append(ran(7, 0, 15, 50), call(once, 7, 0, 10, 20, 15), returned(7, "gone", 60, 65))},
		{name: "once: a job is not gone", want: onceIsOnce,
			events: append(ran(7, 0, 15, 50), call(once, 7, 0, 10, 20, 15), returned(7, "gone", 30, 40))},
		{name: "once: a job is gone", want: onceIsOnce,
			events: append(ran(7, 0, 15, 50), call(once, 7, 0, 10, 20, 15), returned(7, "running", 60, 65))},
		{name: "once: a call after the interval adds another job",
			events: append(ran(7, 0, 15, 50), call(once, 7, 0, 10, 20, 15), call(once, 8, 0, 105, 111, 110)),
			then:   ran(8, 0, 110, 120)},
		{name: "once: a call within the interval adds another job", want: onceIsOnce,
			events: append(ran(7, 0, 15, 50), call(once, 7, 0, 10, 20, 15), call(once, 8, 0, 100, 109, 105)),
			then:   ran(8, 0, 105, 120)},
		{name: "once: two calls at once add one job", want: onceIsOnce,
			events: []*event{call(once, 7, 0, 10, 20, 15), call(once, 7, 1, 12, 22, 16)}, then: ran(7, 1, 16, 50)},
		{name: "once: the job of a call is returned after the interval", want: onceIsOnce,
			events: append(ran(7, 0, 15, 50), call(once, 7, 0, 10, 20, 15), returned(7, "gone", 120, 130))},
		{name: "once: a job that no call has added is returned", want: onceIsOnce,
			events: []*event{added7(), returned(7, "ready", 22, 25)}, then: ran(7, 0, 10, 50)[:0]},
		{name: "once: a job that a call without an answer may have added is returned",
			events: []*event{lost(once, 8, 30), added7(), returned(7, "running", 31, 35)},
			then:   []*event{claimBy("a", 40, 41, job7()), ended(complete, "a", 7, 40, 42, 43, true)}},
		{name: "once: another job is returned", want: onceIsOnce,
			events: []*event{call(once, 7, 0, 10, 20, 15), lost(once, 8, 30), returned(6, "gone", 31, 35)},
			then:   ran(7, 0, 15, 50)},

		{name: "debounce: two calls",
			events: []*event{call(debounce, 7, 0, 10, 20, 115), call(debounce, 7, 1, 30, 40, 135)},
			then:   ran(7, 1, 135, 140)},
		{name: "debounce: too early", want: debounceWaits,
			events: []*event{call(debounce, 7, 0, 10, 20, 109)}, then: ran(7, 0, 109, 140)},
		{name: "debounce: too late", want: debounceWaits,
			events: []*event{call(debounce, 7, 0, 10, 20, 121)}, then: ran(7, 0, 121, 140)},
		{name: "debounce: no later than max_wait",
			events: []*event{call(debounce, 7, 0, 10, 20, 115), call(debounce, 7, 1, 80, 90, 165)},
			then:   ran(7, 1, 165, 190)},
		{name: "debounce: later than max_wait", want: debounceWaits,
			events: []*event{call(debounce, 7, 0, 10, 20, 115), call(debounce, 7, 1, 80, 90, 185)},
			then:   ran(7, 1, 185, 190)},
		{name: "debounce: max_wait counts from the first call since a failure",
			events: append(broke(7, 0, 115, 120, 125), call(debounce, 7, 0, 10, 20, 115),
				call(debounce, 7, 1, 130, 140, 235)),
			then: ran(7, 1, 235, 250)},
		{name: "debounce: max_wait counts from before a failure", want: debounceWaits,
			events: append(broke(7, 0, 115, 120, 125), call(debounce, 7, 0, 10, 20, 115),
				call(debounce, 7, 1, 130, 140, 165)),
			then: ran(7, 1, 165, 250)},
		{name: "debounce: a back-off is kept",
			events: append(broke(7, 0, 115, 120, 500), call(debounce, 7, 0, 10, 20, 115),
				call(debounce, 7, 1, 130, 140, 500)),
			then: ran(7, 1, 500, 550)},
		{name: "debounce: a back-off is shortened", want: backoffIsKept,
			events: append(broke(7, 0, 115, 120, 500), call(debounce, 7, 0, 10, 20, 115),
				call(debounce, 7, 1, 130, 140, 235)),
			then: ran(7, 1, 235, 550)},
		{name: "debounce: a later call shortens a back-off", want: backoffIsKept,
			events: append(broke(7, 0, 115, 120, 500), call(debounce, 7, 0, 10, 20, 115),
				call(debounce, 7, 1, 130, 140, 500),
				call(debounce, 7, 2, 150, 160, 255)),
			then: ran(7, 2, 255, 550)},
		{name: "debounce: max_wait may count from a call without an answer",
			events: []*event{lost(debounce, 10, 20), call(debounce, 7, 1, 80, 90, 165)}, then: ran(7, 1, 165, 190)},

		{name: "throttle: the second job is due the interval after the first",
			events: append(ran(7, 0, 15, 20), call(throttle, 7, 0, 10, 18, 15), call(throttle, 8, 0, 30, 40, 115)),
			then:   ran(8, 0, 115, 120)},
		{name: "throttle: the second job is due too early", want: throttleSpaces,
			events: append(ran(7, 0, 15, 20), call(throttle, 7, 0, 10, 18, 15), call(throttle, 8, 0, 30, 40, 114)),
			then:   ran(8, 0, 114, 120)},
		{name: "throttle: the second job is due too late", want: throttleSpaces,
			events: append(ran(7, 0, 15, 20), call(throttle, 7, 0, 10, 18, 15), call(throttle, 8, 0, 30, 40, 116)),
			then:   ran(8, 0, 116, 120)},
		{name: "throttle: a call without an answer may have put the second job off",
			events: append(ran(7, 0, 15, 20), call(throttle, 7, 0, 10, 18, 15), lost(throttle, 25, 28),
				call(throttle, 8, 0, 30, 40, 215)),
			then: ran(8, 0, 215, 220)},
		{name: "throttle: a job is due before it is added", want: throttleSpaces,
			events: []*event{call(throttle, 7, 0, 10, 18, 9)}, then: ran(7, 0, 9, 20)},
		{name: "throttle: a call keeps the run_at",
			events: []*event{call(throttle, 7, 0, 10, 18, 15), call(throttle, 7, 1, 20, 28, 15)},
			then:   ran(7, 1, 15, 30)},
		{name: "throttle: a call moves the job", want: throttleSpaces,
			events: []*event{call(throttle, 7, 0, 10, 18, 15), call(throttle, 7, 1, 20, 28, 25)},
			then:   ran(7, 1, 25, 30)},
		{name: "throttle: a back-off is kept",
			events: append(broke(7, 0, 15, 20, 500), call(throttle, 7, 0, 10, 18, 15),
				call(throttle, 7, 1, 30, 40, 500)),
			then: ran(7, 1, 500, 510)},
		{name: "throttle: a back-off is shortened", want: backoffIsKept,
			events: append(broke(7, 0, 15, 20, 500), call(throttle, 7, 0, 10, 18, 15),
				call(throttle, 7, 1, 30, 40, 35)),
			then: ran(7, 1, 35, 510)},
		{name: "throttle: the interval counts from a back-off", want: throttleSpaces,
			events: slices.Concat(broke(7, 0, 15, 20, 500), ran(7, 1, 500, 510), []*event{
				call(throttle, 7, 0, 10, 18, 15), call(throttle, 7, 1, 30, 40, 500),
				call(throttle, 8, 0, 520, 530, 525)}),
			then: ran(8, 0, 525, 530)},

		{name: "a job is claimed before its run_at", want: runAtIsKept,
			events: []*event{call(throttle, 7, 0, 10, 18, 15)}, then: ran(7, 0, 32, 30)},
		{name: "the answer is about another revision", want: throttleSpaces,
			events: []*event{func() *event {
				e := call(throttle, 7, 0, 10, 18,
					15)
				e.decided.revision = 1
				return e
			}()},
			then: ran(7, 0, 15, 30)},
	} {
		t.Run(c.name, func(t *testing.T) {
			violations := check(slices.Concat(c.events, c.then), final{}).violations
			if c.want == "" && len(violations) > 0 {
				t.Errorf("want no violation, got: %v", violations)
			}
			if c.want != "" && !slices.ContainsFunc(violations, func(v violation) bool { return v.rule == c.want }) {
				t.Errorf("want %q, got %v", c.want, violations)
			}
		})
	}
}
