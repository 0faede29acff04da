package shim

// plan is what to ask for in a claim.
type plan struct {
	tasks []string
	limit int
	whole bool // all tasks are asked for that have room
}

// plan returns what to ask for when up to limit jobs are wanted; no tasks if none has room.
//
// A task with a limit of its own is left out while it has no room, and a claim that includes one asks for no more jobs
// than it has room for: all of them may be of that task. So that this does not make the claims of the other tasks small,
// they are claimed without the limited ones every other time, as long as they are short enough to be claimed ahead: then
// a job that is more urgent waits no longer than behind the others ahead of it.
func (f *fetcher) plan(set *taskSet, limit int) plan {
	if !set.isLimited() {
		f.leftOut = false
		return plan{set.names, limit, true}
	}
	room := f.backlog.room(set)
	f.leftOut = len(room.tasks) < len(set.names)
	if limit > room.least && f.skips && room.ahead && len(set.unlimited) > 0 {
		return plan{set.unlimited, limit, false}
	}
	return plan{room.tasks, min(limit, room.least), true}
}

// learn takes in how many jobs a plan has brought, for the next one.
func (f *fetcher) learn(p plan, jobs []*Job, set *taskSet) {
	f.skips = p.whole && len(jobs) == p.limit
	for _, job := range jobs {
		if set.byName[job.TaskIdentifier].limit > 0 {
			f.skips = false
		}
	}
}

// room is what the tasks of a set have room for.
type room struct {
	tasks []string // those that have any
	least int      // what the one has that has the least
	ahead bool     // jobs are claimed ahead
}

// room returns which tasks have room. [backlog.reopened] tells when one more has.
func (b *backlog) room(set *taskSet) room {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := room{least: maxClaim, ahead: b.pace.ahead > 0}
	for _, name := range set.names {
		if limit := set.byName[name].limit; limit > 0 {
			count := b.countOf(name)
			count.full = count.busy >= limit
			if count.full {
				continue
			}
			r.least = min(r.least, limit-count.busy)
		}
		r.tasks = append(r.tasks, name)
	}
	return r
}

// reopened returns, once, whether a task that had no room has some again.
func (b *backlog) reopened() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	reopened := b.hasRoom
	b.hasRoom = false
	return reopened
}

// taskCount is what the backlog knows of a task.
type taskCount struct {
	busy int  // jobs waiting or running
	full bool // it had no room when it was last asked for
}

func (b *backlog) countOf(task string) *taskCount {
	count := b.busyOf[task]
	if count == nil {
		count = &taskCount{}
		b.busyOf[task] = count
	}
	return count
}

// enter counts jobs in.
func (b *backlog) enter(jobs []*Job) {
	b.busy += len(jobs)
	var count *taskCount
	task := ""
	for _, job := range jobs {
		if count == nil || job.TaskIdentifier != task { // most have the task of the one before
			task = job.TaskIdentifier
			count = b.countOf(task)
		}
		count.busy++
		job.hold.task = count
	}
}

// left notes that a job is not claimed any more, or has run.
func (b *backlog) left(job *Job) {
	b.busy--
	count := job.hold.task
	count.busy--
	if count.full {
		count.full = false
		b.hasRoom = true
	}
}
