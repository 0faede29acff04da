package interleave

import (
	"fmt"
	"slices"
	"time"
)

// register is register_worker.
type register struct {
	worker string
	tasks  []string
}

func (c register) sql() string {
	return fmt.Sprintf("select graphile_worker.register_worker(%s, %s)", literal(c.worker), textArray(c.tasks))
}

func (c register) apply(s *state, e env) answer {
	w := &worker{Tasks: c.tasks, LastSeenAt: e.clock, BeatingSince: e.clock}
	if known := s.Workers[c.worker]; known != nil {
		w.Crontab = known.Crontab
	} else { // the defaults of its columns
		w.LastSeenAt, w.BeatingSince = e.now, e.now
	}
	s.Workers[c.worker] = w
	return answer{rows: []string{""}}
}

// deregister is deregister_worker.
type deregister struct{ worker string }

func (c deregister) sql() string {
	return fmt.Sprintf("select graphile_worker.deregister_worker(%s)", literal(c.worker))
}

func (c deregister) apply(s *state, _ env) answer {
	known := s.Workers[c.worker] != nil
	delete(s.Workers, c.worker)
	return answer{rows: []string{boolText(known)}}
}

// heartbeat is heartbeat.
type heartbeat struct{ holder }

func (c heartbeat) sql() string {
	return fmt.Sprintf("select registered, held_ids, alone_waits, died, freed, canceled_ids, reasons from graphile_worker.heartbeat(%s, %s, %s)",
		literal(c.worker), idArray(c.ids), leaseArray(c.leases))
}

func (c heartbeat) apply(s *state, e env) answer {
	w := s.Workers[c.worker]
	if w != nil {
		gap := e.clock - w.LastSeenAt
		if gap < 0 || gap > deadAfter/2 || w.RecoveredAt != 0 {
			w.BeatingSince = e.clock
		}
		w.LastSeenAt, w.RecoveredAt = e.clock, 0
	}
	held := s.renew(c.holder, hour, e)

	var died []string
	freed := 0
	mayKeep := !e.held[recoveryRow]
	if w != nil && w.BeatingSince <= e.clock-deadAfter && mayKeep {
		died, freed = s.recover(e)
	}

	waits := false
	if len(s.Suspects) > 0 {
		if mayKeep {
			s.dropSpentSuspects(e)
		}
		var tasks []string
		if w != nil && len(w.Tasks) > 0 {
			tasks = w.Tasks
		}
		waits = w != nil && s.aloneWaits(claimer{tasks: tasks}, e)
	}

	var canceled []int64
	var reasons []string
	if mayKeep {
		s.dropSpentCancels(e)
	}
	for id, cancel := range s.Cancels {
		if cancel.WorkerID == c.worker && s.isCanceled(id) {
			canceled = append(canceled, id)
		}
	}
	slices.Sort(canceled)
	for _, id := range canceled {
		reasons = append(reasons, quotedInArray(s.Cancels[id].Reason))
	}
	return answer{rows: []string{fmt.Sprintf("%s|%s|%s|%s|%d|%s|%s",
		boolText(w != nil), arrayText(held), boolText(waits), arrayText(died), freed, arrayText(canceled),
		arrayText(reasons))}}
}

func quotedInArray(text string) string {
	if text == "" {
		return `""`
	}
	return text
}

// aloneWaits reports whether a suspect waits that get_job_alone may return. It does not see one that another call makes
// meanwhile.
func (s *state) aloneWaits(c claimer, e env) bool {
	return slices.ContainsFunc(s.waitingSuspects(c, e), func(j *job) bool { return !e.held[jobRow(j.ID)] })
}

// isCanceled reports whether a canceled job still runs.
func (s *state) isCanceled(id int64) bool {
	j := s.Jobs[id]
	return j != nil && j.LockedAt != 0 && j.LockedBy == s.Cancels[id].WorkerID && j.Attempts > j.MaxAttempts
}

