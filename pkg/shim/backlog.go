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
	waiting []*Job                // in the order in which they run
	busy    int                   // waiting or running
	busyOf  map[string]*taskCount // the same by task
	hasRoom bool                  // a full task has room again
	idle    int                   // executors that wait for a job
	closed  bool
}

func newBacklog(concurrency int) *backlog {
	b := &backlog{slack: newSignal(), pace: pace{concurrency: concurrency}}
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

// add adds the jobs of a claim. More urgent ones overtake jobs that are waiting already.
func (b *backlog) add(jobs []*Job, filled bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	inOrder := len(b.waiting) == 0 || runsBefore(b.waiting[len(b.waiting)-1], jobs[0]) <= 0
	b.waiting = append(b.waiting, jobs...)
	if !inOrder {
		slices.SortStableFunc(b.waiting, runsBefore)
	}
	b.enter(jobs)
	if filled {
		b.pace.filled()
	}
	for range min(b.idle, len(jobs)) {
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

// finished records a job whose handler took d.
func (b *backlog) finished(job *Job, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pace.finished(d)
	b.leave(job)
}

// skipped records a job that an executor has taken and not run. It does not count for the duration of handlers.
func (b *backlog) skipped(job *Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.leave(job)
}

func (b *backlog) leave(job *Job) {
	b.left(job)
	if b.hasRoom || b.pace.want(b.busy) > 0 {
		b.slack.set()
	}
}

// want returns how many jobs to claim if asked jobs are already requested.
func (b *backlog) want(asked int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pace.want(b.busy + asked)
}

// takeOld removes all waiting jobs if one of them was claimed before a time, because handlers take longer than
// expected. Otherwise it returns the claim time of the oldest, zero if no job is waiting.
func (b *backlog) takeOld(before time.Time) (unstarted []*Job, oldest time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, job := range b.waiting {
		if at := job.hold.claimed; oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
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
	return jobs
}
