package shim

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// backlog holds the jobs that are claimed and whose handlers have not returned. The fetcher adds jobs, the executors
// take them from the front.
type backlog struct {
	slack signal // more jobs are wanted

	mu      sync.Mutex
	come    sync.Cond // jobs were added, or the backlog was closed
	pace    pace
	waiting []*Job                // in the order in which they run; of each streak the first
	streaks map[*streak]struct{}  // those with more jobs
	busy    int                   // waiting or running
	busyOf  map[string]*taskCount // the same by task
	hasRoom bool                  // a full task has room again
	idle    int                   // executors that wait for a job
	closed  bool
}

func newBacklog(concurrency int) *backlog {
	b := &backlog{slack: newSignal(), pace: pace{concurrency: concurrency}}
	b.streaks = make(map[*streak]struct{})
	b.busyOf = make(map[string]*taskCount)
	b.come.L = &b.mu
	return b
}

// arrived records how long a claim took that returned jobs.
func (b *backlog) arrived(claim time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pace.claim = claim
}

// startAtOnce sets whether jobs are claimed only when an executor can start them.
func (b *backlog) startAtOnce(is bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pace.atOnce = is
	b.pace.ahead = min(b.pace.ahead, b.pace.fitting())
}

// add adds the jobs of a claim that asked for at most ofQueue jobs of each named queue. More urgent ones overtake jobs that are
// waiting already.
func (b *backlog) add(jobs []*Job, filled bool, ofQueue int) {
	heads, isCut := inStreaks(jobs, ofQueue)
	b.mu.Lock()
	defer b.mu.Unlock()
	inOrder := len(b.waiting) == 0 || runsBefore(b.waiting[len(b.waiting)-1], heads[0]) <= 0
	b.waiting = append(b.waiting, heads...)
	if !inOrder {
		slices.SortStableFunc(b.waiting, runsBefore)
	}
	for _, job := range heads {
		if job.hold.streak != nil {
			b.streaks[job.hold.streak] = struct{}{}
		}
	}
	b.enter(jobs)
	if filled || isCut && ofQueue != b.pace.queueBatch {
		b.pace.filled()
	}
	for range min(b.idle, len(heads)) {
		b.come.Signal()
	}
}

func runsBefore(a, b *Job) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID))
}

// next waits for a job to run; it returns nil after the backlog was closed.
func (b *backlog) next() *Job {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.waiting) == 0 {
		if b.closed {
			return nil
		}
		b.idle++
		if len(b.streaks) > 0 { // jobs that this executor could run are wanted
			b.slack.set()
		}
		b.come.Wait()
		b.idle--
	}
	job := b.waiting[0]
	b.waiting[0] = nil
	b.waiting = b.waiting[1:]
	return job
}

// more returns a job that next has returned, together with waiting jobs of the same task: at most most jobs, and at
// most this executor's share while others wait for jobs.
func (b *backlog) more(first *Job, most int) []*Job {
	b.mu.Lock()
	defer b.mu.Unlock()
	most = min(most, 1+len(b.waiting)/(b.idle+1))
	jobs := append(make([]*Job, 0, most), first)
	var passed []*Job // jobs of other tasks
	seen := 0
	for ; seen < len(b.waiting) && len(jobs) < most; seen++ {
		if job := b.waiting[seen]; job.TaskIdentifier == first.TaskIdentifier {
			jobs = append(jobs, job)
		} else {
			passed = append(passed, job)
		}
	}
	taken := seen - len(passed)
	copy(b.waiting[taken:], passed)
	clear(b.waiting[:taken])
	b.waiting = b.waiting[taken:]
	return jobs
}

// ended records a job that an executor has taken, and continues its streak if it goes on. Otherwise it returns the
// unstarted jobs of the streak, which are no longer in the backlog. A job that was not run does not count for the
// duration of handlers.
func (b *backlog) ended(o outcome) (unstarted []*Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o.started {
		b.pace.finished(o.duration)
	}
	unstarted = b.follow(o.job, o.goesOn())
	b.left(o.job)
	if b.hasRoom || b.pace.want(b.busy, b.starves()) > 0 {
		b.slack.set()
	}
	return unstarted
}

// follow puts the next job of a streak in its place, for this executor or a more urgent job's.
func (b *backlog) follow(job *Job, goesOn bool) (unstarted []*Job) {
	s := job.hold.streak
	if s == nil || len(s.rest) == 0 {
		return nil
	}
	if !goesOn || b.closed || s.broken.Load() {
		return b.breakUp(s)
	}
	next := s.rest[0]
	if s.rest = s.rest[1:]; len(s.rest) == 0 {
		delete(b.streaks, s)
	}
	at, _ := slices.BinarySearchFunc(b.waiting, next, runsBefore)
	b.waiting = slices.Insert(b.waiting, at, next)
	if len(b.waiting) > 1 && b.idle > 0 {
		b.come.Signal()
	}
	return nil
}

// breakUp removes the jobs of a streak behind the one that waits or runs.
func (b *backlog) breakUp(s *streak) (unstarted []*Job) {
	unstarted, s.rest = s.rest, nil
	delete(b.streaks, s)
	for _, job := range unstarted {
		b.left(job)
	}
	return unstarted
}

// starves reports whether an executor has nothing to run although jobs may be waiting in streaks.
func (b *backlog) starves() bool { return b.idle > 0 && len(b.waiting) == 0 }

// want returns how many jobs to claim if asked jobs are already requested.
func (b *backlog) want(asked int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pace.want(b.busy+asked, b.starves())
}

// ofQueue returns how many jobs of a named queue to claim at once: as many as each executor may have in front of it.
func (b *backlog) ofQueue() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pace.ofQueue()
}

// takeOld removes all waiting jobs if one of them was claimed before a time, because handlers take longer than
// expected. Otherwise it returns the claim time of the oldest, zero if no job is waiting.
func (b *backlog) takeOld(before time.Time) (unstarted []*Job, oldest time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	older := func(job *Job) {
		if at := job.hold.claimed; oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	for _, job := range b.waiting {
		older(job)
	}
	for s := range b.streaks {
		older(s.rest[0])
	}
	if oldest.IsZero() || oldest.After(before) {
		return nil, oldest
	}
	b.pace.stalled()
	return b.takeAll(), time.Time{}
}

// close removes all waiting jobs and ends the executors.
func (b *backlog) close() (unstarted []*Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.come.Broadcast()
	return b.takeAll()
}

func (b *backlog) takeAll() []*Job {
	jobs := b.waiting
	b.waiting = nil
	for _, job := range jobs {
		b.left(job)
	}
	for s := range b.streaks {
		jobs = append(jobs, b.breakUp(s)...)
	}
	return jobs
}
