package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// model says which jobs may start. It knows limits and pauses as they were set; jobs and queues are what the database
// has.
type model struct {
	limits map[string]*limit
	paused map[pause]bool
	jobs   []*seen
	locked map[string]string // the queues that are locked, and by whom
}

// seen is a job as it is in the database.
type seen struct {
	ID          int64
	N           string // names it in statements
	Task, Queue string
	Key, Flag   string // for limits by payload:c and by flag:t; empty: none
	Forbidden   bool
	Priority    int
	Due         bool
	RunAt       float64
	Attempts    int
	MaxAttempts int
	LockedBy    string
	Held        bool // for get_job_alone
}

// limit is a limit. A number is 0 if it is not set.
type limit struct {
	tasks             []string // nil: all
	by                string
	most, total, rate int
	owed              float64 // by gates that are made later, as a part of the burst
	gates             map[string]*gate
	fair              bool
}

// gate is what is particular to a key.
type gate struct {
	most   int
	owed   float64
	closed bool
}

// pause is what pause was called with; all empty: everything.
type pause struct{ task, queue, limit, key string }

// claimer is who claims.
type claimer struct {
	worker    string
	tasks     []string // nil: all
	forbidden bool     // jobs with the flag no
}

func newModel() *model { return &model{limits: map[string]*limit{}, paused: map[pause]bool{}} }

func (l *limit) appliesTo(task string) bool { return l.tasks == nil || slices.Contains(l.tasks, task) }

// keyOf returns the key of a job, and whether it passes the gates of the limit.
func (l *limit) keyOf(j *seen) (string, bool) {
	switch l.by {
	case "":
		return "", true
	case "flag:t":
		return j.Flag, j.Flag != ""
	default:
		return j.Key, j.Key != ""
	}
}

func (l *limit) gate(key string) *gate {
	if l.gates[key] == nil {
		l.gates[key] = &gate{owed: l.owed}
	}
	return l.gates[key]
}

// isOurs returns whether a job is run by a worker of gw: limits do not count those of others.
func (j *seen) isOurs() bool { return strings.HasPrefix(j.LockedBy, "w") }

func (j *seen) isAvailable() bool { return j.LockedBy == "" && j.Attempts < j.MaxAttempts }

func before(a, b *seen) bool {
	if a.Priority != b.Priority {
		return a.Priority < b.Priority
	} else if a.RunAt != b.RunAt {
		return a.RunAt < b.RunAt
	}
	return a.ID < b.ID
}

// running returns how many jobs run at the gate of a key, and at that of the total.
func (m *model) running(l *limit, key string) (ofKey, all int) {
	for _, j := range m.jobs {
		if k, ok := l.keyOf(j); ok && j.isOurs() && l.appliesTo(j.Task) {
			all++
			if k == key {
				ofKey++
			}
		}
	}
	return ofKey, all
}

// forbids returns why a job may not start, apart from its queue; empty: it may.
func (m *model) forbids(c claimer, j *seen) string {
	switch {
	case !j.isAvailable() || j.Held:
		return "not available"
	case !m.suits(c, j):
		return "not for this worker"
	case m.paused[pause{}]:
		return "everything is paused"
	}
	for _, name := range sortedKeys(m.limits) {
		l := m.limits[name]
		key, ok := l.keyOf(j)
		if !ok || !l.appliesTo(j.Task) {
			continue
		}
		g := l.gate(key)
		most := l.most
		if g.most > 0 {
			most = g.most
		}
		ofKey, all := m.running(l, key)
		switch {
		case m.paused[pause{limit: name}] || l.by != "" && m.paused[pause{limit: name, key: key}]:
			return "the limit " + name + " or its key is paused"
		case g.closed:
			return "the key " + key + " of " + name + " is closed"
		case most > 0 && ofKey >= most:
			return fmt.Sprintf("%d run at the key %q of %s", ofKey, key, name)
		case l.total > 0 && all >= l.total:
			return fmt.Sprintf("%d run at %s", all, name)
		case l.rate > 0 && math.Floor(float64(l.rate)*(1-g.owed)+1e-4) < 1:
			return "the rate of " + name + " is used up"
		}
	}
	return ""
}

// suits returns whether a worker takes a job, whatever limits say.
func (m *model) suits(c claimer, j *seen) bool {
	return (c.tasks == nil || slices.Contains(c.tasks, j.Task)) && !(c.forbidden && j.Forbidden) && j.Due &&
		!m.paused[pause{task: j.Task}]
}

// may returns why a claimer may not take a job now; empty: it may.
func (m *model) may(c claimer, j *seen) string {
	if why := m.forbids(c, j); why != "" {
		return why
	}
	if j.Queue == "" {
		return ""
	}
	if m.paused[pause{queue: j.Queue}] {
		return "its queue is paused"
	}
	if by, ok := m.locked[j.Queue]; ok {
		return "its queue is locked by " + by
	}
	for _, o := range m.jobs {
		if o.Queue == j.Queue && o.isAvailable() && !o.Held && m.suits(c, o) && before(o, j) {
			return "job " + o.N + " comes first in its queue"
		}
	}
	return ""
}

// startable returns the jobs that a claimer may take, in order.
func (m *model) startable(c claimer) (jobs []*seen) {
	for _, j := range m.jobs {
		if m.may(c, j) == "" {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b *seen) int {
		if before(a, b) {
			return -1
		}
		return 1
	})
	return jobs
}

// start notes that a job has started.
func (m *model) start(worker string, j *seen) {
	j.LockedBy = worker
	j.Attempts++
	if j.Queue != "" {
		m.locked[j.Queue] = worker
	}
	m.charge(j, 1)
}

// charge changes what a job's gates owe to their rates.
func (m *model) charge(j *seen, starts float64) {
	for _, l := range m.limits {
		if key, ok := l.keyOf(j); ok && l.appliesTo(j.Task) && l.rate > 0 {
			g := l.gate(key)
			g.owed = max(0, g.owed+starts/float64(l.rate))
		}
	}
}

// hasFair returns whether keys take turns, so that the model does not know the order.
func (m *model) hasFair() bool {
	for _, l := range m.limits {
		if l.fair {
			return true
		}
	}
	return false
}

func (m *model) hasRate() bool {
	for _, l := range m.limits {
		if l.rate > 0 {
			return true
		}
	}
	return false
}

func (m *model) byID(id int64) *seen {
	for _, j := range m.jobs {
		if j.ID == id {
			return j
		}
	}
	return nil
}

// clone copies what claims change.
func (m *model) clone() *model {
	c := &model{limits: map[string]*limit{}, paused: m.paused, locked: map[string]string{}}
	for name, l := range m.limits {
		copied := *l
		copied.gates = map[string]*gate{}
		for key, g := range l.gates {
			of := *g
			copied.gates[key] = &of
		}
		c.limits[name] = &copied
	}
	for _, j := range m.jobs {
		copied := *j
		c.jobs = append(c.jobs, &copied)
	}
	for queue, by := range m.locked {
		c.locked[queue] = by
	}
	return c
}

// setLimit does what set_limit does.
func (m *model) setLimit(name string, to limit) {
	old := m.limits[name]
	if old == nil {
		to.gates = map[string]*gate{}
		m.limits[name] = &to
		return
	}
	to.gates, to.owed = old.gates, old.owed
	if old.by != to.by { // the keys are others
		for _, g := range old.gates {
			to.owed = max(to.owed, g.owed)
		}
		to.gates = map[string]*gate{}
	}
	m.limits[name] = &to
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
