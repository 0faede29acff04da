package shim

import (
	"slices"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

func newClaimed(id int64, priority int, at time.Time) *Job {
	return &Job{ID: id, Priority: priority, hold: &hold{place: place{claimed: at}}}
}

// learned returns the ration of a worker after many handlers of one duration and claims that were always filled.
func learned(concurrency int, d time.Duration) *ration.Ration {
	r := ration.New(concurrency, 0)
	for range 100 {
		r.Ended(d)
		r.Filled()
	}
	return r
}

// wanted returns how many jobs the backlog wants.
func wanted(b *backlog) int {
	return b.want(ration.Situation{Held: b.busy, Room: ration.MaxClaim})
}

// drain takes what waits and returns its ids.
func drain(b *backlog) (ids []int64) {
	for len(b.waiting) > 0 {
		ids = append(ids, b.next().ID)
	}
	return ids
}

func TestMoreUrgentJobsPassThoseThatWait(t *testing.T) {
	b := newBacklog(ration.New(1, 0))
	b.add([]*Job{newClaimed(1, 0, time.Time{}), newClaimed(2, 0, time.Time{}), newClaimed(3, 5, time.Time{})}, false, 1)
	b.next()
	b.add([]*Job{newClaimed(4, -1, time.Time{}), newClaimed(5, 0, time.Time{})}, false, 1)
	if got, want := drain(b), []int64{4, 2, 5, 3}; !slices.Equal(got, want) {
		t.Errorf("order is %v, want %v", got, want)
	}
	if b.busy != 5 {
		t.Errorf("%d are busy, want 5", b.busy)
	}
}

func TestJobsThatWaitTooLongAreTakenOutAndNoneIsHeldAheadAnyMore(t *testing.T) {
	start := time.Now()
	b := newBacklog(learned(1, time.Millisecond))
	b.add([]*Job{newClaimed(1, 0, start), newClaimed(2, 0, start)}, false, 1)
	b.next()
	b.add([]*Job{newClaimed(3, -1, start.Add(time.Second))}, false, 1) // younger, and before the older one
	if jobs, oldest := b.takeOld(start.Add(-1)); jobs != nil || !oldest.Equal(start) || wanted(b) == 0 {
		t.Errorf("took %d jobs, the oldest is of %s, %d are wanted", len(jobs), oldest, wanted(b))
	}
	jobs, oldest := b.takeOld(start)
	if len(jobs) != 2 || !oldest.IsZero() || b.busy != 1 || wanted(b) != 0 {
		t.Errorf("took %d jobs, %d are busy, %d are wanted", len(jobs), b.busy, wanted(b))
	}
	if jobs, oldest := b.takeOld(start.Add(time.Hour)); jobs != nil || !oldest.IsZero() {
		t.Errorf("of nothing it took %d jobs, of %s", len(jobs), oldest)
	}
}

func TestAClosedBacklogLetsExecutorsEnd(t *testing.T) {
	b := newBacklog(ration.New(2, 0))
	ended := make(chan *Job)
	go func() { ended <- b.next() }()
	b.add([]*Job{newClaimed(1, 0, time.Time{})}, false, 1)
	if job := <-ended; job.ID != 1 {
		t.Errorf("took job %d", job.ID)
	}
	go func() { ended <- b.next() }()
	if jobs := b.close(); len(jobs) != 0 {
		t.Errorf("returned %d jobs", len(jobs))
	}
	if job := <-ended; job != nil {
		t.Errorf("took job %d", job.ID)
	}
}

// ran is the outcome of a job whose handler has completed it in d.
func ran(job *Job, d time.Duration) outcome { return outcome{job: job, started: true, duration: d} }

func TestMoreJobsAreAskedForAsSoonAsTheyAreWanted(t *testing.T) {
	b := newBacklog(ration.New(1, 0))
	b.add([]*Job{newClaimed(1, 0, time.Time{})}, true, 1)
	if wanted(b) != 0 {
		t.Error("wants jobs while its only executor is busy")
	}
	b.ended(ran(b.next(), time.Millisecond))
	select {
	case <-b.slack:
	default:
		t.Error("does not say that it wants more")
	}
}

func TestJobsThatDidNotRunTeachNothing(t *testing.T) {
	b := newBacklog(learned(1, 10*time.Millisecond))
	before := *b.ration
	jobs := []*Job{newClaimed(1, 0, time.Now()), newClaimed(2, 0, time.Now())}
	b.add(jobs, false, 1)
	e := &executor{crew: &crew{backlog: b, outcomes: make(chan outcome, 2), events: &eventBus{}}}
	e.giveBack(jobs[0])
	if *b.ration != before || b.busy != 1 {
		t.Errorf("ration is %+v, was %+v; %d are busy", *b.ration, before, b.busy)
	}
	e.deliver(outcome{job: jobs[1], started: true})
	if *b.ration == before || b.busy != 0 {
		t.Errorf("ration is %+v still; %d are busy", *b.ration, b.busy)
	}
}
