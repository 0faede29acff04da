package interleave

import "fmt"

// The intervals of the calls that decide by a key. The times that they add are not exact: they begin at a time by the
// clock.
const (
	onceWithin    = hour
	debounceWait  = 10 * minute
	debounceMost  = 30 * minute
	throttleEvery = 20 * minute
)

// record is what add_job_once, debounce_job or throttle_job keep of their calls under a key.
type record struct {
	JobID     int64
	BeganAt   moment
	NotBefore moment
	KeptUntil moment
}

// recordOf returns the record of the calls of a kind under a key, and whether it is new.
func (s *state) recordOf(kind, key string) (r *record, isNew bool) {
	name := kind + " " + key
	if s.Records[name] == nil {
		s.Records[name] = &record{}
		return s.Records[name], true
	}
	return s.Records[name], false
}

// decided is the answer of a call about its job, nil if it is gone. Whether a job that another session has made due is
// due for a call depends on which of their transactions began first, so the answer does not say it.
func decided(j *job, isNew bool, e env) answer {
	if j == nil {
		return answer{rows: []string{"gone||f"}}
	}
	state := j.state(e.now)
	if j.isAvailable() {
		state = "waiting"
	}
	return answer{rows: []string{fmt.Sprintf("%s|%d|%s", state, j.Revision, boolText(isNew))}}
}

// decide is the SQL of a call; intervals are its arguments that are no options of jobs.
func decide(function string, spec jobSpec, intervals string) string {
	return fmt.Sprintf("select case when d.state in ('ready', 'scheduled') then 'waiting' else d.state end, d.revision, d.is_new "+
		"from graphile_worker.%s(%s, %s, %s, %s, queue_name => %s, max_attempts => %s, priority => %d, flags => %s) as d", function, literal(spec.task), literal(spec.payload), literal(spec.key), intervals,
		literal(spec.queue), numberLiteral(spec.maxAttempts), spec.priority, textArray(spec.flags))
}

func intervalLiteral(m moment) string { return fmt.Sprintf("interval '%d seconds'", m/second) }

// once is add_job_once.
type once jobSpec

func (c once) sql() string {
	return decide("add_job_once", jobSpec(c), "within => "+intervalLiteral(onceWithin)+", run_at => "+timeLiteral(c.runAt))
}

func (c once) apply(s *state, e env) answer {
	r, isNew := s.recordOf("once", c.key)
	if !isNew && r.KeptUntil > e.clock {
		return decided(s.Jobs[r.JobID], false, e)
	}
	j := s.put(jobSpec(c), e)
	*r = record{JobID: j.ID, BeganAt: e.clock, KeptUntil: e.clock + onceWithin}
	return decided(j, j.Revision == 0, e)
}

func (c once) holds(*state) []string { return jobSpec(c).holds() }

// debounce is debounce_job; with most, it has a max_wait.
type debounce struct {
	spec jobSpec
	most bool
}

func (c debounce) sql() string {
	intervals := "wait => " + intervalLiteral(debounceWait)
	if c.most {
		intervals += ", max_wait => " + intervalLiteral(debounceMost)
	}
	return decide("debounce_job", c.spec, intervals)
}

func (c debounce) apply(s *state, e env) answer {
	r, isNew := s.recordOf("debounce", c.spec.key)
	j := s.underKey(c.spec.key)
	waits := j != nil && j.isAvailable()
	if isNew || !waits || j.ID != r.JobID || j.Attempts > 0 { // the first call since the job has last started
		r.BeganAt, r.NotBefore = e.clock, 0
		if waits && j.Attempts > 0 {
			r.NotBefore = j.RunAt
		}
	}
	due := e.clock + debounceWait
	if c.most {
		due = min(due, r.BeganAt+debounceMost)
	}
	c.spec.runAt = max(due, r.NotBefore)
	j = s.put(c.spec, e)
	r.JobID, r.KeptUntil = j.ID, c.spec.runAt
	return decided(j, j.Revision == 0, e)
}

func (c debounce) holds(*state) []string { return c.spec.holds() }

// throttle is throttle_job.
type throttle jobSpec

func (c throttle) sql() string {
	return decide("throttle_job", jobSpec(c), "every => "+intervalLiteral(throttleEvery))
}

func (c throttle) apply(s *state, e env) answer {
	r, isNew := s.recordOf("throttle", c.key)
	j := s.underKey(c.key)
	waits := j != nil && j.isAvailable()
	switch {
	case isNew:
		r.BeganAt = e.now
	case !waits || j.ID != r.JobID:
		r.BeganAt = max(e.now, r.BeganAt+throttleEvery)
	}
	if waits && j.Attempts > 0 {
		r.BeganAt = max(r.BeganAt, j.RunAt)
	}
	c.runAt = r.BeganAt
	j = s.put(jobSpec(c), e)
	r.JobID, r.KeptUntil = j.ID, r.BeganAt+throttleEvery
	return decided(j, j.Revision == 0, e)
}

func (c throttle) holds(*state) []string { return jobSpec(c).holds() }

// dropRecords deletes the records that are no longer needed.
func (s *state) dropRecords(e env) {
	for name, r := range s.Records {
		switch {
		case r.KeptUntil >= e.now-minute || e.held[recordRow(name)]:
		case s.Jobs[r.JobID] != nil && name[:4] != "once":
			r.KeptUntil = e.now + hour
		default:
			delete(s.Records, name)
		}
	}
}
