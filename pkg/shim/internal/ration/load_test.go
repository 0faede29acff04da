package ration

import (
	"testing"
	"time"
)

func TestAClaimAsksForNoMoreJobsThanItMayBringBytes(t *testing.T) {
	var l load
	const plenty = 1 << 40
	if got := l.fit(1000, 1, plenty); got != 1000 {
		t.Errorf("%d jobs of a size that is not known, want 1000", got)
	}
	for _, c := range []struct {
		bytes int64
		want  int
	}{{100, 1000}, {8 << 10, 1000}, {1 << 20, 8}, {100 << 20, 1}} {
		l.arrived(3, 3*c.bytes, time.Millisecond)
		if got := l.fit(1000, 1, plenty); got != c.want {
			t.Errorf("%d jobs of %d bytes, want %d", got, c.bytes, c.want)
		}
	}
	for range 30 {
		l.arrived(1, 100, time.Millisecond)
	}
	if got := l.fit(1000, 1, plenty); got != 1000 {
		t.Errorf("%d jobs after many small ones, want 1000", got)
	}
}

func TestAClaimThatFailsOrComesLateHalvesTheNextAndTimelyOnesDoubleThem(t *testing.T) {
	var l load
	expect := func(want int64) {
		t.Helper()
		if got := l.limit(); got != want {
			t.Errorf("a claim may bring %d bytes, want %d", got, want)
		}
	}
	const large = maxClaimBytes
	l.Overdue()
	expect(maxClaimBytes / 2)
	l.arrived(1, large, lateClaim+1)
	expect(maxClaimBytes / 4)
	l.arrived(1, large, lateClaim/2)
	expect(maxClaimBytes / 4)
	l.arrived(1, 10, time.Millisecond) // too small to tell
	expect(maxClaimBytes / 4)
	l.arrived(1, large, lateClaim/4-1)
	expect(maxClaimBytes / 2)
	l.arrived(1, large, time.Millisecond)
	l.arrived(1, large, time.Millisecond)
	expect(maxClaimBytes)
	for range 100 {
		l.Overdue()
	}
	expect(64 << 10)
}

func TestBeyondOneForEachExecutorOnlySoManyBytesAreHeld(t *testing.T) {
	l := load{size: 1 << 20}
	for _, c := range []struct {
		idle int
		room int64
		want int
	}{
		{0, maxHeldBytes, 8},
		{0, 4 << 20, 4},
		{0, 3 << 20, 0}, // worth no claim
		{2, 3 << 20, 2}, // but executors must not wait for it
		{-5, 3 << 20, 0},
		{3, -100 << 20, 3},
		{100, -100 << 20, 8},
	} {
		if got := l.fit(1000, c.idle, c.room); got != c.want {
			t.Errorf("%d executors idle and room for %d bytes: %d jobs, want %d", c.idle, c.room, got, c.want)
		}
	}
}
