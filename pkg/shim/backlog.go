package shim

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// backlog are the jobs that are claimed and whose handlers have not returned. The fetcher adds to it, the executors take
// from its front.
type backlog struct {
	slack signal // more jobs are wanted

	mu      sync.Mutex
	come    sync.Cond // jobs, or the end
	pace    pace
	waiting []*Job                // in the order in which to run them
	busy    int                   // waiting or running
	busyOf  map[string]*taskCount // likewise, by task
	hasRoom bool                  // a task has room again that had none when it was last asked for
	idle    int                   // executors that wait for a job
	closed  bool
}

func newBacklog(concurrency int) *backlog {
	b := &backlog{slack: newSignal(), pace: pace{concurrency: concurrency}}
	b.busyOf = make(map[string]*taskCount)
	b.come.L = &b.mu
	return b
}

// arrived tells how long a claim took that brought jobs.
func (b *backlog) arrived(claim time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pace.claim = claim
}

// add takes the jobs of a claim. More urgent ones pass those that wait already.
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

// next waits for a job to run; it returns nil when there will be none.
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

// more returns a job that next has returned, and with it others of its task that wait: up to most together, and no more
// than this executor's share while others wait for jobs.
func (b *backlog) more(first *Job, most int) []*Job {
	b.mu.Lock()
	defer b.mu.Unlock()
	most = min(most, 1+len(b.waiting)/(b.idle+1))
	jobs := append(make([]*Job, 0, most), first)
	var passed []*Job // of other tasks
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

// finished tells of a job whose handler took d.
func (b *backlog) finished(job *Job, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pace.finished(d)
	b.leave(job)
}

// skipped tells of a job that an executor has taken and not run. It says nothing of how long handlers take.
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

// want returns how many jobs to claim when so many more are asked for already.
func (b *backlog) want(asked int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pace.want(b.busy + asked)
}

// takeOld takes out all jobs that wait, if one of them was claimed before a time: handlers turned out to be longer than
// they were. Otherwise it returns the time of the oldest, zero if none waits.
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

// close takes out all jobs that wait, and lets the executors end.
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
