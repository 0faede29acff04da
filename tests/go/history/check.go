package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gwsql/gw/internal/pgtest"
)

// rule is a rule of the queue that the checks test.
type rule string

const (
	noRequestIsLost      rule = "rule 1: no request is lost"
	aLeaseIsOneClaim     rule = "rule 2: a lease is one claim"
	deadStaysDead        rule = "rule 3: a replaced job stays dead"
	aQueueIsSerial       rule = "rule 4: a named queue is serial"
	aLimitHolds          rule = "no more jobs of a lane run at once than its limit"
	urgentFirst          rule = "rule 5: order is priority, run_at, id"
	nothingIsPassedBy    rule = "a claim takes what is due"
	nothingRunsTwice     rule = "nothing runs twice without a crash or an expiry"
	noJobVanishes        rule = "no job vanishes or stays behind"
	runAtIsKept          rule = "no job is claimed before its run_at"
	onceIsOnce           rule = "once: all calls within the interval have one job"
	debounceWaits        rule = "debounce: a job waits for the last call, but not for longer than max_wait"
	throttleSpaces       rule = "throttle: jobs are due the interval apart, and calls do not move them"
	backoffIsKept        rule = "debounce and throttle: no call shortens a back-off"
	failuresLeaveNothing rule = "a handler that fails in a transaction leaves nothing"
	everyCallIsPolite    rule = "no deadlock, and no error but those that are allowed"
)

// violation is a broken rule, with the events that show it.
type violation struct {
	rule   rule
	what   string
	events []*event
	job    int64 // the job concerned, 0 if none
}

func (v violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", v.rule, v.what)
	for _, e := range v.events {
		fmt.Fprintf(&b, "\n    %s", e)
	}
	return b.String()
}

// verdict is the violations of a history, and how many claims could be checked for their order.
type verdict struct {
	violations []violation
	waits      int // periods in which a job certainly could be claimed
	excused    map[exception]int
	judged     int // claims during such periods, without interference by calls whose answer is not known
}

// check checks a history, during which there were these limits, and the tables at its end.
func check(events []*event, end final, limits ...pgtest.Limit) verdict {
	h := newIndex(events, end)
	h.limits = limits
	v := checkOrder(h)
	v.violations = slices.Concat(
		checkRequests(h), checkLeases(h), checkRuns(h), checkDead(h), checkLanes(h), v.violations, checkEnds(h),
		checkAnswers(h),
		checkRunAt(h), checkEffects(h), checkDecisions(h), checkOnce(h), checkDebounce(h), checkThrottle(h))
	v.excused = map[exception]int{}
	v.violations = slices.DeleteFunc(v.violations, func(wrong violation) bool {
		because := excuse(h, wrong)
		if because != "" {
			v.excused[because]++
		}
		return because != ""
	})
	return v
}
