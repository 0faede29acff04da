package shim

import (
	"sync"
	"sync/atomic"
	"time"
)

// waitingCalls are the waiting calls of a client.
type waitingCalls struct {
	mu        sync.Mutex
	calls     map[*waiter]bool
	newcomers map[int64]bool // jobs of calls that joined since the last query
	told      map[int64]bool // jobs whose ends were notified since the last query
	looking   bool
	joined    signal
	heard     signal
	hears     atomic.Bool // notifications arrive
}

func newWaits() *waitingCalls {
	return &waitingCalls{
		calls: make(map[*waiter]bool), newcomers: make(map[int64]bool), told: make(map[int64]bool), joined: newSignal(),
		heard: newSignal(),
	}
}

// waiter is a call that waits.
type waiter struct {
	id    int64
	since time.Time
	ended chan waitEnd
}

type waitEnd struct {
	id        int64
	state     string
	lastError string
	result    *string
	err       error
}
