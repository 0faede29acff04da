package limits

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// running counts the jobs that run in each lane, as the workers see it: a job counts from when its claim has returned
// until its outcome is sent. So the database counts at least as many, and more than a limit here is more than a limit
// there.
type running struct {
	limits   map[string]int
	mu       sync.Mutex
	now      map[string]int
	most     map[string]int
	ids      map[int64]string // by worker
	failures []string
	failed   func() // ends the run
	claims   atomic.Int64
}

func newRunning() *running {
	return &running{limits: most, now: map[string]int{}, most: map[string]int{}, ids: map[int64]string{}}
}

func (r *running) start(worker string, j job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if holder, ok := r.ids[j.id]; ok {
		r.failures = append(r.failures, fmt.Sprintf("job %d runs twice: %s, %s", j.id, holder, worker))
	}
	r.ids[j.id] = worker
	for _, lane := range lanes(j) {
		r.now[lane]++
		r.most[lane] = max(r.most[lane], r.now[lane])
		if limit, ok := r.limits[limitOf(lane)]; ok && r.now[lane] > limit {
			r.failed()
			r.failures = append(r.failures, fmt.Sprintf("%d jobs run in %s, whose limit is %d", r.now[lane], lane,
				limit))
		}
	}
}

func (r *running) end(j job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.ids, j.id)
	for _, lane := range lanes(j) {
		r.now[lane]--
	}
}
