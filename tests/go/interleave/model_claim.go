package interleave

import (
	"fmt"
	"slices"
	"strings"
)

// claimer is a worker that claims, and the jobs that it accepts.
type claimer struct {
	worker    string
	tasks     []string // nil: all
	forbidden []string // flags
	now       moment   // 0: that of the transaction
}

// suits reports whether the claimer may take a job that is waiting.
func (c claimer) suits(j *job, e env) bool {
	due := c.now
	if due == 0 {
		due = e.now
	}
	return j.isAvailable() && j.RunAt <= due && (c.tasks == nil || slices.Contains(c.tasks, j.Task)) &&
		!slices.ContainsFunc(c.forbidden, func(flag string) bool { return strings.Contains(j.Flags, `"`+flag+`"`) })
}

// arguments returns the claimer's arguments as SQL.
func (c claimer) arguments() string {
	text := fmt.Sprintf("%s, %s, forbidden_flags => %s", literal(c.worker), textArray(c.tasks), textArray(c.forbidden))
	if c.now != 0 {
		text += ", now => " + timeLiteral(c.now)
	}
	return text
}

const claimColumns = "j.payload::jsonb, j.task_identifier, j.queue_name, j.priority, j.attempts, j.max_attempts, j.key, j.flags, j.last_error, j.revision"

// claim locks jobs for a worker, and their queues, and returns them as claimColumns.
func (s *state) claim(jobs []*job, worker string, e env) (a answer) {
	for _, j := range jobs {
		j.Attempts++
		j.LockedBy, j.LockedAt = worker, e.clock
		if q := s.Queues[j.Queue]; q != nil && q.LockedAt != 0 { // by a job before this one
			q.LockedAt--
		} else if q != nil {
			*q = queue{worker, e.clock}
		}
		a.rows = append(a.rows, fmt.Sprintf("%s|%s|%s|%d|%d|%d|%s|%s|%s|%d",
			j.Payload, j.Task, j.Queue, j.Priority, j.Attempts, j.MaxAttempts, j.Key, j.Flags, j.LastError, j.Revision))
	}
	return a
}

// getJobBatch is get_job_batch: the first due jobs in order, of each free queue the head, and if the batch has room the
// jobs behind it. Suspects are held, and in no queue. If a concurrent call changes a head that the claim has chosen,
// the claim may take one job less.
type getJobBatch struct {
	claimer
	size    int
	ofQueue int // the maximum number of jobs of a queue; 0 is 1
}

func (c getJobBatch) sql() string {
	more := ""
	if c.ofQueue > 0 {
		more = fmt.Sprintf(", queue_batch => %d", c.ofQueue)
	}
	return fmt.Sprintf("select %s from graphile_worker.get_job_batch(%s, batch_size => %d%s) as j", claimColumns,
		c.arguments(), c.size, more)
}

func (c getJobBatch) apply(s *state, e env) answer {
	if s.runsAlone(c.worker, e) {
		return answer{}
	}
	var chosen []*job
	size := c.size
	for name := range s.Queues {
		if e.held[placeRow(name)] {
			size--
		}
	}
	passed := make(map[string]bool) // the queues of which the head was seen
	enough := 0                     // jobs in the queues of the batch
	fills := c.ofQueue > 1          // with jobs of few queues, if no other job is due
	for _, j := range s.Jobs {
		fills = fills && !(j.Queue == "" && !j.Held && claimer{now: c.now}.suits(j, e))
	}
	for _, j := range s.inOrder() {
		if len(chosen) >= size || j.Held || !c.suits(j, e) {
			continue
		}
		if j.Queue != "" {
			if passed[j.Queue] || s.Queues[j.Queue].LockedAt != 0 {
				continue
			}
			passed[j.Queue] = true
			if e.held[queueRow(j.Queue)] || e.held[headRow(j.Queue)] || fills && enough >= c.size {
				continue
			}
			enough += min(len(c.suitable(s, j.Queue, e)), c.ofQueue)
		}
		if !e.held[jobRow(j.ID)] {
			chosen = append(chosen, j)
		}
	}
	chosen = append(chosen, c.behind(s, chosen, size-len(chosen), e)...)
	slices.SortStableFunc(chosen, before)
	return s.claim(chosen, c.worker, e)
}

