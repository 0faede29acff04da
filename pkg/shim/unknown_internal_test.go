package shim

import (
	"sync/atomic"
	"testing"
	"time"
)

// The first connection may break before the fetcher has received its signal; then it receives one signal for both.
func TestOfTwoListeningConnectionsTheSecondIsNotTakenForTheFirst(t *testing.T) {
	f := &fetcher{
		listens: newSignal(), anew: new(atomic.Bool), backlog: newBacklog(1), sleep: &sleep{},
		poll: time.NewTimer(time.Hour), stale: time.NewTimer(time.Hour),
	}
	f.listens.set()
	f.wait(t.Context())
	if f.unsure.now {
		t.Error("the first is taken for another")
	}
	f.listens.set()
	f.anew.Store(true)
	f.listens.set()
	f.wait(t.Context())
	if !f.unsure.now {
		t.Error("the second is taken for the first")
	}
}
