package shim

import "time"

const (
	// aheadTime is how much work may wait in front of the executors: long enough to hide a claim behind it, short enough
	// that another worker does not wait for it.
	aheadTime = 100 * time.Millisecond
	// maxWait is how long a job may wait when handlers take longer than those before them did. Then it is returned.
	maxWait = 2 * aheadTime
	// oldClaim is how long a job may wait in a process that is slow, but was not paused.
	oldClaim = 10 * maxWait
	// maxAhead bounds the jobs in front of the executors however short they are: as many as two claims under way bring and
	// the executors have left of the one before.
	maxAhead = 3000
	// maxClaim bounds a claim.
	maxClaim = 1000
	// longHandler is the duration from which on waiting for a claim costs nothing to speak of, so that nothing is
	// claimed before it can start, unless claims take longer still.
	longHandler = 50 * time.Millisecond
)

// pace learns how long handlers take, and from that how many jobs to hold.
type pace struct {
	concurrency int
	mean        time.Duration // of recent handlers, the last ones weighing most; 0 before the first
	claim       time.Duration // how long the last claim took
	ahead       int           // jobs to hold beyond those that run
}

// finished tells of a handler that took d.
func (p *pace) finished(d time.Duration) {
	d = max(d, 1)
	if p.mean == 0 {
		p.mean = d
	} else {
		p.mean += (d - p.mean) / 8
	}
	p.ahead = min(p.ahead, p.fitting())
}

// filled tells that a claim returned as many jobs as it asked for. Only then is it worth to hold more, and only twice as
// many as before, since what was learnt from a few jobs may not hold for the next.
func (p *pace) filled() {
	p.ahead = min(max(2*p.ahead, p.concurrency), p.fitting())
}

// stalled tells that handlers turned out to be long after jobs were claimed ahead of them.
func (p *pace) stalled() {
	p.mean = max(p.mean, longHandler)
	p.ahead = 0
}

// want returns how many jobs to claim while busy jobs are claimed and not finished. It is 0 until half of what may be
// held ahead is used up or a claim can be as large as it may, so that claims of short jobs are large, and never 0 while an
// executor is idle.
func (p *pace) want(busy int) int {
	n := p.concurrency + p.ahead - busy
	if n < max(1, min(p.ahead/2, maxClaim)) {
		return 0
	}
	return min(n, maxClaim)
}

// fitting returns how many jobs of the mean duration fit into aheadTime.
func (p *pace) fitting() int {
	if p.mean == 0 || p.mean >= max(longHandler, p.claim) {
		return 0
	}
	return int(min(int64(p.concurrency)*int64(aheadTime)/int64(p.mean), maxAhead))
}
