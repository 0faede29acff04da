package shim

import "time"

// Event is something that happened in a worker of this process: a value of one of the types below. Receive events by
// [Worker.Subscribe] or [On], and do not modify the values they point to. Events describe this worker only, not other
// users of the queue.
//
// The events of one job come in this order: [JobStarted]; then, when the handler has returned, exactly one of
// [JobSucceeded], [JobErrored], [JobSnoozed] and [JobInterrupted]; then [JobReported], when the database has recorded
// the outcome. Events of different loops of the worker may overtake each other. docs/events.md compares them with
// Graphile Worker's.
type Event interface{ event() }

// WorkerStarted is emitted when the worker is registered and starts to work.
type WorkerStarted struct {
	WorkerID    string
	Tasks       []string // sorted
	Concurrency int
}

// WorkerStopped is the last event of [Worker.Run] or [Worker.RunOnce], even if the worker failed to start.
type WorkerStopped struct {
	WorkerID string
	Err      error // the error that Run returns
}

// WorkerFailed is emitted when the worker has to stop because of an error.
type WorkerFailed struct{ Err error }

// StopRequested is emitted when the worker was told to stop: by Stop, by Kill, by a signal or by the end of Run's
// context.
type StopRequested struct{}

// ShutdownStarted is emitted when the worker stops claiming and waits for running handlers, for whatever reason.
type ShutdownStarted struct{ Grace time.Duration }

// ShutdownForced is emitted when the contexts of running handlers end, because the grace time is over or Kill was
// called.
type ShutdownForced struct{}

// ShutdownFailed is emitted when the worker stopped but interrupted jobs or could not write outcomes.
type ShutdownFailed struct{ Err error }

// ExecutorStarted is emitted when one of the worker's executors is ready to run handlers. A worker has as many
// executors as its concurrency.
type ExecutorStarted struct{ Executor int } // from 0

// ExecutorReleased is emitted when an executor is to end, after its running handler if there is one.
type ExecutorReleased struct{ Executor int }

// ExecutorStopped is emitted when an executor has ended.
type ExecutorStopped struct{ Executor int }

// ListenConnecting is emitted when the worker opens its listening connection.
type ListenConnecting struct{ Attempt int } // since the last connection that was healthy, from 1

// ListenConnected is emitted when the worker is listening.
type ListenConnected struct{}

// ListenFailed is emitted when the listening connection could not be opened or was lost. The worker tries again after a
// delay.
type ListenFailed struct{ Err error }

// ClaimStarted is emitted when the worker claims jobs.
type ClaimStarted struct{ Limit int } // the maximum number of jobs

// ClaimSucceeded is emitted when a claim returned jobs.
type ClaimSucceeded struct {
	Jobs     int
	Duration time.Duration
}

// ClaimEmpty is emitted when there was nothing to claim.
type ClaimEmpty struct{ Duration time.Duration }

// ClaimFailed is emitted when a claim, or a function for forbidden flags, failed. The worker tries again after a delay.
// If trying again cannot help, the worker stops, and [WorkerFailed] follows.
type ClaimFailed struct {
	Err      error
	Duration time.Duration
}

// JobStarted is emitted when the handler of a job is called.
type JobStarted struct{ Job *Job }

// JobSucceeded is emitted when a handler returned nil. The job is completed when that is written: see [JobReported].
type JobSucceeded struct {
	Job      *Job
	Duration time.Duration // of the handler
}

// JobErrored is emitted when a handler returned an error or panicked, which fails the attempt.
type JobErrored struct {
	Job      *Job
	Duration time.Duration // of the handler
	Err      error         // as returned by the handler; a panic with its stack
}

// JobSnoozed is emitted when a handler returned a [SnoozeError] or a [RateLimitedError].
type JobSnoozed struct {
	Job      *Job
	Duration time.Duration // of the handler
	Delay    time.Duration // until the job may run again
}

// JobInterrupted is emitted when a handler was interrupted by [ErrShutdown] or [ErrLeaseLost] and returned an error, or
// when the attempt has lost its connection to the database; see [Handler].
type JobInterrupted struct {
	Job      *Job
	Duration time.Duration // of the handler
	Err      error         // as returned by the handler
}

