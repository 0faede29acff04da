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
	// Beyond is the number of bytes of jobs after which the claim ends, nil for the database's own limit.
	Beyond *int64
}

// Task is a task of the worker.
type Task struct {
	Name string
	Most int // how many of its jobs may be busy, 0 for any
	Busy int
}

// All returns the plan for up to n jobs of tasks without limits.
func (r *Ration) All(n int, tasks []string) Plan {
	return Plan{Tasks: tasks, Limit: n, Beyond: r.Beyond(), Whole: true, OfQueue: r.OfQueue()}
}

// Plan returns what to ask for if up to n jobs of tasks are wanted, some of which have limits.
//
// A task is left out while it is full, and a claim that includes a task with a limit asks for no more jobs than the
// task has room for, because all of them may be of that task. So that this does not make the claims of other tasks
// small, every other claim omits the limited tasks, while jobs are short enough to be claimed ahead. A more urgent job
// then waits at most for the jobs ahead of it.
func (r *Ration) Plan(n int, tasks []Task) Plan {
	p := Plan{Limit: min(n, MaxClaim), Beyond: r.Beyond(), Whole: true, OfQueue: 1}
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

const (
	// aheadTime is how much work may wait in front of the executors: enough to cover the duration of a claim, but so
	// little that another worker could not start it much earlier.
	aheadTime = 100 * time.Millisecond
	// MaxWait is how long a job may wait if handlers take longer than previous ones. After that it is returned.
	MaxWait = 2 * aheadTime
	// OldClaim is how long a job may wait in a process that is slow but was not paused.
	OldClaim = 10 * MaxWait
	// MaxAhead limits the jobs in front of the executors however short they are: the jobs of two concurrent claims, and
	// the rest of the previous one.
	MaxAhead = 3000
	// MaxClaim limits a claim.
	MaxClaim = 1000
	// longHandler is the duration of handlers from which the wait for a claim is negligible, so that no job is claimed
	// before it can start, unless claims take longer still.
	longHandler = 50 * time.Millisecond
)

// pace learns how long handlers take, and so how many jobs to hold.
type pace struct {
	concurrency int
	mean        time.Duration // of recent handlers, the last ones weighted most; 0 before the first
	claim       time.Duration // the duration of the last claim
	ahead       int           // jobs to hold in addition to running ones
	queueBatch  int           // the maximum number of jobs of a named queue to claim at once; 0 is any
	atOnce      bool          // hold none
}

// Ended records a handler that took d.
func (p *pace) Ended(d time.Duration) {
	d = max(d, 1)
	if p.mean == 0 {
		p.mean = d
	} else {
		p.mean += (d - p.mean) / 8
	}
	p.ahead = min(p.ahead, p.fitting())
}

// Filled records that a claim returned as many jobs as it asked for. Only then is it useful to hold more, and only
// twice as many as before, because an estimate from a few jobs may be wrong for the next ones.
func (p *pace) Filled() {
	p.ahead = min(max(2*p.ahead, p.concurrency), p.fitting())
}

// Stalled records that handlers proved to be long after jobs were claimed ahead of them.
func (p *pace) Stalled() {
	p.mean = max(p.mean, longHandler)
	p.ahead = 0
}

// want returns how many jobs to claim while busy jobs are claimed and not finished. It is 0 until half of the jobs
// ahead are used up or a claim can have the maximum size, so that claims of short jobs are large. It is never 0 while
// an executor is idle: starves, because the jobs ahead wait for other jobs of their queues, or because there are none.
func (p *pace) want(busy int, starves bool) int {
	n := p.concurrency + p.ahead - busy
	if n < max(1, min(p.ahead/2, MaxClaim)) && !starves {
		return 0
	}
	return min(max(n, 0), MaxClaim)
}

// StartAtOnce sets whether jobs are claimed only when an executor can start them: limits with a rate may apply, and the
// claim of a job counts as its start.
func (p *pace) StartAtOnce(is bool) {
	p.atOnce = is
	p.ahead = min(p.ahead, p.fitting())
}

// Cut records that a claim has returned as many jobs of a named queue as it asked for.
func (p *pace) Cut(ofQueue int) {
	if ofQueue != p.queueBatch {
		p.Filled()
	}
}

// OfQueue returns how many jobs of a named queue to claim at once. They wait for one executor.
func (p *pace) OfQueue() int {
	n := min(1+p.ahead/p.concurrency, MaxClaim)
	if p.queueBatch > 0 {
		n = min(n, p.queueBatch)
	}
	return n
}

// fitting returns how many jobs of the mean duration fit into aheadTime.
func (p *pace) fitting() int {
	if p.atOnce || p.mean == 0 || p.mean >= max(longHandler, p.claim) {
		return 0
	}
	return int(min(int64(p.concurrency)*int64(aheadTime)/int64(p.mean), MaxAhead))
}

const (
	// maxClaimBytes limits the bytes of a claim, unless a single job is larger. It is the default of get_job_batch.
	maxClaimBytes = 8 << 20
	// mostHalvings is how often this limit may be halved: down to 64 kB.
	mostHalvings = 7
	// maxHeldBytes limits the bytes of the jobs that a worker holds in addition to one for each executor.
	maxHeldBytes = 3 * maxClaimBytes
	// lateClaim is the duration from which a claim has asked for more bytes than the link can transfer in time.
	lateClaim = 2 * time.Second
)

// load learns the size of jobs and the speed of the link, and so how many jobs a claim may ask for.
type load struct {
	size   int64 // bytes of a job of recent claims; 0 before the first
	halved int   // how often the byte limit of a claim is halved
}

// limit returns the byte limit of a claim.
func (l *load) limit() int64 { return maxClaimBytes >> l.halved }

// Beyond returns the number of bytes of jobs to pass to a claim as its limit, nil for the database's default.
func (l *load) Beyond() *int64 {
	if l.halved == 0 {
		return nil
	}
	return new(l.limit())
}

// arrived records a claim whose last row arrived after took. A larger mean counts at once, a smaller one gradually: too
// few jobs cost an additional claim, too many cost memory.
func (l *load) arrived(jobs int, bytes int64, took time.Duration) {
	if jobs == 0 {
		return
	}
	mean := bytes / int64(jobs)
	l.size = max(mean, l.size-(l.size-mean+1)/2)
	switch {
	case took > lateClaim:
		l.Overdue()
	case took < lateClaim/4 && bytes >= l.limit()/2 && l.halved > 0:
		l.halved--
	}
}

// Overdue records that a claim failed or was late.
func (l *load) Overdue() { l.halved = min(l.halved+1, mostHalvings) }

// fit returns how many of n jobs to claim if idle executors have no job, and jobs of room bytes may be held in addition
// to theirs. It returns 0 until there is room for half of a claim, so that claims are large.
func (l *load) fit(n, idle int, room int64) int {
	if l.size == 0 {
		return n
	}
	claim := max(1, l.limit()/l.size)
	fits := room / l.size
	if fits < (claim+1)/2 {
		fits = 0
	}
	return int(min(int64(n), claim, max(fits, int64(idle), 0)))
}
