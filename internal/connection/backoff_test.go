package connection

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoffDoublesUpToItsCapWithJitterAndStartsAnew(t *testing.T) {
	var b Backoff
	for range 2 {
		ceiling := 100 * time.Millisecond
		for range 20 {
			if d := b.Next(); d < ceiling/2 || d > ceiling {
				t.Errorf("delay is %s, want between %s and %s", d, ceiling/2, ceiling)
			}
			ceiling = min(2*ceiling, 5*time.Second)
		}
		b.Reset()
	}
}

func TestBackoffWaitsNoLongerThanItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := Backoff{ceiling: time.Hour}
	if b.Wait(ctx) {
		t.Error("it waited")
	}
}

// The outage is long enough for every back-off to have reached its ceiling. The time is that of a bubble of synctest.
func TestAHundredWorkersAreBackWithinFiveSecondsAndNotAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, outage = 100, time.Minute
		back := time.Now().Add(outage)
		arrivals := make(chan time.Duration, workers)
		for range workers {
			go func() {
				var b Backoff
				for time.Now().Before(back) {
					b.Wait(t.Context())
				}
				arrivals <- time.Since(back)
			}()
		}

		tenths := make(map[time.Duration]int)
		for range workers {
			late := <-arrivals
			if late > 5*time.Second {
				t.Errorf("a worker was back %s after the server", late)
			}
			tenths[late/(100*time.Millisecond)]++
		}
		for tenth, n := range tenths {
			if n > workers/5 {
				t.Errorf("%d workers came within the same tenth of a second, %s after the server", n,
					tenth*100*time.Millisecond)
			}
		}
	})
}
