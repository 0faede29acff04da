package interleave

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// The model computes the effect of each public call when it runs alone: the answer and the rows after the call, from
// the rows before it, its arguments and the time. It is written from the documentation, not from the SQL functions.

// moment is a time in microseconds since 1970; 0 is null.
type moment int64

const (
	second         = moment(1000000)
	minute         = 60 * second
	hour           = 60 * minute
	minusInfinity  = moment(math.MinInt64)
	staleAfter     = 4 * hour // how long a worker that is not registered keeps its locks
	deadAfter      = 30 * second
	beatEvery      = 5 * second
	sweepEvery     = minute
	forgetAfter    = 24 * hour
	crashesAllowed = 3
)

// state is the content of the tables. Jobs refer to tasks and queues by name.
type state struct {
	Tasks     map[string]bool
	Queues    map[string]*queue
	Jobs      map[int64]*job
	Suspects  map[int64]*suspect
	Cancels   map[int64]*cancel
	Records   map[string]*record // by kind and key
	Workers   map[string]*worker
	Crontabs  map[string]*crontab
	Schedules map[string]*schedule
	SweptAt   moment // when stale locks were last searched for
	TidiedAt  moment // when the side tables were last tidied
	RunAgain  bool   // the setting recovered_jobs is run
	LastID    int64
	ReadAt    moment // when the tables were read
}

type queue struct {
	LockedBy string
	LockedAt moment
}

type job struct {
	ID          int64
	Task        string
	Queue       string // "" is none
	Held        bool   // as a suspect: it is in no queue until it is unheld
	Payload     string // as jsonb prints it
	Priority    int
	RunAt       moment
	Attempts    int
	MaxAttempts int
	LastError   string
	CreatedAt   moment
	UpdatedAt   moment
	Key         string
	LockedBy    string
	LockedAt    moment
	Revision    int
	Flags       string // as jsonb prints it
	Steps       string // those of its revision, as name=result
}

// suspect is a job that a worker held when it died.
type suspect struct {
	JobID    int64
	Crashes  int
	WorkerID string // that last claimed it as a suspect
	IsAlone  bool
	Strict   bool
	RoomAt   moment
}

// cancel is a running job that was canceled.
type cancel struct {
	WorkerID string
	Reason   string
}

type worker struct {
	Tasks        []string
	Crontab      []string
	LastSeenAt   moment
	BeatingSince moment
	RecoveredAt  moment
}

// env is the environment of a call: the time of its transaction, the clock, the lease that a world begins with, and the
// rows that other calls under way hold.
type env struct {
	now, clock moment
	lease      moment
	held       map[string]bool
}

// operation is a public call: its SQL, and its effect in the model.
type operation interface {
	sql() string
	apply(s *state, e env) answer
}

// answer is what a call returns: its rows as the SQL of the call prints them, or a SQLSTATE.
type answer struct {
	rows []string
	code string
}

// String is the answer as a session notes it.
func (a answer) String() string {
	if a.code != "" {
		return "error " + a.code
	}
	return strings.Join(a.rows, "\n")
}

func (j *job) isAvailable() bool { return j.LockedAt == 0 && j.Attempts < j.MaxAttempts }

// isFree reports whether administrators may change the job: it is not running, or has been for so long that the worker
// must be gone.
func (j *job) isFree(now moment) bool { return j.LockedAt == 0 || j.LockedAt < now-staleAfter }

func (j *job) state(now moment) string {
	switch {
	case j.LockedAt != 0:
		return "running"
	case j.Attempts >= j.MaxAttempts:
		return "failed"
	case j.RunAt > now:
		return "scheduled"
	}
	return "ready"
}

// retire takes the key of a job away and makes sure that it never runs again, even if its worker returns it.
func (j *job) retire(now moment) {
	j.Key = ""
	j.failForGood()
	j.UpdatedAt = now
}

func (j *job) failForGood() {
	if j.LockedAt != 0 {
		j.MaxAttempts = min(j.MaxAttempts, 32766)
		j.Attempts = j.MaxAttempts + 1
	} else {
		j.Attempts = j.MaxAttempts
	}
}

func (j *job) unlock() { j.LockedBy, j.LockedAt = "", 0 }

