package shim

import (
	"context"
	"testing"
	"time"
)

func TestBackoffDoublesUpToItsCapWithJitterAndStartsAnew(t *testing.T) {
	var b backoff
	for range 2 {
		ceiling := 100 * time.Millisecond
		for range 20 {
			if d := b.next(); d < ceiling/2 || d > ceiling {
				t.Errorf("delay is %s, want between %s and %s", d, ceiling/2, ceiling)
			}
			ceiling = min(2*ceiling, 30*time.Second)
		}
		b.reset()
	}
}

func TestBackoffWaitsNoLongerThanItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := backoff{ceiling: time.Hour}
	if b.wait(ctx) {
		t.Error("it waited")
	}
}
