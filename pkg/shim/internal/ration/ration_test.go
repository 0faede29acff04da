package ration

import (
	"reflect"
	"testing"
	"time"
)

// after returns the ration of a worker after many handlers of one duration and claims of jobs of one size, which were
// always filled.
func after(concurrency int, handler time.Duration, size int64) *Ration {
	r := New(concurrency, 0)
	r.pace = *learned(concurrency, handler)
	r.Claimed(10, 10*size, time.Millisecond)
	return r
}

func TestWhatIsWantedFollowsFromTheSituation(t *testing.T) {
	const short, long = time.Millisecond, time.Second
	const plenty = 5000
	for name, c := range map[string]struct {
		ration    *Ration
		situation Situation
		want      int
	}{
		"a new worker":             {New(10, 0), Situation{Room: plenty}, 10},
		"long handlers":            {after(10, long, 100), Situation{Room: plenty}, 10},
		"long handlers, some busy": {after(10, long, 100), Situation{Busy: 7, Held: 7, Room: plenty}, 3},
		"long handlers, all busy": {after(10, long, 100), Situation{Busy: 10, Held: 10, Room: plenty},
			0},
		"short handlers": {after(10, short, 100), Situation{Room: plenty}, MaxClaim},
		"short handlers, most busy": {after(10, short, 100),
			Situation{Busy: 900, Held: 900, Room: plenty}, 0},
		"an executor starves": {after(10, short, 100),
			Situation{Busy: 900, Held: 900, Starves: true, Room: plenty}, 110},
		"half of the jobs ahead are used up": {after(10, short, 100),
			Situation{Busy: 500, Held: 500, Room: plenty}, 510},
		"a claim is in flight": {after(1, time.Microsecond, 100),
			Situation{InFlight: MaxClaim, Room: plenty}, MaxClaim},
		"three claims are in flight": {after(1, time.Microsecond, 100),
			Situation{InFlight: 3 * MaxClaim, Room: plenty}, 0},
		"outcomes are written slowly": {after(10, short, 100), Situation{Held: 2000, Room: 3}, 3},
		"no outcome is written":       {after(10, short, 100), Situation{Held: 2000}, 0},
		"large jobs":                  {after(10, short, 1<<20), Situation{Room: plenty}, 8},
		"large jobs, many held": {after(10, short, 1<<20),
			Situation{Busy: 22, Held: 22, Bytes: 22 << 20, Room: plenty}, 0},
		"large jobs are held, an executor is not": {after(10, short, 1<<20),
			Situation{Busy: 9, Held: 9, Bytes: 30 << 20, Room: plenty}, 1},
	} {
		if got := c.ration.Want(c.situation); got != c.want {
			t.Errorf("%s: %d are wanted, want %d", name, got, c.want)
		}
	}
}

func TestAPlanAsksOnlyForTasksThatHaveRoom(t *testing.T) {
	free, half, full := Task{Name: "free"}, Task{Name: "half", Most: 4, Busy: 2}, Task{Name: "full", Most: 3, Busy: 3}
	skipping := after(10, time.Millisecond, 100)
	skipping.Planned(Plan{Limit: 2, Whole: true}, 2, false)
	fresh := New(10, 0)
	fresh.Planned(Plan{Limit: 2, Whole: true}, 2, false)
	for name, c := range map[string]struct {
		ration *Ration
		n      int
		tasks  []Task
		want   Plan
	}{
		"all are full": {fresh, 5, []Task{full}, Plan{Limit: 5, Whole: true, LeftOut: true,
			OfQueue: 1}},
		"one has room for some": {fresh, 5, []Task{free, half}, Plan{[]string{"free", "half"}, 2, true, false,
			1, nil}},
		"one is full": {fresh, 5, []Task{free, full}, Plan{[]string{"free"}, 5, true, true, 1, nil}},
		"fewer are wanted than it has": {skipping, 1, []Task{free, half}, Plan{[]string{"free", "half"}, 1, true,
			false, 1, nil}},
		"the last claim was of the rest": {skipping, 5, []Task{free, half}, Plan{[]string{"free"}, 5, false, false, 1, nil}},
		"there are only limited ones":    {skipping, 5, []Task{half}, Plan{[]string{"half"}, 2, true, false, 1, nil}},
	} {
		if got := c.ration.Plan(c.n, c.tasks); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: the plan is %+v, want %+v", name, got, c.want)
		}
	}
}

func TestEveryOtherClaimLeavesOutTheLimitedTasks(t *testing.T) {
	r := New(10, 0)
	for _, c := range []struct {
		whole   bool
		jobs    int
		limited bool
		skips   bool
	}{
		{true, 2, false, true},
		{false, 2, false, false},
		{true, 1, false, false},
		{true, 2, true, false},
	} {
		if r.Planned(Plan{Limit: 2, Whole: c.whole}, c.jobs, c.limited); r.skips != c.skips {
			t.Errorf("after %+v the next claim leaves them out: %t", c, r.skips)
		}
	}
}

func TestACallOfManyLeavesJobsToIdleExecutors(t *testing.T) {
	for _, c := range []struct{ most, waiting, idle, want int }{
		{10, 0, 0, 1}, {10, 5, 0, 6}, {10, 50, 0, 10}, {10, 5, 4, 2}, {1, 5, 0, 1},
	} {
		if got := Share(c.most, c.waiting, c.idle); got != c.want {
			t.Errorf("of %+v an executor takes %d", c, got)
		}
	}
}