// text is the job as answers show it; jobColumns is the same in SQL.
func (j *job) text() string {
	return fmt.Sprintf("%s|%d|%d|%d|%s|%d|%s|%s", j.Payload, j.Priority, j.Attempts, j.MaxAttempts, j.Key, j.Revision,
		j.LockedBy, j.Flags)
}

const jobColumns = "j.payload::jsonb, j.priority, j.attempts, j.max_attempts, j.key, j.revision, j.locked_by, j.flags"

// backoff is how long a job that failed its nth attempt waits: e^n seconds, constant from the tenth on.
func backoff(attempts int) moment {
	return moment(math.RoundToEven(math.Exp(float64(min(attempts, 10))) * float64(second)))
}

// retryAt is when a job that fails now runs again.
func (j *job) retryAt(now moment) moment { return max(now, j.RunAt) + backoff(j.Attempts) }

// before is the order in which jobs are claimed.
func before(a, b *job) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.RunAt, b.RunAt), cmp.Compare(a.ID, b.ID))
}

// inOrder returns the jobs in the order in which they are claimed.
func (s *state) inOrder() []*job { return slices.SortedFunc(maps.Values(s.Jobs), before) }

// byID returns those of these jobs that exist, by id.
func (s *state) byID(ids []int64) (found []*job) {
	for _, id := range slices.Sorted(slices.Values(ids)) {
		if j := s.Jobs[id]; j != nil {
			found = append(found, j)
		}
	}
	return found
}

// underKey returns the job that has a key.
func (s *state) underKey(key string) *job {
	for _, j := range s.Jobs {
		if key != "" && j.Key == key {
			return j
		}
	}
	return nil
}

func (s *state) freeQueue(name, worker string) {
	if q := s.Queues[name]; q != nil && q.LockedBy == worker {
		*q = queue{}
	}
}

// counts reports whether a suspect still is one: it waits, or the worker that claimed it as one runs it.
func (s *state) counts(suspect *suspect) bool {
	j := s.Jobs[suspect.JobID]
	return j != nil && (j.Held && j.isAvailable() || j.LockedAt != 0 && j.LockedBy == suspect.WorkerID)
}

// unhold gives a job its queue back. The queue may have been deleted meanwhile.
func (s *state) unhold(j *job) {
	if j.Held {
		j.Held = false
		s.makeQueue(j.Queue)
	}
}

func (s *state) makeQueue(name string) {
	if name != "" && s.Queues[name] == nil {
		s.Queues[name] = &queue{}
	}
}

// suspectAgain holds a suspect that its worker has freed without ending it.
func (s *state) suspectAgain(j *job, worker string) {
	if suspect := s.Suspects[j.ID]; suspect != nil && suspect.WorkerID == worker {
		suspect.WorkerID = ""
		j.Held = j.isAvailable()
	}
}

// clone returns a copy that shares nothing.
func (s *state) clone() *state {
	return &state{
		Tasks: maps.Clone(s.Tasks), Queues: cloned(s.Queues), Jobs: cloned(s.Jobs), Suspects: cloned(s.Suspects),
		Cancels: cloned(s.Cancels), Records: cloned(s.Records), Workers: cloned(s.Workers),
		Crontabs: cloned(s.Crontabs), Schedules: cloned(s.Schedules),
		SweptAt: s.SweptAt, TidiedAt: s.TidiedAt, RunAgain: s.RunAgain, LastID: s.LastID, ReadAt: s.ReadAt,
	}
}

func cloned[K comparable, V any](m map[K]*V) map[K]*V {
	c := make(map[K]*V, len(m))
	for key, value := range m {
		v := *value
		c[key] = &v
	}
	return c
}

// The names of rows that calls under way may hold.
func jobRow(id int64) string       { return fmt.Sprintf("job %d", id) }
func queueRow(name string) string  { return "queue " + name }
func headRow(name string) string   { return "head of queue " + name }
func placeRow(name string) string  { return "head of queue " + name + " and its place in the batch" }
func workerRow(id string) string   { return "worker " + id }
func suspectRow(id int64) string   { return fmt.Sprintf("suspect %d", id) }
func recordRow(name string) string { return "record " + name }
func taskName(name string) string  { return "task name " + name }
func queueName(name string) string { return "queue name " + name }

const (
	sweepRow    = "turn of the sweep"
	tidyRow     = "turn of the tidying"
	recoveryRow = "turn of the recovery"
)
