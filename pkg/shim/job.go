package shim

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

// Job is a claimed job, with its values at the time of the claim.
type Job struct {
	ID             int64
	TaskIdentifier string
	Payload        json.RawMessage
	QueueName      string    // empty if the job is in no named queue
	Priority       int       // lower runs first
	RunAt          time.Time // zero if it is -infinity
	Attempts       int       // including this attempt, so 1 for the first one
	MaxAttempts    int
	Key            string   // the job_key, empty without
	Flags          []string // sorted
	Lease          int64    // identifies this claim among all claims of the job; see ErrLeaseLost
	CreatedAt      time.Time
	LastError      string // of the previous attempt, empty for the first one
	Revision       int    // how often the job was replaced by its key

	worker *host // the worker that claimed it, nil without
	hold   *hold

	carried map[string]string // the context stored with the job
	result  string            // the JSON that the handler has set for a job without a hold
}

// ClaimedAt returns when the worker claimed the job, by the clock of the database; zero if no worker did.
func (j *Job) ClaimedAt() time.Time {
	if j.Lease == 0 {
		return time.Time{}
	}
	return time.UnixMicro(j.Lease)
}

// Latency returns how long the job waited from its creation or its run_at, whichever was later, until its claim, by the
// clock of the database.
func (j *Job) Latency() time.Duration {
	since := j.CreatedAt
	if j.RunAt.After(since) {
		since = j.RunAt
	}
	return max(j.ClaimedAt().Sub(since), 0)
}

// WorkerID returns the id of the worker that claimed the job, empty if none did.
func (j *Job) WorkerID() string {
	if j.worker == nil {
		return ""
	}
	return j.worker.workerID
}

// Logger returns a logger with the attributes label, "job", worker_id, task_identifier and job_id. A Job that no worker
// claimed, as in a test, logs to slog.Default() without a worker_id.
func (j *Job) Logger() *slog.Logger {
	logger := slog.Default().With("label", "job")
	if j.worker != nil {
		logger = j.worker.logger.With("label", "job", "worker_id", j.WorkerID())
	}
	return logger.With("task_identifier", j.TaskIdentifier, "job_id", j.ID)
}

// hold is the worker's state of a claimed job.
type hold struct {
	place
	lock

	// unreadable is the reason why the job cannot run although it was received.
	unreadable error
	// context is the context of the job's handler. lost is set when it has ended because the worker lost the job,
	// canceled when it has ended because the job was canceled. The executor's lock protects them.
	context  handlerContext
	lost     bool
	canceled bool
	// tx is the transaction that the worker has given to the handler, in which it completes the job; nil without.
	tx     *handlerTx
	result string // the JSON that the handler has set, empty without

	progress atomic.Pointer[progress] // not sent yet, nil without
	steps    atomic.Pointer[steps]    // nil until the handler uses one

	// shown is the job as its handler and the receivers of events know it, who may change it.
	shown Job
	own   *Job // the one that was copied; nil before
}

// place is where a job is between its claim and its end.
type place struct {
	claimed time.Time // when the last row of the claim arrived
	bytes   int64     // the size of the row as sent, without the small columns
	// before and after are the neighbours of this job in the fetcher's list.
	before, after *Job
	// streakID is what the job has in common with the other jobs of its streak, 0 if it has no queue. streak is nil if
	// the job is the only one.
	streakID int32
	streak   *streak
	// nextMayStart tells of a job whose outcome is written whether the next job of its queue may start.
	nextMayStart bool
	// count counts the jobs of the same task in the backlog.
	count *taskCount
}

// lock is the lock of a job in the database. A renewal gives the job a new lease, by which its outcome is then
// reported.
type lock struct {
	lease atomic.Int64
	// renewing is locked during a renewal: the database may have a lease that this process has not received yet.
	renewing sync.Mutex
	// completing is set when the handler completes the job in its own transaction. From then on the job is not renewed,
	// because a renewal would wait for the row lock, or find the row deleted.
	completing atomic.Bool
	// committed is set when that transaction is known to be committed.
	committed atomic.Bool
	// saving counts the calls in flight that act by the lease. Meanwhile the job is not renewed.
	saving atomic.Int32
}

func (h *hold) stepsOf() *steps {
	if h.steps.Load() == nil {
		h.steps.CompareAndSwap(nil, &steps{saved: make(map[string]string)})
	}
	return h.steps.Load()
}

// shown returns the copy of a job that a handler and the receivers of events get. The worker itself goes by the job, so
// that no change of theirs reaches an outcome. The first call must not be concurrent with another one.
func (j *Job) shown() *Job {
	if j.hold.own == nil {
		j.hold.shown, j.hold.own = *j, j
	}
	return &j.hold.shown
}

// own returns the job of the worker of which the handler was given j.
func (j *Job) own() *Job {
	if j.hold == nil || j.hold.own == nil {
		return j
	}
	return j.hold.own
}

// shown returns the copies of jobs that a handler gets.
func shown(jobs []*Job) []*Job {
	copies := make([]*Job, len(jobs))
	for i, job := range jobs {
		copies[i] = job.shown()
	}
	return copies
}

