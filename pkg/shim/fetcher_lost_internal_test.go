package shim

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

// newIdle returns a fetcher without a database.
func newIdle(q *queries) *fetcher {
	tasks := &atomic.Pointer[taskSet]{}
	tasks.Store(newTaskSet(map[string]taskEntry{"task": {}, "drop": {}}))
	f := newFetcher(&intake{
		loop:     loop{queries: q, logger: slog.New(slog.DiscardHandler)},
		tasks:    tasks,
		backlog:  newBacklog(ration.New(1, 0)),
		outcomes: make(chan outcome, 2*ration.MaxAhead),
		sleep:    newSleep(q, time.Hour, false),
	})
	f.notices, f.advice, f.timer = newNotices(), newAdviceBox(), time.NewTimer(time.Hour)
	return f
}

// The first connection may break before the fetcher has received its signal; then it receives one signal for both.
func TestOfTwoListeningConnectionsTheSecondIsNotTakenForTheFirst(t *testing.T) {
	f := newIdle(nil)
	f.notices.listens.set()
	f.wait(t.Context(), time.Time{})
	if f.lost.pending() {
		t.Error("the first is taken for another")
	}
	f.notices.listens.set()
	f.notices.anew.Store(true)
	f.notices.listens.set()
	f.wait(t.Context(), time.Time{})
	if !f.lost.pending() {
		t.Error("the second is taken for the first")
	}
}

func TestClaimsWithoutAnAnswerAreCheckedTwice(t *testing.T) {
	l := &lostClaims{intake: &intake{news: news{unanswered: true}}}
	now := time.Now()
	for _, c := range []struct {
		at             time.Time
		ready, pending bool
	}{
		{now, true, true},
		{now.Add(time.Second), false, true},
		{now.Add(callTimeout), true, true},
		{now.Add(time.Hour), false, false},
	} {
		l.tick(c.at)
		if ready := l.ready(); ready != c.ready || l.pending() != c.pending {
			t.Errorf("after %s it is ready: %t, pending: %t", c.at.Sub(now), ready, l.pending())
		}
		l.now = false // it has run
	}
}
