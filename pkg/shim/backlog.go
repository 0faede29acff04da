package shim

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

// backlog holds the jobs that are claimed and whose handlers have not returned. The fetcher adds jobs, the executors
// take them from the front.
type backlog struct {
	slack signal // more jobs are wanted

	mu      sync.Mutex
	come    sync.Cond // jobs were added, or the backlog was closed
	ration  *ration.Ration
	waiting []*Job                // in the order in which they run; of each streak the first
	streaks map[*streak]struct{}  // those with more jobs
	busy    int                   // waiting or running
	busyOf  map[string]*taskCount // the same by task
	hasRoom bool                  // a full task has room again
	idle    int                   // executors that wait for a job
	closed  bool
}

func newBacklog(r *ration.Ration) *backlog {
	b := &backlog{slack: newSignal(), ration: r}
	b.streaks = make(map[*streak]struct{})
	b.busyOf = make(map[string]*taskCount)
	b.come.L = &b.mu
	return b
}

// learn passes the ration to fn, which must be short.
func (b *backlog) learn(fn func(*ration.Ration)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fn(b.ration)
}

// want returns how many jobs to claim. The caller knows all of s but what the backlog has.
func (b *backlog) want(s ration.Situation) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.Busy, s.Starves = b.busy, b.starves()
	return b.ration.Want(s)
}

// plan returns what to ask for if up to n jobs are wanted. [backlog.reopened] reports when a task that it leaves out
// has room.
func (b *backlog) plan(n int, set *taskSet) ration.Plan {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !set.isLimited {
		return b.ration.All(n, set.names)
	}
	tasks := make([]ration.Task, len(set.names))
	for i, name := range set.names {
		count, most := b.countOf(name), set.byName[name].limit
		count.full = most > 0 && count.busy >= most
		tasks[i] = ration.Task{Name: name, Most: most, Busy: count.busy}
	}
	return b.ration.Plan(n, tasks)
}

// add adds the jobs of a claim that asked for at most ofQueue jobs of each named queue. More urgent ones overtake jobs
// that are waiting already.
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
	if filled {
		b.ration.Filled()
	} else if isCut {
		b.ration.Cut(ofQueue)
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
	most = ration.Share(most, len(b.waiting), b.idle)
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

// ended records a job that an executor has taken. If it has completed, the next one of its streak takes its place;
// otherwise the streak waits for what settled is told. A job that was not run does not count for the duration of
// handlers.
func (b *backlog) ended(o outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := o.job.hold.streak; s != nil {
		if o.verdict == verdictCompleted || o.verdict == verdictCommitted {
			b.follow(s)
		} else {
			s.awaited = o.job
		}
	}
	b.left(o.job)
	if o.started {
		b.ration.Ended(o.duration)
	}
	if b.hasRoom || b.ration.HasSlack(ration.Situation{Busy: b.busy, Starves: b.starves()}) {
		b.slack.set()
	}
}

// settled is called when the outcome of a job of a streak is written. It continues the streak if the next job of the
// queue may start; otherwise it returns the unstarted jobs of the streak, which are no longer in the backlog.
func (b *backlog) settled(job *Job) (unstarted []*Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := job.hold.streak
	switch {
	case !job.hold.nextMayStart:
		return b.breakUp(s)
	case s.awaited == job:
		b.follow(s)
		b.come.Signal()
	}
	return nil
}

// follow puts the next job of a streak in its place, for this executor or a more urgent job's.
func (b *backlog) follow(s *streak) {
	s.awaited = nil
	if len(s.rest) == 0 {
		return
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
}

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
	b.ration.Stalled()
	return b.takeAll(), time.Time{}
}

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

// reopened returns, once, whether a task that was full has room again.
func (b *backlog) reopened() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	reopened := b.hasRoom
	b.hasRoom = false
	return reopened
}

func (b *backlog) countOf(task string) *taskCount {
	count := b.busyOf[task]
	if count == nil {
		count = &taskCount{}
		b.busyOf[task] = count
	}
	return count
}

func (b *backlog) enter(jobs []*Job) {
	b.busy += len(jobs)
	var count *taskCount
	task := ""
	for _, job := range jobs {
		if count == nil || job.TaskIdentifier != task { // most have the same task as the previous one
			task = job.TaskIdentifier
			count = b.countOf(task)
		}
		count.busy++
		job.hold.count = count
	}
}

// left records that a job is no longer claimed, or has run.
func (b *backlog) left(job *Job) {
	b.busy--
	count := job.hold.count
	count.busy--
	if count.full {
		count.full = false
		b.hasRoom = true
	}
}

// inStreaks returns the jobs of a claim without those that have to wait for another one. It reports whether the claim
// may have left jobs of one of these queues because it asked for at most most jobs of each.
func inStreaks(jobs []*Job, most int) (heads []*Job, isCut bool) {
	var firsts map[int32]*Job
	for i, job := range jobs {
		id := job.hold.streakID
		switch first := firsts[id]; {
		case id == 0:
			if firsts != nil {
				heads = append(heads, job)
			}
		case first == nil:
			if firsts == nil {
				firsts, heads = make(map[int32]*Job), append(make([]*Job, 0, len(jobs)), jobs[:i]...)
			}
			firsts[id] = job
			heads = append(heads, job)
			isCut = isCut || most == 1
		default:
			if first.hold.streak == nil {
				first.hold.streak = &streak{}
			}
			job.hold.streak = first.hold.streak
			job.hold.streak.rest = append(job.hold.streak.rest, job)
			isCut = isCut || 1+len(job.hold.streak.rest) == most
		}
	}
	if firsts == nil {
		return jobs, false
	}
	return heads, isCut
}

const mostTold = 1000

// told is what a heartbeat tells about the jobs that the worker has claimed.
type told struct {
	running, waiting int
	ids              []int64 // running ones first, at most mostTold
}

func tell(running []*Job, b *backlog) told {
	b.mu.Lock()
	defer b.mu.Unlock()
	jobs := slices.Concat(running, b.waiting)
	for s := range b.streaks {
		jobs = append(jobs, s.rest...)
	}
	jobs = jobs[:min(len(jobs), mostTold)]
	t := told{running: len(running), waiting: max(0, b.busy-len(running)), ids: make([]int64, len(jobs))}
	for i, job := range jobs {
		t.ids[i] = job.ID
	}
	return t
}
