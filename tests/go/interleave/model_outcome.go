package interleave

import (
	"fmt"
	"slices"
	"strings"
)

// worldLease stands for the lease of the job that is running when a world begins.
const worldLease = moment(1)

// holder is a worker that names jobs, each by the lease of a claim; without leases, by its own id alone.
type holder struct {
	worker string
	ids    []int64
	leases []moment // nil: none
}

// jobs returns the jobs that the worker holds, by id.
func (h holder) jobs(s *state, e env) (held []*job) {
	for i, id := range h.ids {
		lease := moment(0)
		if h.leases != nil {
			lease = h.leases[i]
		}
		if lease == worldLease {
			lease = e.lease
		}
		j := s.Jobs[id]
		if j != nil && j.LockedAt != 0 && j.LockedBy == h.worker && (lease == 0 || lease == j.LockedAt) {
			held = append(held, j)
		}
	}
	slices.SortFunc(held, func(a, b *job) int { return int(a.ID - b.ID) })
	return held
}

// mostOfQueue is the maximum number of jobs of a queue that a claim may hold.
const mostOfQueue = 1000

// release unlocks a job, and its queue if the claim holds no other job of it: the locked_at of the queue counts them.
func (s *state) release(j *job) {
	if q := s.Queues[j.Queue]; q != nil && q.LockedBy == j.LockedBy && q.LockedAt < j.LockedAt &&
		q.LockedAt+1 > j.LockedAt-mostOfQueue {
		q.LockedAt++
	} else {
		s.freeQueue(j.Queue, j.LockedBy)
	}
	j.unlock()
}

func (j *job) outcome(now moment) string {
	return fmt.Sprintf("%d|%s|%d|%d", j.ID, j.state(now), j.Attempts, j.MaxAttempts)
}

const outcomeColumns = "o.id, o.state, o.attempts, o.max_attempts"

// complete is complete_job of one job, complete_job_batch of several.
type complete struct {
	holder
	single bool
}

func (c complete) sql() string {
	if c.single {
		return fmt.Sprintf("select graphile_worker.complete_job(%s, %d, %s)", literal(c.worker), c.ids[0], c.lease())
	}
	return fmt.Sprintf("select id from graphile_worker.complete_job_batch(%s, %s, %s) as id order by id",
		literal(c.worker), idArray(c.ids), leaseArray(c.leases))
}

func (c complete) apply(s *state, e env) (a answer) {
	for _, j := range c.jobs(s, e) {
		s.release(j)
		delete(s.Jobs, j.ID)
		a.rows = append(a.rows, fmt.Sprint(j.ID))
	}
	if c.single {
		return answer{rows: []string{boolText(a.rows != nil)}}
	}
	return a
}

// lease returns the lease of a single job as SQL.
func (h holder) lease() string {
	if h.leases == nil {
		return "null"
	}
	return leaseLiteral(h.leases[0])
}

// fail is fail_job of one job, fail_job_batch of several.
type fail struct {
	holder
	single    bool
	message   string
	payload   string
	permanent bool
}

func (c fail) sql() string {
	if c.single {
		return fmt.Sprintf("select %s from graphile_worker.fail_job(%s, %d, %s, %s, replacement_payload => %s, permanent => %t) as o",
			outcomeColumns, literal(c.worker), c.ids[0], literal(c.message), c.lease(), literal(c.payload), c.permanent)
	}
	failures := make([]string, len(c.ids))
	for i, id := range c.ids {
		failures[i] = fmt.Sprintf(`{"id": %d, "message": %q, "permanent": %t`, id, c.message, c.permanent)
		if c.payload != "" {
			failures[i] += `, "payload": ` + c.payload
		}
		if c.leases != nil {
			failures[i] += `, "lease": ' || ` + leaseLiteral(c.leases[i]) + " || '"
		}
		failures[i] += "}"
	}
	return fmt.Sprintf("select %s from graphile_worker.fail_job_batch(%s, ('[%s]')::json) as o order by 1",
		outcomeColumns, literal(c.worker), strings.Join(failures, ", "))
}

func (c fail) apply(s *state, e env) (a answer) {
	for _, j := range c.jobs(s, e) {
		s.release(j)
		j.LastError, j.RunAt = c.message, j.retryAt(e.now)
		j.Attempts = min(j.Attempts, j.MaxAttempts)
		if c.permanent {
			j.Attempts = j.MaxAttempts
		}
		if c.payload != "" {
			j.Payload = jsonb(c.payload)
		}
		s.suspectAgain(j, c.worker)
		a.rows = append(a.rows, j.outcome(e.now))
	}
	return a
}

// giveBack is return_job of one job, return_job_batch of several.
type giveBack struct {
	holder
	single bool
	in     moment // 0: the jobs keep their run_at
}

func (c giveBack) sql() string {
	in := "null"
	if c.in != 0 {
		in = fmt.Sprintf("interval '%d seconds'", c.in/second)
	}
	if c.single {
		return fmt.Sprintf("select %s from graphile_worker.return_job(%s, %d, %s, run_in => %s) as o", outcomeColumns,
			literal(c.worker), c.ids[0], c.lease(), in)
	}
	return fmt.Sprintf("select %s from graphile_worker.return_job_batch(%s, %s, %s, run_in => %s) as o order by 1",
		outcomeColumns, literal(c.worker), idArray(c.ids), leaseArray(c.leases), in)
}

func (c giveBack) apply(s *state, e env) (a answer) {
	for _, j := range c.jobs(s, e) {
		s.release(j)
		j.Attempts = max(0, j.Attempts-1)
		if c.in != 0 {
			j.RunAt = e.now + c.in
		}
		s.suspectAgain(j, c.worker)
		a.rows = append(a.rows, j.outcome(e.now))
	}
	return a
}

// renew is renew_leases.
type renew struct {
	holder
	olderThan moment
}

func (c renew) sql() string {
	return fmt.Sprintf("select job_id from graphile_worker.renew_leases(%s, %s, %s, older_than => interval '%d seconds') order by 1",
		literal(c.worker), idArray(c.ids), leaseArray(c.leases), c.olderThan/second)
}

func (c renew) apply(s *state, e env) (a answer) {
	for _, id := range s.renew(c.holder, c.olderThan, e) {
		a.rows = append(a.rows, fmt.Sprint(id))
	}
	return a
}

// renew returns the jobs that a worker holds, and renews the locks that are old, with those of their queues.
func (s *state) renew(h holder, olderThan moment, e env) (ids []int64) {
	held := h.jobs(s, e)
	old := make(map[string]moment) // by queue, how many jobs can be renewed
	isOld := func(j *job) bool { return j.LockedAt < e.clock-olderThan && !e.held[jobRow(j.ID)] }
	for _, j := range held {
		ids = append(ids, j.ID)
		if isOld(j) {
			old[j.Queue]++
		}
	}
	for _, j := range held {
		if q := s.Queues[j.Queue]; !isOld(j) {
			continue
		} else if q != nil && q.LockedBy == h.worker {
			others := q.LockedAt+old[j.Queue] <= j.LockedAt && q.LockedAt+old[j.Queue] > j.LockedAt-mostOfQueue
			if others || e.held[queueRow(j.Queue)] {
				continue
			}
		}
		j.LockedAt = e.clock
	}
	for name, n := range old {
		for _, j := range held {
			if q := s.Queues[name]; q != nil && q.LockedBy == h.worker && j.Queue == name && j.LockedAt == e.clock {
				q.LockedAt = e.clock - n + 1
			}
		}
	}
	return ids
}
