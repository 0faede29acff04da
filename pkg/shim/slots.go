package shim

import (
	"sync"
	"sync/atomic"
	"time"
)

// Slots are job slots that several workers of one process share, each with a database of its own: together they run at most
// so many jobs at once. Workers that wait for a slot get one in turn.
//
// A worker is a visitor if its Config.Visitor is set: it claims only while no other worker that shares the slots has jobs to
// claim, and never more jobs than there are free slots.
type Slots struct {
	free chan struct{} // a value for each free slot

	mu      sync.Mutex
	sharers map[*sharer]bool
}

// NewSlots returns n slots, at least one. Set them as Config.Slots of each worker.
func NewSlots(n int) *Slots {
	s := &Slots{free: make(chan struct{}, max(n, 1)), sharers: make(map[*sharer]bool)}
	for range cap(s.free) {
		s.free <- struct{}{}
	}
	return s
}

// sharer is a running worker that shares slots. The methods of a nil sharer are those of a worker that does not.
type sharer struct {
	slots   *Slots
	visits  *atomic.Bool // of the worker
	slack   signal
	running atomic.Int64 // slots in use
	idle    atomic.Bool  // there are no jobs to claim
	wants   atomic.Bool  // there may be, but no free slot, or another worker has jobs
}

// join returns a sharer for a worker, until leave. slack is set when it may claim again.
func (s *Slots) join(slack signal, visits *atomic.Bool) *sharer {
	if s == nil {
		return nil
	}
	h := &sharer{slots: s, visits: visits, slack: slack}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sharers[h] = true
	return h
}

func (h *sharer) leave() {
	if h == nil {
		return
	}
	h.slots.mu.Lock()
	delete(h.slots.sharers, h)
	h.slots.mu.Unlock()
	h.slots.tell()
}

// acquire waits for a slot. It returns false if done is closed first, or if that takes so long that the job should be returned.
func (h *sharer) acquire(done <-chan struct{}) bool {
	if h == nil {
		return true
	}
	select {
	case <-h.slots.free:
	default:
		timer := time.NewTimer(maxWait)
		defer timer.Stop()
		select {
		case <-h.slots.free:
		case <-done:
			return false
		case <-timer.C:
			return false
		}
	}
	h.running.Add(1)
	return true
}

func (h *sharer) mayVisit() bool { return h == nil || !h.visits.Load() || h.slots.areHomesIdle() }

func (h *sharer) release() {
	if h == nil {
		return
	}
	h.running.Add(-1)
	h.slots.free <- struct{}{}
	h.slots.tell()
}

// tell wakes the workers that want to claim.
func (s *Slots) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.sharers {
		if h.wants.Load() {
			h.slack.set()
		}
	}
}

// usedByOthers returns how many slots other workers use.
func (h *sharer) usedByOthers() int {
	if h == nil {
		return 0
	}
	return max(cap(h.slots.free)-len(h.slots.free)-int(h.running.Load()), 0)
}

// fit returns how many of n jobs to claim while waiting jobs wait for a slot.
func (h *sharer) fit(n, waiting int) int {
	if h == nil || !h.visits.Load() {
		return n
	}
	if !h.mayVisit() {
		return 0
	}
	return max(min(n, len(h.slots.free)-waiting), 0)
}

func (s *Slots) areHomesIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.sharers {
		if !h.visits.Load() && !h.idle.Load() {
			return false
		}
	}
	return true
}

// note records before each turn of the fetcher whether there may be jobs to claim, and whether it has room for them.
func (h *sharer) note(look, hasRoom bool) {
	if h == nil {
		return
	}
	h.wants.Store(look && !hasRoom)
	if idle := !look; h.idle.Swap(idle) != idle && idle {
		h.slots.tell()
	}
}

// SetVisitor changes whether the worker is a visitor, see Config.Visitor.
func (w *Worker) SetVisitor(is bool) {
	if w.visits.Swap(is) != is && w.cfg.Slots != nil {
		w.cfg.Slots.tell()
	}
}
