package shim

import (
	"cmp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

const (
	// batchingTime is how long a task runs in batches before a claim of its jobs, which takes those that batches leave. The claim reads the
	// index entries of all jobs that batches have deleted, so on a slow server the time is four times that of the last claim, but
	// longestBatching at most.
	batchingTime    = 500 * time.Millisecond
	longestBatching = time.Second
	// leastBatch and mostBatch limit the jobs of a batch. Fewer are not worth their while.
	leastBatch = 4
	mostBatch  = 1000
	// firstBatch is the size of a batch if it is not known how long its jobs take inside the server. _gw_work_batch ends a batch
	// between two jobs after 50 ms.
	firstBatch = 8
	// longestTry is the time of a job, as handlers take it, from which batches are not even tried.
	longestTry = 4 * longHandler
	// batchShare is the time of a job for which there is one more batch at once: the server is busy with two batches of jobs
	// that take no time, and waits in those that take longer.
	batchShare = 100 * time.Microsecond
	// pauseBatching and longestPauseBatching are how long a task does not run in batches after one has failed.
	pauseBatching        = time.Second
	longestPauseBatching = time.Minute
	// neverBatching is the pause if the schema has no batches, or the role may not run them. A migration or a grant may change that.
	neverBatching = time.Hour
)

// batching is the state of a task that may run in batches: at present it does, or what its last ones were like. The lock of the
// backlog protects it.
type batching struct {
	name    string
	most    int           // batches at once
	size    int           // of the next batch
	mean    time.Duration // of a job
	isOn    bool
	until   time.Time // when it ends at the latest
	begun   time.Time // when the last batch began
	running int
	vain    int       // consecutive batches that have failed
	notYet  time.Time // not to begin before
	leave   int       // jobs to claim before
	slots   []slot    // without a batch
	from    place     // where the next one begins
}

// place is the place of a job in the order in which jobs run.
type place struct {
	priority int16
	runAt    pgtype.Timestamptz
	id       int64
}

func (p place) isBefore(q place) bool {
	byTime := p.runAt.Time.Compare(q.runAt.Time)
	if p.runAt.InfinityModifier != q.runAt.InfinityModifier {
		byTime = cmp.Compare(p.runAt.InfinityModifier, q.runAt.InfinityModifier)
	}
	return cmp.Or(cmp.Compare(p.priority, q.priority), byTime, cmp.Compare(p.id, q.id)) < 0
}

// placeOf returns the place of a claimed job. Only -infinity can be due, and a Job has no time for it.
func placeOf(job *Job) place {
	at := pgtype.Timestamptz{Time: job.RunAt, Valid: true}
	if job.RunAt.IsZero() {
		at.InfinityModifier = pgtype.NegativeInfinity
	}
	return place{int16(job.Priority), at, job.ID}
}

// slot is a slot with a record in the database, which allows batches of up to size jobs.
type slot struct{ number, size int }

// batch is the permission to run a batch.
type batch struct {
	of      *batching
	slot    slot // its size is 0 if it has no record yet
	size    int
	from    place
	isFirst bool // of this slot
}

// batchEnd is how a batch ended.
type batchEnd struct {
	locked   int
	next     int // the size of the next one
	mean     time.Duration
	last     place // of the jobs that were found
	cut      bool  // not all of these ran
	recorded int   // the size in the record of the slot, 0 without one
	never    bool  // the schema has no batches, or the role may not run them
	failed   bool  // it must not be followed by another: jobs may be in conflict, or break it
}

// batchingOf returns the state of a task.
func (b *backlog) batchingOf(name string) *batching {
	for _, t := range b.batching {
		if t.name == name {
			return t
		}
	}
	t := &batching{name: name}
	b.batching = append(b.batching, t)
	return t
}

// startBatching lets a task run in batches from now on, if its jobs are short enough. first is the first of its jobs in a claim.
func (b *backlog) startBatching(name string, limit int, first *Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.batchingOf(name)
	now := time.Now()
	if usual := b.countOf(name).mean; t.isOn || b.closed || usual == 0 || usual > longestTry || t.leave > 0 || now.Before(t.notYet) {
		return
	}
	t.isOn, t.until = true, now.Add(max(batchingTime, min(4*b.pace.claim, longestBatching)))
	t.size = max(t.size, firstBatch)
	t.from = placeOf(first)
	t.most = b.pace.concurrency
	if limit > 0 {
		t.most = limit
	}
	b.pace.ahead = 0 // jobs of the task that are claimed take longer
	b.batched++
	b.come.Broadcast()
}

// nextBatch returns a batch to run now, nil if there is none. A task takes turns with jobs that wait in the backlog.
func (b *backlog) nextBatch() *batch {
	if b.batched == 0 || b.closed {
		return nil
	}
	now := time.Now()
	for _, t := range b.batching {
		switch {
		case !t.isOn:
		case now.After(t.until):
			b.stopBatching(t)
		case t.running < min(t.most, 2+int(t.mean/batchShare)) && (len(b.waiting) == 0 || now.Sub(t.begun) >= aheadTime):
			next := &batch{of: t, size: t.size, from: t.from}
			if n := len(t.slots); n > 0 {
				next.slot = t.slots[n-1]
				next.size = min(next.size, next.slot.size)
				t.slots = t.slots[:n-1]
			} else {
				next.slot.number, next.isFirst = b.freeSlot()
			}
			t.begun = now
			t.running++
			b.running++
			b.busy++
			return next
		}
	}
	return nil
}

// freeSlot returns the number of a slot without a record, and whether it is used for the first time.
func (b *backlog) freeSlot() (number int, isFirst bool) {
	number = slices.Index(b.usedSlots, false)
	if number < 0 {
		number, isFirst = len(b.usedSlots), true
		b.usedSlots = append(b.usedSlots, true)
	}
	b.usedSlots[number] = true
	return number, isFirst
}

// endBatch records how a batch ended.
func (b *backlog) endBatch(ended *batch, end batchEnd) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := ended.of
	t.running--
	b.running--
	b.busy--
	if end.recorded > 0 {
		t.slots = append(t.slots, slot{ended.slot.number, end.recorded})
	} else {
		b.usedSlots[ended.slot.number] = false
	}
	switch {
	case end.locked == 0:
	case end.cut:
		t.from = ended.from
	case t.from.isBefore(end.last):
		t.from = end.last
	}
	if end.mean > 0 {
		t.mean = end.mean
	}
	switch {
	case end.never:
		t.pause()
		t.notYet = time.Now().Add(neverBatching)
	case end.failed:
		// The jobs of the batch are the next ones. A claim of each shows which of them is to blame.
		t.leave = max(t.leave, ended.size)
		t.pause()
	case end.locked > 0 && end.next < leastBatch:
		t.pause()
	case end.locked > 0:
		t.size, t.vain = min(end.next, mostBatch), 0
	}
	if t.isOn && (t.vain > 0 || end.locked < ended.size || time.Now().After(t.until)) {
		b.stopBatching(t)
	}
	if !t.isOn {
		b.hasRoom = b.hasRoom || t.running == 0
		b.slack.set() // its records can be deleted
	}
	b.come.Broadcast()
}

