package history

import (
	"fmt"
	"math"
	"strings"
)

// micros is a time by the database's clock, in microseconds since 1970.
type micros int64

const never micros = math.MaxInt64

// kind is the function that an event called.
type kind string

const (
	add        kind = "add"
	claim      kind = "claim"
	complete   kind = "complete"
	fail       kind = "fail"
	giveBack   kind = "return"
	remove     kind = "remove_job"
	finish     kind = "complete_jobs"
	abort      kind = "permanently_fail_jobs"
	reschedule kind = "reschedule_jobs"
	unlock     kind = "force_unlock_workers"
	expire     kind = "reset_stale_locks" // of one worker, after its locks were made old
	cleanup    kind = "cleanup"

	once     kind = "add_job_once"
	debounce kind = "debounce_job"
	throttle kind = "throttle_job"
	forget   kind = "_gw_drop_keyed_calls" // of the records of these calls
)

// The codes of events that have no SQLSTATE.
const (
	done     = ""
	unknown  = "unknown"     // the session ended in the call: it may have acted or not
	undone   = "rolled back" // it took part in a transaction that did not commit
	reported = "reported"    // made by a worker that does not say what it was answered
)

// event is one call and its answer. The call changed the database between start and end: start was read before the call
// began, end after its transaction had ended.
type event struct {
	session, number int
	kind            kind
	start, end      micros
	code            string // SQLSTATE, or done, unknown, undone, reported
	detail          string // of an error
	serializable    bool
	torn            bool // a claim during which its session ended; rows are the jobs that the worker held afterwards

	worker  string
	specs   []spec   // add, once, debounce, throttle: what was asked
	leases  []lease  // complete, fail, return: what was named
	touched []int64  // complete, fail, return: the answer
	keys    []string // add, once, debounce, throttle, remove: the keys in use
	ids     []int64  // finish, abort, reschedule: what was named
	revives bool     // reschedule: gives attempts
	delayed bool     // return: not before some time from now

	retryAt  map[int64]micros // fail: the run_at of the jobs in the answer
	interval micros           // once: within; debounce: wait; throttle: every
	maxWait  micros           // debounce: max_wait, 0 if it is null
	decided  decision         // once, debounce, throttle: the answer

	size      int      // claim: how many jobs were asked for; 0 if nobody knows
	ofQueue   int      // claim: how many of one named queue; 0: one
	tasks     []string // claim: of which tasks; nil: all
	noFlagged bool     // claim: none with a flag

	// add, claim, remove, finish, abort, reschedule: the answer. once, debounce, throttle: the job that the call has
	// added or replaced; none if once returned the job of an earlier call.
	rows []row
}

// decision is the answer of a call of once, debounce or throttle. Of a job that is gone it has an id and a state only.
type decision struct {
	id       int64
	state    string
	dueAt    micros
	revision int
	isNew    bool
}

// spec is one job that a call of add asked for. Its number is in its payload, alone or at the end of a list.
type spec struct {
	key, mode   string
	number      int64
	queue, task string
	flagged     bool
}

// lease is one claim of a job.
type lease struct {
	worker string
	job    int64
	at     micros
}

// row is a job as an answer shows it. Which columns are filled depends on the call.
type row struct {
	id       int64 // 0: the answer was null
	key      string
	revision int
	list     bool    // the payload is a list of numbers
	numbers  []int64 // the numbers in the payload

	priority    int
	runAt       micros
	queue, task string
	flagged     bool
	available   bool
	attempts    int
	maxAttempts int
	leasedAt    micros // of a claim
}

// acted reports whether the call certainly had an effect.
func (e *event) acted() bool { return e.code == done || e.code == reported }

// mayHaveActed reports whether the call had or may have had an effect.
func (e *event) mayHaveActed() bool { return e.acted() || e.code == unknown }

// isRequest reports whether the call asked for jobs.
func (e *event) isRequest() bool {
	return e.kind == add || e.kind == once || e.kind == debounce || e.kind == throttle
}

// before reports whether the call had ended when the other began.
func (e *event) before(other *event) bool { return e.end <= other.start }

// urgent reports whether the job is to be claimed before the other one.
func (r row) urgent(other row) bool {
	if r.priority != other.priority {
		return r.priority < other.priority
	}
	if r.runAt != other.runAt {
		return r.runAt < other.runAt
	}
	return r.id < other.id
}

func (e *event) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "session %d call %d [%d..%d] %s", e.session, e.number, e.start, e.end, e.kind)
	if e.worker != "" {
		fmt.Fprintf(&b, " worker %s", e.worker)
	}
	for _, s := range e.specs {
		fmt.Fprintf(&b, " {number %d key %q %s queue %q task %s}", s.number, s.key, s.mode, s.queue, s.task)
	}
	for _, l := range e.leases {
		fmt.Fprintf(&b, " (job %d lease %d)", l.job, l.at)
	}
	if e.kind == claim {
		fmt.Fprintf(&b, " size %d, %d of a queue, of %v", e.size, max(1, e.ofQueue), e.tasks)
		if e.noFlagged {
			b.WriteString(" but flagged")
		}
	}
	if e.ids != nil {
		fmt.Fprintf(&b, " jobs %v", e.ids)
	}
	if len(e.specs) == 0 && e.keys != nil {
		fmt.Fprintf(&b, " keys %q", e.keys)
	}
	if e.code != done {
		fmt.Fprintf(&b, " -> %s", e.code)
		if e.detail != "" {
			fmt.Fprintf(&b, " (%s)", e.detail)
		}
	}
	if e.leases != nil {
		fmt.Fprintf(&b, " -> touched %v", e.touched)
	}
	if e.interval != 0 {
		fmt.Fprintf(&b, " interval %d, max_wait %d -> %+v", e.interval, e.maxWait, e.decided)
	}
	for _, r := range e.rows {
		fmt.Fprintf(&b, " -> {job %d key %q revision %d payload %v priority %d run_at %d queue %q attempts %d/%d}",
			r.id, r.key, r.revision, r.numbers, r.priority, r.runAt, r.queue, r.attempts, r.maxAttempts)
	}
	return b.String()
}

// final is the content of the tables at the end.
type final struct {
	jobs         []finalJob
	lockedQueues []string
}

// finalJob is a remaining row.
type finalJob struct {
	id        int64
	revision  int
	available bool
	locked    bool
}