// recover frees the jobs and queues of dead workers. It leaves what was claimed within deadAfter, and what others hold.
func (s *state) recover(e env) (died []string, freed int) {
	since := e.clock - deadAfter
	var dead []string
	for id, w := range s.Workers {
		if w.RecoveredAt == 0 && w.LastSeenAt < since && !e.held[workerRow(id)] {
			dead = append(dead, id)
		}
	}
	slices.Sort(dead)
	started := make(firsts)
	excused := make(map[string]bool)
	for _, id := range dead {
		excused[id] = s.ranSuspectBeside(id)
	}
	leftOver := false
	for _, j := range s.inOrder() {
		isDead := j.LockedAt != 0 && j.LockedAt < since && slices.Contains(dead, j.LockedBy)
		switch isUnstarted := isDead && started.isBehind(j); {
		case isUnstarted && !e.held[jobRow(j.ID)]:
			s.recoverUnstarted(j, e)
			freed++
		case j.LockedAt == 0 || !slices.Contains(dead, j.LockedBy):
		case j.LockedAt >= since || e.held[jobRow(j.ID)]:
			leftOver = true
		default:
			s.recoverJob(j, excused[j.LockedBy], e)
			freed++
		}
	}
	for name, q := range s.Queues {
		if slices.Contains(dead, q.LockedBy) && q.LockedAt < since && !e.held[queueRow(name)] {
			*q = queue{}
		}
	}
	if leftOver {
		return nil, freed
	}
	for _, id := range dead {
		s.Workers[id].RecoveredAt = e.clock
	}
	return dead, freed
}

// ranSuspectBeside reports whether a worker died while it ran a suspect beside other jobs. None of them loses an
// attempt.
func (s *state) ranSuspectBeside(worker string) bool {
	for _, suspect := range s.Suspects {
		j := s.Jobs[suspect.JobID]
		if suspect.WorkerID == worker && !suspect.IsAlone && j != nil &&
			(j.LockedBy == worker && j.LockedAt != 0 || suspect.Strict) {
			return true
		}
	}
	return false
}

// A streak is the jobs of a queue that a claim holds.
type streak struct {
	queue, worker string
	lockedAt      moment
}

// firsts are the streaks of which the first job was seen. Only that job can have started.
type firsts map[streak]bool

// isBehind reports whether a locked job is not the first of its streak. It must be called with all jobs in order.
func (f firsts) isBehind(j *job) bool {
	s := streak{j.Queue, j.LockedBy, j.LockedAt}
	isBehind := j.Queue != "" && f[s]
	f[s] = true
	return isBehind
}

// obituary is the last error of a job whose worker died.
func (s *state) obituary(j *job) string {
	return fmt.Sprintf("Worker %s (host unknown, pid unknown) died; it was last seen at %s UTC.",
		j.LockedBy, time.UnixMicro(int64(s.Workers[j.LockedBy].LastSeenAt)).UTC().Format(time.DateTime))
}

// recoverUnstarted frees a job of a dead worker that waited behind another one of its queue.
func (s *state) recoverUnstarted(j *job, e env) {
	j.LastError = s.obituary(j)
	j.Attempts = max(0, j.Attempts-1)
	s.freeQueue(j.Queue, j.LockedBy)
	j.unlock()
}

// recoverJob frees a job of a dead worker, and makes it a suspect. Only crashes of workers that ran it alone count.
func (s *state) recoverJob(j *job, isExcused bool, e env) {
	known := s.Suspects[j.ID]
	isKnown := known != nil && known.WorkerID == j.LockedBy
	crashes := 0
	if isKnown {
		crashes = known.Crashes
		if known.IsAlone {
			crashes++
		}
	}
	if s.RunAgain {
		j.RunAt = max(e.now, j.RunAt)
	} else {
		j.RunAt = j.retryAt(e.now)
	}
	j.LastError = s.obituary(j)
	switch {
	case crashes >= crashesAllowed:
		j.Attempts = j.MaxAttempts
		j.LastError = fmt.Sprintf("Probably crashed its workers: %d died while they ran it alone. ", crashes) +
			j.LastError
	case isExcused:
		j.Attempts = max(0, j.Attempts-1)
	default:
		j.Attempts = min(j.Attempts, j.MaxAttempts)
	}
	s.freeQueue(j.Queue, j.LockedBy)
	j.unlock()
	if !j.isAvailable() {
		return
	}
	if known == nil {
		known = &suspect{JobID: j.ID, IsAlone: true}
		s.Suspects[j.ID] = known
	}
	j.Held = true
	known.Crashes, known.Strict, known.RoomAt = crashes, isKnown, 0
}

