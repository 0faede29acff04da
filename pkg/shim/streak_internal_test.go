package shim

import (
	"slices"
	"testing"
	"time"
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
	b := newBacklog(2)
	b.add(claimOf(time.Now(), "a", "b", "a", "", "a", "b"), false, 10) // ids 1 to 6
	var order []int64
	for range 6 {
		job := first(b)
		order = append(order, job.ID)
		if job.ID == 1 { // one more executor takes a job while this one runs
			other := first(b)
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
	first(b)
	if second := first(b); second.ID != 3 || len(b.waiting) != 0 {
		t.Errorf("beside the first job of a queue runs %d, and %d could", second.ID, len(b.waiting))
	}
}

func TestAStreakThatEndsGivesItsOtherJobsBack(t *testing.T) {
	for name, end := range map[string]func(*backlog, *Job) []*Job{
		"the queue may have another next job": func(b *backlog, job *Job) []*Job { return b.ended(outcome{job: job, verdict: lost, started: true}) },
		"the job did not start":               func(b *backlog, job *Job) []*Job { return b.ended(outcome{job: job, verdict: returned}) },
		"the worker stops": func(b *backlog, job *Job) []*Job {
			return append(b.close(), b.ended(ran(job, 1))...)
		},
		"a job waits for too long": func(b *backlog, job *Job) []*Job {
			unstarted, _ := b.takeOld(time.Now())
			return append(unstarted, b.ended(ran(job, 1))...)
		},
		"a job of it is lost": func(b *backlog, job *Job) []*Job {
			job.hold.streak.broken.Store(true)
			return b.ended(ran(job, 1))
		},
	} {
		b := newBacklog(1)
		b.add(claimOf(time.Now().Add(-time.Second), "a", "a", "a"), false, 10)
		if unstarted := end(b, first(b)); !slices.Equal(idsOf(unstarted), []int64{2, 3}) {
			t.Errorf("if %s, %v are given back", name, idsOf(unstarted))
		}
		if b.busy != 0 || len(b.waiting) != 0 || len(b.streaks) != 0 {
			t.Errorf("if %s, %d are busy, %d wait, %d streaks", name, b.busy, len(b.waiting), len(b.streaks))
		}
	}
}

func TestAStreakEndsWithAJobThatMayComeFirstAgain(t *testing.T) {
	soon, later := new(time.Millisecond), new(time.Minute)
	for _, c := range []struct {
		outcome outcome
		want    bool
	}{
		{outcome{verdict: completed}, true},
		{outcome{verdict: committed}, true},
		{outcome{verdict: failed}, true},
		{outcome{verdict: failed, delay: later}, true},
		{outcome{verdict: failed, delay: soon}, false},
		{outcome{verdict: failed, delay: soon, permanent: true}, true},
		{outcome{verdict: returned}, false},
		{outcome{verdict: returned, snoozed: true, delay: soon}, false},
		{outcome{verdict: returned, snoozed: true, delay: later}, true},
		{outcome{verdict: rateLimited, delay: soon}, false},
		{outcome{verdict: rateLimited, delay: later}, true},
		{outcome{verdict: lost}, false},
	} {
		if got := c.outcome.goesOn(); got != c.want {
			t.Errorf("%+v goes on: %t", c.outcome, got)
		}
	}
}

func TestStreaksGrowWhileTheyAreCut(t *testing.T) {
	b := newBacklog(10)
	b.pace.mean = time.Microsecond
	var lengths []int
	for range 5 {
		most := b.ofQueue()
		lengths = append(lengths, most)
		jobs := claimOf(time.Now(), slices.Repeat([]string{"a"}, most)...)
		b.add(jobs, false, most)
		for range most {
			b.ended(ran(first(b), time.Microsecond))
		}
	}
	if want := []int{1, 2, 3, 5, 9}; !slices.Equal(lengths, want) {
		t.Errorf("claims ask for %v jobs of a queue, want %v", lengths, want)
	}
	b.add(claimOf(time.Now(), "a", "a"), false, 17)
	if got := b.ofQueue(); got != 17 {
		t.Errorf("after a streak that was not cut, claims ask for %d, want 17", got)
	}
	long := newBacklog(10)
	long.pace.finished(time.Second)
	long.add(claimOf(time.Now(), "a"), true, 1)
	if got := long.ofQueue(); got != 1 {
		t.Errorf("of long jobs, claims ask for %d, want 1", got)
	}
}

func TestAnExecutorThatHasNothingToRunBesideStreaksIsClaimedFor(t *testing.T) {
	b := newBacklog(2)
	b.pace.ahead, b.pace.mean = 10, time.Millisecond
	b.add(claimOf(time.Now(), slices.Repeat([]string{"a"}, 10)...), false, 11)
	first(b)
	if got := b.want(0); got != 0 {
		t.Errorf("%d are wanted while the other executor is busy, want none", got)
	}
	b.idle = 1
	if got := b.want(0); got != 2 {
		t.Errorf("%d are wanted, want 2", got)
	}
}
