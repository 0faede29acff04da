package shim

// A streak is what a claim has of a named queue: jobs that run one after the other. The first one waits for an executor as other jobs
// do. When it has completed, the next one takes its place in the backlog; when it has ended otherwise, the answer to its outcome tells
// whether the next one may, because the job itself may be the next one of its queue again. The database frees the queue when there are
// no more jobs of the streak, in whatever order their outcomes are written.
type streak struct {
	rest    []*Job // behind the jobs that wait or run; protected by the backlog's lock
	awaited *Job   // the job whose outcome tells whether the streak goes on; so is this
}

// inStreaks returns the jobs of a claim without those that have to wait for another one. It reports whether the claim may have left
// jobs of one of these queues because it asked for at most most jobs of each.
func inStreaks(jobs []*Job, most int) (heads []*Job, isCut bool) {
	var firsts map[int32]*Job
	for i, job := range jobs {
		id := job.hold.streakID
		switch first := firsts[id]; {
		case id == 0:
			if firsts != nil {
				heads = append(heads, job)
			}
		case first == nil:
			if firsts == nil {
				firsts, heads = make(map[int32]*Job), append(make([]*Job, 0, len(jobs)), jobs[:i]...)
			}
			firsts[id] = job
			heads = append(heads, job)
			isCut = isCut || most == 1
		default:
			if first.hold.streak == nil {
				first.hold.streak = &streak{}
			}
			job.hold.streak = first.hold.streak
			job.hold.streak.rest = append(job.hold.streak.rest, job)
			isCut = isCut || 1+len(job.hold.streak.rest) == most
		}
	}
	if firsts == nil {
		return jobs, false
	}
	return heads, isCut
}
