package ration

import (
	"testing"
	"time"
)

// learned returns a pace after many handlers of one duration, with claims that were always filled.
func learned(concurrency int, d time.Duration) *pace {
	p := &pace{concurrency: concurrency}
	for range 100 {
		p.Ended(d)
		p.Filled()
	}
	return p
}

func TestAheadOfTheExecutorsIsWorkForATenthOfASecond(t *testing.T) {
	for _, c := range []struct {
		concurrency int
		duration    time.Duration
		ahead       int
	}{
		{1, time.Microsecond, 3000},
		{1, 10 * time.Millisecond, 10},
		{10, 10 * time.Millisecond, 100},
		{200, 10 * time.Millisecond, 2000},
		{10, 50 * time.Millisecond, 0},
		{10, time.Hour, 0},
	} {
		if got := learned(c.concurrency, c.duration).ahead; got != c.ahead {
			t.Errorf("%d executors, handlers of %s: %d ahead, want %d", c.concurrency, c.duration, got, c.ahead)
		}
	}
}

func TestNothingIsClaimedAheadBeforeHandlersAreKnownToBeShort(t *testing.T) {
	p := &pace{concurrency: 4}
	p.Filled()
	if got := p.want(0, false); got != 4 {
		t.Errorf("the first claims are of %d jobs, want 4", got)
	}
	p.Ended(time.Microsecond)
	for _, want := range []int{4, 8, 16} {
		p.Filled()
		if p.ahead != want {
			t.Errorf("%d ahead after another filled claim, want %d", p.ahead, want)
		}
	}
}

func TestNothingIsClaimedAheadOfARate(t *testing.T) {
	p := learned(10, time.Millisecond)
	p.StartAtOnce(true)
	p.Filled()
	if p.ahead != 0 || p.want(9, false) != 1 || p.want(10, false) != 0 {
		t.Errorf("%d ahead", p.ahead)
	}
}

func TestOneLongHandlerEndsClaimingAhead(t *testing.T) {
	p := learned(1, time.Millisecond)
	p.Ended(time.Second)
	if p.ahead != 0 || p.want(1, false) != 0 || p.want(0, false) != 1 {
		t.Errorf("%d ahead", p.ahead)
	}
	p = learned(1, time.Millisecond)
	p.Stalled()
	p.Filled()
	if p.ahead != 0 {
		t.Errorf("%d ahead after a stall", p.ahead)
	}
}

func TestLongHandlersAreClaimedAheadWhileClaimsTakeLongerStill(t *testing.T) {
	p := learned(8, 100*time.Millisecond)
	for claim, want := range map[time.Duration]int{time.Millisecond: 0, 100 * time.Millisecond: 0,
		500 * time.Millisecond: 8} {
		p.ahead, p.claim = 0, claim
		if p.Filled(); p.ahead != want {
			t.Errorf("%d ahead where a claim takes %v, want %d", p.ahead, claim, want)
		}
	}
}

func TestClaimsOfShortJobsWaitUntilTheyAreLarge(t *testing.T) {
	p := learned(1, 5*time.Millisecond) // 20 ahead
	for busy, want := range map[int]int{21: 0, 12: 0, 11: 10, 1: 20, 0: 21} {
		if got := p.want(busy, false); got != want {
			t.Errorf("with %d busy, %d are wanted, want %d", busy, got, want)
		}
	}
}
