package shim

// room is the room that the tasks of a set have.
type room struct {
	tasks []string // those that have any
	least int      // the room of the task that has the least
	ahead bool     // jobs are claimed ahead
}

// room returns which tasks have room. [backlog.reopened] reports when one more has.
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

// reopened returns, once, whether a task that was full has room again.
func (b *backlog) reopened() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	reopened := b.hasRoom
	b.hasRoom = false
	return reopened
}

// taskCount is the state of a task in the backlog.
type taskCount struct {
	busy int  // jobs waiting or running
	full bool // it was full at the last check
}

func (b *backlog) countOf(task string) *taskCount {
	count := b.busyOf[task]
	if count == nil {
		count = &taskCount{}
		b.busyOf[task] = count
	}
	return count
}

// enter counts new jobs.
func (b *backlog) enter(jobs []*Job) {
	b.busy += len(jobs)
	var count *taskCount
	task := ""
	for _, job := range jobs {
		if count == nil || job.TaskIdentifier != task { // most have the same task as the previous one
			task = job.TaskIdentifier
			count = b.countOf(task)
		}
		count.busy++
		job.hold.task = count
	}
}

// left records that a job is no longer claimed, or has run.
func (b *backlog) left(job *Job) {
	b.busy--
	count := job.hold.task
	count.busy--
	if count.full {
		count.full = false
		b.hasRoom = true
	}
}
