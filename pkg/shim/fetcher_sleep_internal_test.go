package shim

import (
	"math"
	"testing"
	"time"
)

func TestOldTransactionsAreLookedAtSeldom(t *testing.T) {
	for _, c := range []struct{ age, pause time.Duration }{
		{0, 200 * time.Microsecond},
		{4 * time.Millisecond, time.Millisecond},
		{50 * time.Millisecond, 2 * time.Millisecond},
		{400 * time.Millisecond, 2 * time.Millisecond},
		{3 * time.Second, 15 * time.Millisecond},
		{time.Hour, 18 * time.Second},
	} {
		if got := pauseAt(c.age); got != c.pause {
			t.Errorf("at the age of %s the pause is %s, want %s", c.age, got, c.pause)
		}
	}
	s := &sleep{pollInterval: 2 * time.Second}
	first := time.Now().Add(-time.Hour)
	s.inFlight = map[int64]time.Time{1: first}
	pause := func(transactions ...int64) time.Duration {
		s.expect(transactions)
		return time.Until(s.lookAt).Round(100 * time.Millisecond)
	}
	if got := pause(1); got != 2*time.Second {
		t.Errorf("an old transaction is looked at after %s, want the poll interval", got)
	}
	if got := pause(1, 2); got != 0 {
		t.Errorf("beside a new one, it is looked at after %s, want at once", got)
	}
	if got := pause(1); got != 2*time.Second {
		t.Errorf("when the new one has ended, it is looked at after %s, want the poll interval", got)
	}
}

func TestAnEndlessPollIntervalIsADay(t *testing.T) {
	c, err := Config{PollInterval: math.MaxInt64}.completed()
	if err != nil || c.PollInterval != 24*time.Hour {
		t.Fatalf("the poll interval is %s, %v", c.PollInterval, err)
	}
	if s := newSleep(nil, c.PollInterval, true); s.lasting != 4*24*time.Hour {
		t.Errorf("a mark lasts for %s", s.lasting)
	}
}
