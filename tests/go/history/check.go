package history

import (
	"fmt"
	"slices"
	"strings"
)

// rule is one of those that the architecture gives a number, or another that goes without saying.
type rule string

const (
	noRequestIsLost   rule = "rule 1: no request is lost"
	aLeaseIsOneClaim  rule = "rule 2: a lease is one claim"
	deadStaysDead     rule = "rule 3: a replaced job stays dead"
	aQueueIsSerial    rule = "rule 4: a named queue is serial"
	urgentFirst       rule = "rule 5: order is priority, run_at, id"
	nothingIsPassedBy rule = "a claim takes what is due"
	nothingRunsTwice  rule = "nothing runs twice without a crash or an expiry"
	noJobVanishes     rule = "no job vanishes or stays behind"
	everyCallIsPolite rule = "no deadlock, and no error but those that are allowed"
)

// violation is a rule that a history breaks, and the events that show it.
type violation struct {
	rule   rule
	what   string
	events []*event
}

func (v violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", v.rule, v.what)
	for _, e := range v.events {
		fmt.Fprintf(&b, "\n    %s", e)
	}
	return b.String()
}

// check returns what is wrong with a history and the tables at its end.
func check(events []*event, end final) []violation {
	h := newIndex(events, end)
	return slices.Concat(
		checkRequests(h), checkLeases(h), checkRuns(h), checkDead(h), checkQueues(h), checkOrder(h), checkEnds(h), checkAnswers(h))
}
