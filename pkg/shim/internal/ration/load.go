package ration

import "time"

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