// suitable returns the jobs of a queue that the claimer may take, in order.
func (c claimer) suitable(s *state, name string, e env) (jobs []*job) {
	for _, j := range s.inOrder() {
		if j.Queue == name && !j.Held && c.suits(j, e) {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// behind returns up to room jobs that come directly behind the heads of their queues. A job that has a key, has failed
// before or is locked ends the jobs of its queue.
func (c getJobBatch) behind(s *state, heads []*job, room int, e env) (jobs []*job) {
	for _, head := range heads {
		if head.Queue == "" {
			continue
		}
		ended := false
		for n, j := range c.suitable(s, head.Queue, e) {
			if n == 0 || n >= c.ofQueue || room <= 0 {
				continue
			}
			room--
			if ended = ended || j.Key != "" || j.LastError != "" || e.held[jobRow(j.ID)]; !ended {
				jobs = append(jobs, j)
			}
		}
	}
	return jobs
}

// runsAlone reports whether a worker runs a suspect and may claim no other job. After one heartbeat interval it may,
// unless the suspect is strict; the suspect then counts as running beside others.
func (s *state) runsAlone(worker string, e env) bool {
	var ended *suspect
	for _, suspect := range s.Suspects {
		j := s.Jobs[suspect.JobID]
		if j == nil || j.LockedBy != worker || suspect.WorkerID != worker || !suspect.IsAlone {
			continue
		}
		if suspect.Strict || j.LockedAt > e.clock-beatEvery {
			return true
		}
		ended = suspect
	}
	if ended != nil {
		ended.IsAlone = false
	}
	return false
}

// getJobAlone is get_job_alone.
type getJobAlone struct {
	claimer
	beside bool
}

func (c getJobAlone) sql() string {
	return fmt.Sprintf("select %s from graphile_worker.get_job_alone(%s, beside => %t) as j", claimColumns,
		c.arguments(), c.beside)
}

func (c getJobAlone) apply(s *state, e env) answer {
	if s.runsAlone(c.worker, e) {
		return answer{}
	}
	for _, suspect := range s.Suspects {
		j := s.Jobs[suspect.JobID]
		if j != nil && j.LockedBy == c.worker && suspect.WorkerID == c.worker &&
			(!c.beside || j.LockedAt > e.clock-beatEvery) {
			return answer{}
		}
	}
	for _, j := range s.waitingSuspects(c.claimer, e) {
		suspect := s.Suspects[j.ID]
		roomIsOver := suspect.RoomAt != 0 && suspect.RoomAt <= e.clock-beatEvery
		if c.beside && (suspect.Strict || !roomIsOver) {
			continue
		}
		s.makeQueue(j.Queue)
		if e.held[jobRow(j.ID)] || !s.isHead(j, c.claimer, e) {
			continue
		}
		suspect.WorkerID, suspect.IsAlone = c.worker, !c.beside
		j.Held = false
		return s.claim([]*job{j}, c.worker, e)
	}
	return answer{}
}

// isHead reports whether a job may be taken as far as its queue is concerned.
func (s *state) isHead(j *job, c claimer, e env) bool {
	if j.Queue == "" {
		return true
	}
	if s.Queues[j.Queue].LockedAt != 0 || e.held[queueRow(j.Queue)] || e.held[headRow(j.Queue)] {
		return false
	}
	for _, other := range s.Jobs {
		if other.Queue == j.Queue && !other.Held && c.suits(other, e) && before(other, j) < 0 {
			return false
		}
	}
	return true
}

// waitingSuspects returns the suspects that a claimer may take, in order, but none whose queue is busy. While a strict
// one runs alone, no other strict one may be taken.
func (s *state) waitingSuspects(c claimer, e env) (waiting []*job) {
	strictRuns := false
	for _, suspect := range s.Suspects {
		j := s.Jobs[suspect.JobID]
		strictRuns = strictRuns || suspect.Strict && suspect.IsAlone && j != nil && j.LockedAt != 0 &&
			j.LockedBy == suspect.WorkerID
	}
	for _, j := range s.inOrder() {
		q := s.Queues[j.Queue]
		if j.Held && c.suits(j, e) && !(strictRuns && s.Suspects[j.ID].Strict) && (q == nil || q.LockedAt == 0) {
			waiting = append(waiting, j)
		}
	}
	return waiting
}

// getJob is get_job: suspects first, then one job, and if there is none stale locks are freed.
type getJob struct{ claimer }

func (c getJob) sql() string {
	return fmt.Sprintf("select %s from graphile_worker.get_job(%s) as j", claimColumns, c.arguments())
}

func (c getJob) apply(s *state, e env) answer {
	if len(s.Suspects) > 0 {
		if a := (getJobAlone{claimer: c.claimer}).apply(s, e); a.rows != nil {
			return a
		}
	}
	one := getJobBatch{c.claimer, 1, 0}
	a := one.apply(s, e)
	if a.rows == nil && s.sweep(staleAfter, e) > 0 {
		a = one.apply(s, e)
	}
	return a
}

// makeRoom is make_room.
type makeRoom struct{ claimer }

func (c makeRoom) sql() string {
	return fmt.Sprintf("select graphile_worker.make_room(%s, forbidden_flags => %s) is not null", textArray(c.tasks),
		textArray(c.forbidden))
}

func (c makeRoom) apply(s *state, e env) answer {
	for _, suspect := range s.Suspects {
		if suspect.RoomAt > e.clock-beatEvery {
			return answer{rows: []string{"f"}}
		}
	}
	made := false
	for _, j := range s.waitingSuspects(c.claimer, e) {
		suspect := s.Suspects[j.ID]
		isDue := suspect.RoomAt == 0 || suspect.Strict && suspect.RoomAt < e.clock-12*beatEvery
		if isDue && !e.held[suspectRow(j.ID)] {
			suspect.RoomAt, made = e.clock, true
		}
	}
	return answer{rows: []string{boolText(made)}}
}