// useLease returns the lease, which stays the same until release is called.
func (l *lock) useLease() (lease int64, release func()) {
	l.renewing.Lock() // an answer to a renewal may be in flight
	defer l.renewing.Unlock()
	l.saving.Add(1)
	return l.lease.Load(), func() { l.saving.Add(-1) }
}

// isRenewable reports whether a heartbeat may renew the job; the caller has locked renewing.
func (l *lock) isRenewable() bool { return !l.completing.Load() && l.saving.Load() == 0 }

func (h *hold) isCommitted() bool { return h != nil && h.committed.Load() }

// complete marks the job as completing and returns the lease by which it has to be completed, and whether it was marked
// before.
func (l *lock) complete() (lease int64, before bool) {
	l.renewing.Lock() // an answer to a renewal may be in flight
	defer l.renewing.Unlock()
	return l.lease.Load(), l.completing.Swap(true)
}

// isOld reports whether the job has waited for its handler for far longer than jobs do in a process that was not
// paused.
func (j *Job) isOld() bool {
	return j.hold != nil && !j.hold.claimed.IsZero() && time.Since(j.hold.claimed) > ration.OldClaim
}

func (h *hold) isWorkersTx() bool { return h != nil && h.tx != nil }

func (h *hold) isCompleting() bool { return h != nil && h.completing.Load() }

// cancelCause returns the cause of the end of a canceled job's context, for a reason, which may be empty.
func cancelCause(reason string) error {
	if reason == "" {
		return ErrCanceled
	}
	return fmt.Errorf("%w: %s", ErrCanceled, reason)
}

type jobKey struct{}

// JobFromContext returns the job whose handler runs under ctx or under one of its parents.
func JobFromContext(ctx context.Context) (job *Job, ok bool) {
	job, ok = ctx.Value(jobKey{}).(*Job)
	return job, ok
}

// ContextWithJob returns a context in which [JobFromContext] finds job. Workers create one for each handler; the
// function is meant for tests.
func ContextWithJob(ctx context.Context, job *Job) context.Context {
	return context.WithValue(ctx, jobKey{}, job)
}

// handlerContext is the context of a handler: it carries the job, and ends with its parent or by end. Most handlers
// return before the context is used, so the cancelable inner context is created only on demand.
type handlerContext struct {
	context.Context // the parent
	job             *Job

	mu     sync.Mutex
	inner  context.Context // nil until it is needed
	cancel context.CancelCauseFunc
	ended  bool
	cause  error // the cause of its end
}

// handlerTx is the transaction of a call of a handler. It begins when it is first used, and again after it was undone.
type handlerTx struct {
	worker *host
	ctx    context.Context // of the handler
	jobs   []*Job          // those that the handler was called for

	conn *pgxpool.Conn // nil until the transaction begins
	tx   pgx.Tx        // the same
	err  error         // why it could not begin
	lost bool          // its connection has broken
	over bool          // the handler has returned
}

// A streak is what a claim has of a named queue: jobs that run one after the other. The first one waits for an executor
// as other jobs do. When it has completed, the next one takes its place in the backlog; when it has ended otherwise,
// the answer to its outcome tells whether the next one may, because the job itself may be the next one of its queue
// again. The database frees the queue when there are no more jobs of the streak, in whatever order their outcomes are
// written.
type streak struct {
	rest    []*Job // behind the jobs that wait or run; protected by the backlog's lock
	awaited *Job   // the job whose outcome tells whether the streak goes on; so is this
}

type progress struct {
	job     *Job
	percent float64
	note    string
}

// steps are the steps of one attempt of a job: those that were saved when the attempt used its first one, and its own.
type steps struct {
	mu       sync.Mutex
	isRead   bool
	saved    map[string]string // results as JSON
	doubtful []string          // saved in transactions of the handler, which it may have rolled back
}

// taskCount is the state of a task in the backlog.
type taskCount struct {
	busy int  // jobs waiting or running
	full bool // it was full at the last check
}

// host is what jobs know of the worker that has claimed them.
type host struct {
	pool       *pgxpool.Pool
	schema     string // of the queue, not quoted
	workerID   string
	propagator Propagator   // nil without
	logger     *slog.Logger // of the program

	completeAll string       // the statement of a Completion
	encoding    atomic.Value // of the database, a string, once it is known
	isQueue     atomic.Bool  // for clients
}

func (h *host) ownLogger() *slog.Logger {
	return h.logger.With("label", "worker", "worker_id", h.workerID)
}

// Propagator carries values of a context, such as a trace, from the caller that adds a job to the handler that runs it.
// They are stored beside the job, so payloads are unchanged. They belong to one request for the job: a request that
// replaces the job under its key stores its own values or none. pkg/gwotel implements one for OpenTelemetry.
type Propagator interface {
	// Inject returns the values to store with a job that is added under ctx; nothing is stored if the map is empty.
	// Names and values with a zero byte are ignored.
	Inject(ctx context.Context) map[string]string

	// Extract returns ctx, the context of a handler, with the values stored with its job. It is not called for a job
	// without any.
	Extract(ctx context.Context, carried map[string]string) context.Context
}
