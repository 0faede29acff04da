// Package ration decides how many jobs the next claim of a worker asks for. It knows neither jobs nor the database,
// only
// numbers: what earlier claims and handlers have shown, and the [Situation] in which the worker asks.
package ration

import "time"

// Ration is what a worker has learned. It must not be used by several goroutines at once.
type Ration struct {
	pace
	load
	skips bool // the next claim may leave out tasks with a limit
}

// New returns the ration of a worker with so many executors, which claims at most queueBatch jobs of a named queue at
// once; 0 is any.
func New(concurrency, queueBatch int) *Ration {
	return &Ration{pace: pace{concurrency: concurrency, queueBatch: queueBatch}}
}

// Situation is what a worker has when it asks.
type Situation struct {
	Busy     int   // jobs that wait for an executor or run
	Starves  bool  // an executor has nothing to run, although jobs may wait for others of their queues
	Held     int   // jobs whose outcomes are not written, the busy ones among them
	Bytes    int64 // of the held jobs
	InFlight int   // jobs that claims in flight ask for
	Room     int   // how many jobs may be held in addition
}

// Want returns how many jobs to claim. It is 0 until a claim is worthwhile, but not while an executor is idle.
func (r *Ration) Want(s Situation) int {
	n := min(r.want(s.Busy+s.InFlight, s.Starves), s.Room-s.InFlight)
	idle := r.concurrency - s.Held - s.InFlight
	return r.fit(n, idle, maxHeldBytes-s.Bytes-int64(s.InFlight)*r.size)
}

// HasSlack reports whether more jobs are wanted, as far as their number decides.
func (r *Ration) HasSlack(s Situation) bool { return r.want(s.Busy, s.Starves) > 0 }

// Plan is what a claim asks for.
type Plan struct {
	Tasks   []string // none if none has room
	Limit   int
	Whole   bool // it asks for all tasks that have room
	LeftOut bool // a task is full
	// OfQueue is the maximum number of jobs of a named queue. It is 1 if tasks have limits, because these count claimed
	// jobs.
	OfQueue int
}

// Task is a task of the worker.
type Task struct {
	Name string
	Most int // how many of its jobs may be busy, 0 for any
	Busy int
}

// All returns the plan for up to n jobs of tasks without limits.
func (r *Ration) All(n int, tasks []string) Plan {
	return Plan{Tasks: tasks, Limit: n, Whole: true, OfQueue: r.OfQueue()}
}

// Plan returns what to ask for if up to n jobs of tasks are wanted, some of which have limits.
//
// A task is left out while it is full, and a claim that includes a task with a limit asks for no more jobs than the
// task has room for, because all of them may be of that task. So that this does not make the claims of other tasks
// small, every other claim omits the limited tasks, while jobs are short enough to be claimed ahead. A more urgent job
// then waits at most for the jobs ahead of it.
func (r *Ration) Plan(n int, tasks []Task) Plan {
	p := Plan{Limit: min(n, MaxClaim), Whole: true, OfQueue: 1}
	var unlimited []string
	for _, t := range tasks {
		switch {
		case t.Most == 0:
			unlimited = append(unlimited, t.Name)
		case t.Busy >= t.Most:
			p.LeftOut = true
			continue
		default:
			p.Limit = min(p.Limit, t.Most-t.Busy)
		}
		p.Tasks = append(p.Tasks, t.Name)
	}
	if n > p.Limit && r.skips && r.ahead > 0 && len(unlimited) > 0 {
		p.Tasks, p.Limit, p.Whole = unlimited, n, false
	}
	return p
}

// Planned records how many jobs a plan has returned, and whether tasks with limits are among them, for the next one.
func (r *Ration) Planned(p Plan, jobs int, limited bool) {
	r.skips = p.Whole && jobs == p.Limit && !limited
}

// Claimed records a claim that took so long, and its jobs.
func (r *Ration) Claimed(jobs int, bytes int64, took time.Duration) {
	r.arrived(jobs, bytes, took)
	if jobs > 0 {
		r.claim = took
	}
}

// Share returns how many jobs an executor takes for one call of a handler of at most most jobs: of those that wait,
// besides the first, its part while idle other executors wait for jobs.
func Share(most, waiting, idle int) int { return min(most, 1+waiting/(idle+1)) }
