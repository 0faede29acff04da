package shim

// mostTold is how many ids of jobs a heartbeat tells.
const mostTold = 1000

// told is what a heartbeat tells about the jobs that the worker has claimed.
type told struct {
	running, waiting int
	ids              []int64 // running ones first, at most mostTold
}

// tell returns what the executors run and what waits in the backlog.
func tell(running []*Job, b *backlog) told {
	t := told{running: len(running), ids: make([]int64, 0, min(len(running), mostTold))}
	for _, job := range running {
		t.add(job)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t.waiting = max(0, b.busy-len(running))
	for _, job := range b.waiting {
		t.add(job)
	}
	for s := range b.streaks {
		for _, job := range s.rest {
			t.add(job)
		}
	}
	return t
}

func (t *told) add(job *Job) {
	if len(t.ids) < mostTold {
		t.ids = append(t.ids, job.ID)
	}
}
