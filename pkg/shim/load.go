package shim

import "time"

const (
	// maxClaimBytes bounds what a claim brings, unless one job alone is larger. It is the default of get_job_batch.
	maxClaimBytes = 8 << 20
	// mostHalvings is how often that may be halved: down to 64 kB.
	mostHalvings = 7
	// maxHeldBytes bounds the bytes of the jobs that a worker holds beyond one for each executor.
	maxHeldBytes = 3 * maxClaimBytes
	// lateClaim is the duration from which on a claim has asked for more bytes than the link carries in good time.
	lateClaim = 2 * time.Second
)

// load learns how large jobs are and how fast they arrive, and from that how many jobs a claim may ask for.
type load struct {
	mean   int64 // bytes of a job of the last claims; 0 before the first
	halved int   // how often the bytes of a claim are halved
}

// limit returns how many bytes a claim may ask for.
func (l *load) limit() int64 { return maxClaimBytes >> l.halved }

// beyond returns the limit for a claim to name, nil if it is the database's own.
func (l *load) beyond() *int64 {
	if l.halved == 0 {
		return nil
	}
	return new(l.limit())
}

// arrived tells of a claim whose last row came after took. A larger mean counts at once, a smaller one by and by: to ask
// for too few jobs costs a claim, to ask for too many costs memory.
func (l *load) arrived(jobs []*Job, took time.Duration) {
	if len(jobs) == 0 {
		return
	}
	var bytes int64
	for _, job := range jobs {
		bytes += job.hold.bytes
	}
	mean := bytes / int64(len(jobs))
	l.mean = max(mean, l.mean-(l.mean-mean+1)/2)
	switch {
	case took > lateClaim:
		l.overdue()
	case took < lateClaim/4 && bytes >= l.limit()/2 && l.halved > 0:
		l.halved--
	}
}

// overdue tells that a claim failed or came late.
func (l *load) overdue() { l.halved = min(l.halved+1, mostHalvings) }

// fit returns how many of n jobs to claim when so many executors have none, and jobs of so many bytes may be held beyond
// theirs. It waits until half of what a claim may bring has room, so that claims are large.
func (l *load) fit(n, idle int, room int64) int {
	if l.mean == 0 {
		return n
	}
	claim := max(1, l.limit()/l.mean)
	fits := room / l.mean
	if fits < (claim+1)/2 {
		fits = 0
	}
	return int(min(int64(n), claim, max(fits, int64(idle), 0)))
}
