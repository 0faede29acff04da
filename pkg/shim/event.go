package shim

import "time"

// Event is something that happened in a worker of this process: one of the types below, as a value. Get them by
// [Worker.Subscribe] or [On], and change nothing of what they point to. Events tell of this worker alone; what others do
// with the queue shows in none.
//
// The events of one job come in this order: [JobStarted]; then exactly one of [JobSucceeded], [JobErrored], [JobSnoozed]
// and [JobInterrupted], when the handler has returned; then [JobReported], when the database has said what became of it.
// Events of different loops of the worker may overtake each other. docs/events.md compares them with Graphile's.
type Event interface{ event() }

// WorkerStarted tells that the worker is registered and begins to work.
type WorkerStarted struct {
	WorkerID    string
	Tasks       []string // sorted
	Concurrency int
}

// WorkerStopped is the last event of [Worker.Run] or [Worker.RunOnce], even if that never came to start.
type WorkerStopped struct {
	WorkerID string
	Err      error // what Run is going to return
}

// WorkerFailed tells that the worker has to leave although nobody asked it to.
type WorkerFailed struct{ Err error }

// StopRequested tells that the worker was told to leave: by Stop, by Kill, by a signal or by the end of Run's context.
type StopRequested struct{}

// ShutdownStarted tells that the worker claims nothing more and waits for what runs, whatever the reason.
type ShutdownStarted struct{ Grace time.Duration }

// ShutdownForced tells that the grace time is over, or that Kill was called, while handlers run: their contexts end.
type ShutdownForced struct{}

// ShutdownFailed tells that the worker left, but not in good order: jobs were interrupted, or outcomes were not written.
type ShutdownFailed struct{ Err error }

// ExecutorStarted tells that one of the worker's executors is ready to run handlers. A worker has as many as its
// concurrency.
type ExecutorStarted struct{ Executor int } // from 0

// ExecutorReleased tells that an executor is to end, after the handler that it runs if there is one.
type ExecutorReleased struct{ Executor int }

// ExecutorStopped tells that an executor has ended.
type ExecutorStopped struct{ Executor int }

// ListenConnecting tells that the worker makes its listening connection.
type ListenConnecting struct{ Attempt int } // since the last connection that lived for a while, from 1

// ListenConnected tells that the worker is listening.
type ListenConnected struct{}

// ListenFailed tells that there is no listening connection, or not any more. The worker tries again after a delay.
type ListenFailed struct{ Err error }

// ClaimStarted tells that the worker asks for jobs.
type ClaimStarted struct{ Limit int } // how many at most

// ClaimSucceeded tells that the worker got jobs.
type ClaimSucceeded struct {
	Jobs     int
	Duration time.Duration
}

// ClaimEmpty tells that there was nothing to claim.
type ClaimEmpty struct{ Duration time.Duration }

// ClaimFailed tells that asking for jobs failed, or that a function for forbidden flags did. The worker tries again after
// a delay, but leaves if trying again cannot help; [WorkerFailed] follows then.
type ClaimFailed struct {
	Err      error
	Duration time.Duration
}

// JobStarted tells that the handler of a job is called.
type JobStarted struct{ Job *Job }

// JobSucceeded tells that a handler returned nil. The job is done when that is written: see [JobReported].
type JobSucceeded struct {
	Job      *Job
	Duration time.Duration // of the handler
}

// JobErrored tells that a handler returned an error or panicked, which fails the attempt.
type JobErrored struct {
	Job      *Job
	Duration time.Duration // of the handler
	Err      error         // as the handler returned it; a panic with its stack
}

// JobSnoozed tells that a handler returned a [SnoozeError].
type JobSnoozed struct {
	Job      *Job
	Duration time.Duration // of the handler
	Delay    time.Duration // until the job may run again
}

// JobInterrupted tells that a handler was cut by [ErrShutdown] or [ErrLeaseLost], and returned an error.
type JobInterrupted struct {
	Job      *Job
	Duration time.Duration // of the handler
	Err      error         // as the handler returned it
}

// JobFailed tells that the database has a job for permanently failed after this worker reported it: that was the last
// attempt, or the handler returned a [DiscardError], or the job was replaced under its key, removed or canceled while it
// ran. [JobReported] follows.
type JobFailed struct {
	Job      *Job
	Duration time.Duration // of the handler
	Err      error         // as the handler returned it, nil if it did not
}

// JobReported tells what became of a claim, once the database has taken it or has refused it. It comes once for every
// job that the worker claimed, those that never started included, unless the database could not be reached to the end.
type JobReported struct {
	Job      *Job
	Outcome  Outcome
	Started  bool          // whether the handler was called
	Duration time.Duration // of the handler
	Err      error         // as the handler returned it, nil if it did not; a RefusedError if the database did not take that
	RetryIn  time.Duration // until the job is tried again at the earliest, of OutcomeFailed and OutcomeSnoozed
	Attempts int           // those that count by now, as the database says; 0 of a job that is gone or not this worker's
}

// CronStarting tells that the worker looks after cron items.
type CronStarting struct{ Items int }

// CronBackfilled tells that a worker that just started has made up for ticks that nobody saw to.
type CronBackfilled struct{ Jobs []CronJob }

// CronScheduled tells that a tick of cron has added jobs.
type CronScheduled struct{ Jobs []CronJob }

// CronFailed tells that a tick of cron failed, which is tried again and costs no minute; or that the database refused the
// items of [Worker.SetCron], and those before stay.
type CronFailed struct{ Err error }

// CronJob is a job that cron has added.
type CronJob struct {
	Identifier string // of the cron item
	Task       string // what the job runs
	JobID      int64
	At         time.Time // the minute that it was for
}

// LeaseLost tells that a running job is not this worker's any more: the worker was taken for dead while it was paused or
// cut off, or somebody freed the job. The handler's context has ended; what it returns is not reported.
type LeaseLost struct{ Job *Job }

// JobCanceled tells that somebody has canceled a running job. The handler's context has ended, and the job is reported as
// what the handler returns: completed, or failed for good.
type JobCanceled struct {
	Job    *Job
	Reason string // empty if none was given
}

// WorkersRecovered tells that this worker has taken back jobs of workers that died.
type WorkersRecovered struct {
	Workers []string // those of which nothing is left to take back, perhaps none yet
	Jobs    int      // since the last such event
}

// SweepStarted tells that the worker looks for jobs of workers that are gone.
type SweepStarted struct{}

// SweepSucceeded tells that it has, and how many jobs it freed.
type SweepSucceeded struct {
	Freed    int
	Duration time.Duration
}

// SweepFailed tells that it could not. It is tried again at the next turn.
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
