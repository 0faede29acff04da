package interleave

import (
	"fmt"
	"slices"
)

// rowsOf returns jobs as answers of administrators' calls show them, by id.
func rowsOf(jobs []*job) (a answer) {
	for _, j := range jobs {
		a.rows = append(a.rows, j.text())
	}
	return a
}

// adminSQL calls a function that returns jobs.
func adminSQL(function, arguments string) string {
	return fmt.Sprintf("select %s from graphile_worker.%s(%s) as j order by j.id", jobColumns, function, arguments)
}

// freeJobs returns those of these jobs that administrators may change.
func (s *state) freeJobs(ids []int64, e env) []*job {
	return slices.DeleteFunc(s.byID(ids), func(j *job) bool { return !j.isFree(e.now) })
}

// completeJobs is complete_jobs.
type completeJobs struct{ ids []int64 }

func (c completeJobs) sql() string { return adminSQL("complete_jobs", idArray(c.ids)) }

func (c completeJobs) apply(s *state, e env) answer {
	free := s.freeJobs(c.ids, e)
	for _, j := range free {
		delete(s.Jobs, j.ID)
	}
	return rowsOf(free)
}

// failJobs is permanently_fail_jobs.
type failJobs struct {
	ids    []int64
	reason string
}

func (c failJobs) sql() string {
	return adminSQL("permanently_fail_jobs", idArray(c.ids)+", "+literal(c.reason))
}

func (c failJobs) apply(s *state, e env) answer {
	free := s.freeJobs(c.ids, e)
	for _, j := range free {
		s.unhold(j)
		j.failForGood()
		j.LastError, j.UpdatedAt = c.reason, e.now
		if c.reason == "" {
			j.LastError = "Manually marked as failed"
		}
	}
	return rowsOf(free)
}

// cancelJobs is cancel_jobs.
type cancelJobs struct {
	ids    []int64
	reason string
}

func (c cancelJobs) sql() string {
	return adminSQL("cancel_jobs", idArray(c.ids)+", "+literal(c.reason))
}

func (c cancelJobs) apply(s *state, e env) answer {
	var canceled []*job
	for _, id := range c.ids {
		delete(s.Cancels, id)
	}
	for _, j := range s.byID(c.ids) {
		if j.LockedAt == 0 && j.Attempts >= j.MaxAttempts {
			continue
		}
		if j.LockedAt != 0 {
			s.Cancels[j.ID] = &cancel{j.LockedBy, c.reason}
		}
		s.unhold(j)
		j.failForGood()
		j.LastError, j.UpdatedAt = c.reason, e.now
		if c.reason == "" {
			j.LastError = "Canceled"
		}
		canceled = append(canceled, j)
	}
	return rowsOf(canceled)
}

// reschedule is reschedule_jobs. Null values stay as they are.
type reschedule struct {
	ids                   []int64
	runAt                 moment
	priority, maxAttempts int  // 0: null
	attempts              *int // nil: null
}

func (c reschedule) sql() string {
	attempts := "null"
	if c.attempts != nil {
		attempts = fmt.Sprint(*c.attempts)
	}
	return adminSQL("reschedule_jobs", fmt.Sprintf("%s, run_at => %s, priority => %s, attempts => %s, max_attempts => %s",
		idArray(c.ids), timeLiteral(c.runAt), numberLiteral(c.priority), attempts, numberLiteral(c.maxAttempts)))
}

func (c reschedule) apply(s *state, e env) answer {
	free := s.freeJobs(c.ids, e)
	for _, j := range free {
		s.unhold(j)
		if c.runAt != 0 {
			j.RunAt = c.runAt
		}
		if c.priority != 0 {
			j.Priority = c.priority
		}
		if c.attempts != nil {
			j.Attempts = *c.attempts
		}
		if c.maxAttempts != 0 {
			j.MaxAttempts = c.maxAttempts
		}
		j.UpdatedAt = e.now
	}
	return rowsOf(free)
}

// retryJobs is retry_jobs.
type retryJobs struct{ ids []int64 }

func (c retryJobs) sql() string { return adminSQL("retry_jobs", idArray(c.ids)) }

func (c retryJobs) apply(s *state, e env) answer {
	var retried []*job
	for _, j := range s.byID(c.ids) {
		switch {
		case j.LockedAt != 0 || j.Attempts > j.MaxAttempts:
			continue
		case j.Attempts < j.MaxAttempts:
			j.RunAt = min(j.RunAt, e.now)
		default:
			j.RunAt, j.Attempts = e.now, 0
		}
		s.unhold(j)
		j.UpdatedAt = e.now
		retried = append(retried, j)
	}
	return rowsOf(retried)
}

// unlockWorkers is force_unlock_workers.
type unlockWorkers struct{ workers []string }

func (c unlockWorkers) sql() string {
	return fmt.Sprintf("select graphile_worker.force_unlock_workers(%s)", textArray(c.workers))
}

func (c unlockWorkers) apply(s *state, _ env) answer {
	started := make(firsts)
	for _, j := range s.inOrder() {
		if j.LockedAt == 0 || !slices.Contains(c.workers, j.LockedBy) {
			continue
		}
		if started.isBehind(j) {
			j.Attempts = max(0, j.Attempts-1)
		} else {
			j.Attempts = min(j.Attempts, j.MaxAttempts)
		}
		worker := j.LockedBy
		j.unlock()
		s.suspectAgain(j, worker)
	}
	for _, q := range s.Queues {
		if q.LockedAt != 0 && slices.Contains(c.workers, q.LockedBy) {
			*q = queue{}
		}
	}
	return answer{rows: []string{""}}
}

// cleanup is cleanup of everything, with force.
type cleanup struct{}

func (c cleanup) sql() string {
	return "select task, rows from graphile_worker.cleanup(array['DELETE_PERMAFAILED_JOBS', 'GC_TASK_IDENTIFIERS', 'GC_JOB_QUEUES'], force => true)"
}

func (c cleanup) apply(s *state, e env) answer {
	s.dropSpent(e)
	jobs, tasks, queues := 0, 0, 0
	usedTasks, usedQueues := make(map[string]bool), make(map[string]bool)
	for id, j := range s.Jobs {
		if j.LockedAt == 0 && j.Attempts >= j.MaxAttempts && !e.held[jobRow(id)] {
			delete(s.Jobs, id)
			jobs++
			continue
		}
		usedTasks[j.Task] = true
		usedQueues[j.Queue] = usedQueues[j.Queue] || !j.Held
	}
	for name := range s.Tasks {
		if !usedTasks[name] && !e.held[taskName(name)] {
			delete(s.Tasks, name)
			tasks++
		}
	}
	for name, q := range s.Queues {
		if !usedQueues[name] && q.LockedAt == 0 && !e.held[queueName(name)] {
			delete(s.Queues, name)
			queues++
		}
	}
	return answer{rows: []string{
		fmt.Sprintf("DELETE_PERMAFAILED_JOBS|%d", jobs), fmt.Sprintf("GC_TASK_IDENTIFIERS|%d", tasks),
		fmt.Sprintf("GC_JOB_QUEUES|%d", queues),
	}}
}