// stale is stale_sweep.
type stale struct{}

func (c stale) sql() string { return "select graphile_worker.stale_sweep()" }

func (c stale) apply(s *state, e env) answer {
	return answer{rows: []string{fmt.Sprint(s.sweep(staleAfter, e))}}
}

// sweep frees what has been locked for too long, if that is due.
func (s *state) sweep(expiry moment, e env) (freed int) {
	if s.SweptAt > e.clock-sweepEvery || e.held[sweepRow] {
		return 0
	}
	s.SweptAt = e.clock
	for id, w := range s.Workers {
		for _, j := range s.Jobs {
			if j.LockedAt != 0 && j.LockedBy == id && j.LockedAt < e.now-deadAfter {
				w.RecoveredAt = 0
			}
		}
	}
	started := make(firsts)
	for _, j := range s.inOrder() {
		isStale := s.isStale(j.LockedBy, j.LockedAt, expiry, e)
		switch isUnstarted := isStale && started.isBehind(j); {
		case e.held[jobRow(j.ID)]:
		case j.LockedAt == 0:
			j.Attempts = min(j.Attempts, j.MaxAttempts)
		case isUnstarted:
			j.Attempts = max(0, j.Attempts-1)
			j.unlock()
			freed++
		case isStale:
			if j.Attempts == j.MaxAttempts {
				j.LastError = "Worker " + j.LockedBy + " reported no outcome of the last attempt."
			}
			j.Attempts, j.RunAt = min(j.Attempts, j.MaxAttempts), max(j.RunAt, e.now)
			j.unlock()
			freed++
		}
	}
	for name, q := range s.Queues {
		if !e.held[queueRow(name)] && s.isStale(q.LockedBy, q.LockedAt, expiry, e) && !s.hasLockedJob(name) {
			*q = queue{}
		}
	}
	return freed
}

type tidy struct{}

func (c tidy) sql() string { return "select graphile_worker.tidy()" }

func (c tidy) apply(s *state, e env) answer {
	isDue := s.TidiedAt <= e.clock-sweepEvery && !e.held[tidyRow]
	if isDue {
		s.TidiedAt = e.clock
		s.dropSpent(e)
	}
	return answer{rows: []string{boolText(isDue)}}
}

func (s *state) hasLockedJob(queue string) bool {
	for _, j := range s.Jobs {
		if j.Queue == queue && j.LockedAt != 0 {
			return true
		}
	}
	return false
}

// isStale reports whether a lock has expired. Registered workers that are alive keep their locks.
func (s *state) isStale(owner string, lockedAt, expiry moment, e env) bool {
	w := s.Workers[owner]
	switch {
	case lockedAt == 0:
		return false
	case w == nil:
		return lockedAt < e.now-staleAfter
	}
	return lockedAt < e.now-max(expiry, deadAfter) && w.LastSeenAt < e.clock-deadAfter
}

// dropSpent deletes rows of the side tables that are no longer needed.
func (s *state) dropSpent(e env) {
	for id, w := range s.Workers {
		if w.LastSeenAt < e.now-forgetAfter && !e.held[workerRow(id)] {
			delete(s.Workers, id)
		}
	}
	s.dropRecords(e)
	s.dropSpentSuspects(e)
	s.dropSpentCancels(e)
}

func (s *state) dropSpentSuspects(e env) {
	for id, suspect := range s.Suspects {
		if s.counts(suspect) || e.held[suspectRow(id)] {
			continue
		}
		j := s.Jobs[id]
		if j != nil && j.LockedAt == 0 && !e.held[jobRow(id)] {
			s.unhold(j)
		}
		if j == nil || !j.Held {
			delete(s.Suspects, id)
		}
	}
}

func (s *state) dropSpentCancels(env) {
	for id := range s.Cancels {
		if !s.isCanceled(id) {
			delete(s.Cancels, id)
		}
	}
}
