package ration

import "time"

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
