package shim

import "slices"

// plan is what a claim asks for.
type plan struct {
	tasks []string
	limit int
	whole bool // it asks for all tasks that have room
	// ofQueue is the maximum number of jobs of a named queue. It is 1 if tasks have limits, because these count claimed jobs.
	ofQueue int
}

// plan returns what to ask for if up to limit jobs are wanted. The list of tasks is empty if none has room.
//
// A task with a limit of its own is left out while it is full, and a claim that includes such a task asks for no more
// jobs than the task has room for, because all of them may be of that task. So that this does not make the claims of
// other tasks small, every other claim omits the limited tasks, while jobs are short enough to be claimed
// ahead. A more urgent job then waits at most for the jobs ahead of it.
func (f *fetcher) plan(set *taskSet, limit int) plan {
	if !set.isLimited() {
		f.leftOut = false
		return plan{set.names, limit, true, f.backlog.ofQueue()}
	}
	room := f.backlog.room(set)
	f.leftOut = len(room.tasks) < len(set.names)
	if limit > room.least && f.skips && room.ahead && len(set.unlimited) > 0 {
		return plan{set.unlimited, limit, false, 1}
	}
	return plan{room.tasks, min(limit, room.least), true, 1}
}

// learn records how many jobs a plan has returned, for the next one.
func (f *fetcher) learn(p plan, jobs []*Job, set *taskSet) {
	f.skips = p.whole && len(jobs) == p.limit &&
		!slices.ContainsFunc(jobs, func(job *Job) bool { return set.byName[job.TaskIdentifier].limit > 0 })
}