// JobFailed is emitted when a job reported by this worker has failed permanently: that was the last attempt, or the
// handler returned a [DiscardError], or the job was replaced under its key, removed or canceled while it ran.
// [JobReported] follows.
type JobFailed struct {
	Job      *Job
	Duration time.Duration // of the handler
	Err      error         // as returned by the handler, nil if it returned none
}

// JobReported is emitted when the database has accepted or refused the outcome of a claim. It comes once for every job
// that the worker claimed, including those that never started, unless the database stayed unreachable until the worker
// stopped.
type JobReported struct {
	Job      *Job
	Outcome  Outcome
	Started  bool          // whether the handler was called
	Duration time.Duration // of the handler
	Err      error         // as returned by the handler, nil if it returned none; a RefusedError if the database refused the outcome
	RetryIn  time.Duration // until the job is tried again at the earliest, of OutcomeFailed, OutcomeSnoozed and OutcomeRateLimited
	Attempts int           // the attempts that count, as stored in the database; 0 if the job is deleted or not this worker's
}

// CronStarting is emitted when the worker begins to run cron items.
type CronStarting struct{ Items int }

// CronBackfilled is emitted when a worker that just started has backfilled missed ticks.
type CronBackfilled struct{ Jobs []CronJob }

// CronScheduled is emitted when a tick of cron has added jobs.
type CronScheduled struct{ Jobs []CronJob }

// CronFailed is emitted when a tick of cron failed; it is tried again, and no minute is lost. It is also emitted when
// the database refused the items of [Worker.SetCron] and the previous ones stay in use.
type CronFailed struct{ Err error }

// CronJob is a job that cron has added.
type CronJob struct {
	Identifier string // of the cron item
	Task       string // the task of the job
	JobID      int64
	At         time.Time // the minute that the job is for
}

// LeaseLost is emitted when a running job is no longer this worker's: the worker counted as dead while it was paused or
// disconnected, or the job was freed by an operator. The handler's context has ended, and its result is not reported.
type LeaseLost struct{ Job *Job }

// JobCanceled is emitted when a running job was canceled. The handler's context has ended, and the handler's result
// decides the outcome: completed or permanently failed.
type JobCanceled struct {
	Job    *Job
	Reason string // empty if none was given
}

// WorkersRecovered is emitted when this worker has recovered jobs of dead workers.
type WorkersRecovered struct {
	Workers []string // those with no jobs left to recover; may be empty
	Jobs    int      // since the last such event
}

// SweepStarted is emitted when the worker searches for stale locks.
type SweepStarted struct{}

// SweepSucceeded is emitted when the search has ended; it has the number of freed jobs.
type SweepSucceeded struct {
	Freed    int
	Duration time.Duration
}

// SweepFailed is emitted when the search failed. It is tried again at the next interval.
type SweepFailed struct {
	Err      error
	Duration time.Duration
}

func (WorkerStarted) event()    {}
func (WorkerStopped) event()    {}
func (WorkerFailed) event()     {}
func (StopRequested) event()    {}
func (ShutdownStarted) event()  {}
func (ShutdownForced) event()   {}
func (ShutdownFailed) event()   {}
func (ExecutorStarted) event()  {}
func (ExecutorReleased) event() {}
func (ExecutorStopped) event()  {}
func (ListenConnecting) event() {}
func (ListenConnected) event()  {}
func (ListenFailed) event()     {}
func (ClaimStarted) event()     {}
func (ClaimSucceeded) event()   {}
func (ClaimEmpty) event()       {}
func (ClaimFailed) event()      {}
func (JobStarted) event()       {}
func (JobSucceeded) event()     {}
func (JobErrored) event()       {}
func (JobSnoozed) event()       {}
func (JobInterrupted) event()   {}
func (JobFailed) event()        {}
func (JobReported) event()      {}
func (CronStarting) event()     {}
func (CronBackfilled) event()   {}
func (CronScheduled) event()    {}
func (CronFailed) event()       {}
func (LeaseLost) event()        {}
func (JobCanceled) event()      {}
func (WorkersRecovered) event() {}
func (SweepStarted) event()     {}
func (SweepSucceeded) event()   {}
func (SweepFailed) event()      {}
