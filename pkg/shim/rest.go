package shim

import "time"

// A rest lasts for restClaims times as long as its claim took, which is about how long short jobs need to end, within these bounds.
const (
	restClaims = 3
	leastRest  = 2 * time.Millisecond
	mostRest   = 20 * time.Millisecond
)

// rest is a pause of the fetcher after a claim that returned fewer jobs than it asked for, until these jobs have ended: what it
// left are mostly jobs of full lanes and busy queues, which these jobs hold.
type rest struct {
	over  <-chan time.Time // the latest end, nil without a rest
	lease int64            // of the claim
	jobs  int              // how many of its jobs have not ended
}

// after begins the rest after a claim that took so long.
func (r *rest) after(jobs []*Job, claim time.Duration) {
	r.over = time.After(min(max(leastRest, restClaims*claim), mostRest))
	r.lease, r.jobs = jobs[0].Lease, len(jobs)
}

// ended is called with jobs whose outcomes are settled.
func (r *rest) ended(jobs []*Job) {
	for _, job := range jobs {
		if job.Lease == r.lease {
			r.jobs--
		}
	}
	if r.jobs <= 0 {
		r.end()
	}
}

func (r *rest) end() { r.over = nil }
