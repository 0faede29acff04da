package shim

// held is the list of claimed jobs whose outcomes are not settled. They are linked through their holds, because a map
// would cost more than all other bookkeeping of a job. A job may be claimed again before its return is settled, and is
// in the list twice then.
type held struct {
	n     int
	bytes int64
	last  *Job
}

func (h *held) add(jobs []*Job) {
	for _, job := range jobs {
		job.hold.before, job.hold.after = h.last, nil
		if h.last != nil {
			h.last.hold.after = job
		}
		h.last = job
		h.bytes += job.hold.bytes
	}
	h.n += len(jobs)
}

func (h *held) remove(jobs []*Job) {
	for _, job := range jobs {
		before, after := job.hold.before, job.hold.after
		if before != nil {
			before.hold.after = after
		}
		if after != nil {
			after.hold.before = before
		} else {
			h.last = before
		}
		h.bytes -= job.hold.bytes
		job.hold.before, job.hold.after = nil, nil // so that one retained job does not retain them all
	}
	h.n -= len(jobs)
}

func (h *held) ids() []int64 {
	ids := make([]int64, 0, h.n)
	for job := h.last; job != nil; job = job.hold.before {
		ids = append(ids, job.ID)
	}
	return ids
}