// pause records that batches are of no use for now.
func (t *batching) pause() {
	t.notYet = time.Now().Add(min(pauseBatching<<min(t.vain, 6), longestPauseBatching))
	t.size, t.mean = 0, 0
	t.vain++
}

// stopBatching lets claims take the jobs of a task again.
func (b *backlog) stopBatching(t *batching) {
	t.isOn = false
	b.batched--
	b.hasRoom = true
	b.slack.set()
}

// stopAllBatching does this for all tasks, for a worker that needs to hold no jobs.
func (b *backlog) stopAllBatching() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.batching {
		if t.isOn {
			b.stopBatching(t)
		}
	}
}

// runsBatches reports whether a batch is running.
func (b *backlog) runsBatches() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running > 0
}

// withoutBatched returns those of these tasks that do not run in batches at present. A claim waits for the last batch of a task,
// because until then it would have to read the index entries of all jobs that the task has run in batches.
func (b *backlog) withoutBatched(names []string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.batched+b.running == 0 {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(b.batching, func(t *batching) bool { return (t.isOn || t.running > 0) && t.name == name })
	})
}

// claimed records that jobs of a task were claimed.
func (b *backlog) claimed(name string, jobs int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.batchingOf(name)
	t.leave = max(0, t.leave-jobs)
}

// recordsToDelete returns the slots of tasks that no longer run in batches. Their records must be deleted before the slots
// can be used again, by deletedRecords.
func (b *backlog) recordsToDelete() (slots []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.batching {
		if !t.isOn {
			for _, s := range t.slots {
				slots = append(slots, s.number)
			}
			t.slots = nil
		}
	}
	return slots
}

func (b *backlog) deletedRecords(slots []int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, slot := range slots {
		if err == nil { // otherwise the slot stays unused, and its record is deleted when the worker is deregistered
			b.usedSlots[slot] = false
		}
	}
}
