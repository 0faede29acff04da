package shim

import (
	"slices"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

// newSerial returns a claimed job of a named queue.
func newSerial(id int64, queue string, at time.Time) *Job {
	job := newClaimed(id, 0, at)
	job.QueueName = queue
	if queue != "" {
		job.hold.streakID = int32(queue[0])
	}
	return job
}

// claimOf returns a claim of jobs with ascending ids in these queues; "" is none.
func claimOf(at time.Time, queues ...string) (jobs []*Job) {
	for i, queue := range queues {
		jobs = append(jobs, newSerial(int64(i+1), queue, at))
	}
	return jobs
}

func idsOf(jobs []*Job) (ids []int64) {
	for _, job := range jobs {
		ids = append(ids, job.ID)
	}
	return ids
}

func TestJobsOfAQueueWaitForTheOnesBeforeThem(t *testing.T) {
	b := newBacklog(ration.New(2, 0))
	b.add(claimOf(time.Now(), "a", "b", "a", "", "a", "b"), false, 10) // ids 1 to 6
	var order []int64
	for range 6 {
		job := b.next()
		order = append(order, job.ID)
		if job.ID == 1 { // one more executor takes a job while this one runs
			other := b.next()
			order = append(order, other.ID)
			b.ended(ran(other, time.Millisecond))
		}
		b.ended(ran(job, time.Millisecond))
		if len(order) == 6 {
			break
		}
	}
	if want := []int64{1, 2, 3, 4, 5, 6}; !slices.Equal(order, want) {
		t.Errorf("order is %v, want %v", order, want)
	}
	if b.busy != 0 || len(b.streaks) != 0 || len(b.waiting) != 0 {
		t.Errorf("%d are busy, %d streaks, %d wait", b.busy, len(b.streaks), len(b.waiting))
	}
	b.add(claimOf(time.Now(), "a", "a", "b"), false, 10)
	b.next()
	if second := b.next(); second.ID != 3 || len(b.waiting) != 0 {
		t.Errorf("beside the first job of a queue runs %d, and %d could", second.ID, len(b.waiting))
	}
}

// ended ends a job of a streak and writes its outcome, after which the next one may start or not.
func ended(b *backlog, o outcome, nextMayStart bool) (unstarted []*Job) {
	b.ended(o)
	o.job.hold.nextMayStart = nextMayStart
	return b.settled(o.job)
}

func TestAStreakThatEndsGivesItsOtherJobsBack(t *testing.T) {
	for name, end := range map[string]func(*backlog, *Job) []*Job{
		"the queue may have another next job": func(b *backlog, job *Job) []*Job {
			return ended(b, outcome{job: job, verdict: verdictFailed, started: true}, false)
		},
		"the job did not start": func(b *backlog, job *Job) []*Job {
			return ended(b,
				outcome{job: job, verdict: verdictReturned}, false)
		},
		"the worker stops": func(b *backlog, job *Job) []*Job {
			return append(b.close(), ended(b, ran(job, 1), true)...)
		},
		"a job waits for too long": func(b *backlog, job *Job) []*Job {
			unstarted, _ := b.takeOld(time.Now())
			return append(unstarted, ended(b, ran(job, 1), true)...)
		},
	} {
		b := newBacklog(ration.New(1, 0))
		b.add(claimOf(time.Now().Add(-time.Second), "a", "a", "a"), false, 10)
		if unstarted := end(b, b.next()); !slices.Equal(idsOf(unstarted), []int64{2, 3}) {
			t.Errorf("if %s, %v are given back", name, idsOf(unstarted))
		}
		if b.busy != 0 || len(b.waiting) != 0 || len(b.streaks) != 0 {
			t.Errorf("if %s, %d are busy, %d wait, %d streaks", name, b.busy, len(b.waiting), len(b.streaks))
		}
	}
}

func TestAStreakWaitsForTheAnswerToAnOutcomeOfAJobThatHasNotCompleted(t *testing.T) {
	for _, c := range []struct {
		verdict verdict
		waits   bool
	}{
		{verdictCompleted, false}, {verdictCommitted, false}, {verdictFailed, true}, {verdictReturned, true},
		{verdictRateLimited, true}, {verdictCut, true},
	} {
		b := newBacklog(ration.New(1, 0))
		b.add(claimOf(time.Now(), "a", "a", "a"), false, 10)
		job := b.next()
		b.ended(outcome{job: job, verdict: c.verdict, started: true})
		if waits := len(b.waiting) == 0; waits != c.waits {
			t.Errorf("after verdict %d the streak waits: %t", c.verdict, waits)
		}
		job.hold.nextMayStart = true
		if unstarted := b.settled(job); len(unstarted) != 0 || len(b.waiting) != 1 || b.waiting[0].ID != 2 {
			t.Errorf("after verdict %d and its answer %d jobs wait, %d are given back", c.verdict, len(b.waiting),
				len(unstarted))
		}
	}
}

// A job that has completed may turn out to be lost while the next one runs already.
func TestAStreakOfWhichAJobWasLostEnds(t *testing.T) {
	b := newBacklog(ration.New(1, 0))
	b.add(claimOf(time.Now(), "a", "a", "a"), false, 10)
	lost := b.next()
	b.ended(ran(lost, 1))
	if next := b.next(); next.ID != 2 {
		t.Errorf("job %d is the next one", next.ID)
	}
	if unstarted := b.settled(lost); !slices.Equal(idsOf(unstarted), []int64{3}) {
		t.Errorf("%v are given back", idsOf(unstarted))
	}
}

func TestStreaksGrowWhileTheyAreCut(t *testing.T) {
	b := newBacklog(ration.New(10, 0))
	b.ration.Ended(time.Microsecond)
	var lengths []int
	for range 5 {
		most := b.ration.OfQueue()
		lengths = append(lengths, most)
		jobs := claimOf(time.Now(), slices.Repeat([]string{"a"}, most)...)
		b.add(jobs, false, most)
		for range most {
			b.ended(ran(b.next(), time.Microsecond))
		}
	}
	if want := []int{1, 2, 3, 5, 9}; !slices.Equal(lengths, want) {
		t.Errorf("claims ask for %v jobs of a queue, want %v", lengths, want)
	}
	b.add(claimOf(time.Now(), "a", "a"), false, 17)
	if got := b.ration.OfQueue(); got != 17 {
		t.Errorf("after a streak that was not cut, claims ask for %d, want 17", got)
	}
	long := newBacklog(ration.New(10, 0))
	long.ration.Ended(time.Second)
	long.add(claimOf(time.Now(), "a"), true, 1)
	if got := long.ration.OfQueue(); got != 1 {
		t.Errorf("of long jobs, claims ask for %d, want 1", got)
	}
}

func TestAnExecutorThatHasNothingToRunBesideStreaksIsClaimedFor(t *testing.T) {
	b := newBacklog(learned(2, 20*time.Millisecond))
	b.add(claimOf(time.Now(), slices.Repeat([]string{"a"}, 10)...), false, 11)
	b.next()
	if got := wanted(b); got != 0 {
		t.Errorf("%d are wanted while the other executor is busy, want none", got)
	}
	b.idle = 1
	if got := wanted(b); got != 2 {
		t.Errorf("%d are wanted, want 2", got)
	}
}
