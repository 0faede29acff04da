package shim

import (
	"cmp"
	"context"
	"time"

	"github.com/gwsql/gw/internal/rows"
	"github.com/gwsql/gw/internal/storable"
)

// JobInfo is a job as stored in the database, without its payload. Infinite times are zero.
type JobInfo struct {
	ID             int64
	TaskIdentifier string
	QueueName      string    // empty if the job is in no named queue
	Priority       int       // lower runs first
	RunAt          time.Time // the job does not start before this time
	Attempts       int       // how often it was claimed
	MaxAttempts    int       // the number of attempts after which a failing job has failed permanently
	LastError      string    // the error of the last failed attempt, empty without
	CreatedAt      time.Time
	UpdatedAt      time.Time // when a producer or an administrator last changed it
	Key            string    // the job key, empty without
	LockedAt       time.Time // when it was claimed, zero if it is not
	LockedBy       string    // the worker that claimed it
	Revision       int       // how often it was replaced or requested again by its key; 0 for a new job
	Flags          []string  // sorted
}

// jobColumns are the columns of a job after the names of the task and the queue, from r, a row of the table
// or of the view jobs. A time.Time cannot hold an infinite time.
var jobColumns = `
	r.id, r.priority, ` + rows.TimeOf("r.run_at") + `, r.attempts, r.max_attempts, r.last_error,
	` + rows.TimeOf("r.created_at") + `, ` + rows.TimeOf("r.updated_at") + `, r.key,
	` + rows.TimeOf("r.locked_at") + `, r.locked_by, r.revision, r.flags::text`

func (j *JobInfo) columns() []any {
	return []any{rows.OrZero(&j.TaskIdentifier), rows.OrZero(&j.QueueName), &j.ID, &j.Priority, rows.Time(&j.RunAt),
		&j.Attempts, &j.MaxAttempts, rows.OrZero(&j.LastError), rows.Time(&j.CreatedAt), rows.Time(&j.UpdatedAt),
		rows.OrZero(&j.Key), rows.Time(&j.LockedAt), rows.OrZero(&j.LockedBy), &j.Revision, rows.Keys(&j.Flags)}
}

// Job returns the job with this id, or an error matching [ErrJobNotFound].
func (c *Client) Job(ctx context.Context, id int64) (*JobInfo, error) {
	job, err := c.look(ctx, `job_ids => array[$1::bigint]`, id)
	return job, during(err, "look up job %d", id)
}

// JobByKey returns the job under a key, or an error matching [ErrJobNotFound].
func (c *Client) JobByKey(ctx context.Context, key string) (*JobInfo, error) {
	job, err := c.look(ctx, `job_key => $1::text`, key)
	return job, during(err, "look up job with key %q", key)
}

func (c *Client) look(ctx context.Context, condition string, arg any) (*JobInfo, error) {
	return c.one(ctx, `select r.task_identifier, r.queue_name, `+jobColumns+` from S.list_jobs(`+condition+`) as r`,
		arg)
}

// Remove removes the job that is waiting under a key and returns it. A running job cannot be removed: it loses its key,
// is not tried again, and is returned without the key. If there is no job under the key, the error matches
// [ErrJobNotFound].
func (c *Client) Remove(ctx context.Context, key string) (*JobInfo, error) {
	job, err := c.one(ctx, named(`S.remove_job($1::text)`), key)
	return job, during(err, "remove job with key %q", key)
}

// Complete deletes jobs as completed and returns those it deleted. It skips running jobs, unless their lock is older
// than four hours, and ids without a job.
func (c *Client) Complete(ctx context.Context, ids ...int64) ([]*JobInfo, error) {
	jobs, err := c.all(ctx, named(`S.complete_jobs($1::bigint[])`), rows.IDArray(ids))
	return jobs, during(err, "complete jobs")
}

// PermanentlyFail marks jobs as permanently failed, with the reason as their LastError, and returns them. They stay
// until they are rescheduled, completed or cleaned up. An empty reason becomes "Manually marked as failed"; characters
// that the database cannot store are removed or escaped. Running jobs are skipped as by [Client.Complete].
func (c *Client) PermanentlyFail(ctx context.Context, reason string, ids ...int64) ([]*JobInfo, error) {
	jobs, err := c.all(ctx, named(`S.permanently_fail_jobs($1::bigint[], $2::text)`), rows.IDArray(ids),
		storable.Text(cleanMessage(reason)))
	return jobs, during(err, "fail jobs")
}

// Cancel cancels jobs, running ones included, and returns them: they fail permanently, with the reason as their
// LastError. The context of a running job's handler ends at the next heartbeat of its worker, within five seconds
// unless the setting beat_every differs, with a cause that matches [ErrCanceled]. If the handler completes the job
// nevertheless, the job is completed; in every other case it does not run again. Workers without heartbeats, such as
// Node's, run the job to its end. Failed jobs are not changed. An empty reason becomes "Canceled"; see
// [Client.PermanentlyFail] for its characters.
func (c *Client) Cancel(ctx context.Context, reason string, ids ...int64) ([]*JobInfo, error) {
	jobs, err := c.all(ctx, named(`S.cancel_jobs($1::bigint[], $2::text)`), rows.IDArray(ids),
		storable.Text(cleanMessage(reason)))
	return jobs, during(err, "cancel jobs")
}

// RescheduleOptions are the changes of [Client.Reschedule]; nil fields, and a zero RunAt, leave values unchanged. In Go
// 1.26, new(0) returns a pointer to zero.
type RescheduleOptions struct {
	RunAt       time.Time      // the job does not start before this time
	RunIn       *time.Duration // a delay from now, in place of RunAt; 0 for at once
	Priority    *int           // lower runs first, -32768 to 32767
	Attempts    *int           // the attempts used, 0 to 32767; 0 restores all attempts
	MaxAttempts *int           // 1 to 32767
}

// Reschedule changes when and how jobs run, permanently failed ones included, and returns them. Running jobs are
// skipped as by [Client.Complete]. Numbers out of range have the codes GWBPR (priority), GWBAR (attempts), GWBMA and
// GWBMR (max_attempts).
func (c *Client) Reschedule(ctx context.Context, opts RescheduleOptions, ids ...int64) ([]*JobInfo, error) {
	timing, err := c.timing(opts.RunAt, opts.RunIn, time.Now())
	if err != nil {
		return nil, during(err, "reschedule jobs")
	}
	jobs, err := c.all(ctx, named(`
		S.reschedule_jobs(
		  $1::bigint[], coalesce($2::timestamptz, pg_catalog.now() operator(pg_catalog.+) `+rows.Microseconds("$3")+`),
		  $4::integer, $5::integer, $6::integer)`),
		rows.IDArray(ids), rows.OrNil(timing.at), rows.OrNil(timing.in), rows.OrNil(opts.Priority),
		rows.OrNil(opts.Attempts), rows.OrNil(opts.MaxAttempts))
	return jobs, during(err, "reschedule jobs")
}

// ForceUnlock frees every job and queue that these workers hold. Use it only for workers that are known to be dead: the
// jobs of a worker that is alive would run a second time.
func (c *Client) ForceUnlock(ctx context.Context, workerIDs ...string) error {
	return during(c.order(ctx, `select S.force_unlock_workers($1::text[])::text`, rows.TextArray(workerIDs)),
		"unlock workers")
}

// CleanupTask is a kind of rows that [Client.Cleanup] deletes.
type CleanupTask string

const (
	// DeletePermafailedJobs deletes permanently failed jobs.
	DeletePermafailedJobs CleanupTask = "DELETE_PERMAFAILED_JOBS"

	// GCTaskIdentifiers deletes the names of tasks that no job uses.
	GCTaskIdentifiers CleanupTask = "GC_TASK_IDENTIFIERS"

	// GCJobQueues deletes the names of queues that no job uses.
	GCJobQueues CleanupTask = "GC_JOB_QUEUES"
)

// CleanupOptions configure how [Client.Cleanup] treats the names of tasks.
type CleanupOptions struct {
	// KeepTasks are names of tasks that are kept although no job uses them. Default: none.
	KeepTasks []string

	// Force deletes names of tasks although workers that are not registered hold jobs. Default: false. Such workers,
	// Node's, may have cached the ids of names: set it only if all names that they have cached are in KeepTasks.
	Force bool
}

// Cleanup deletes rows that accumulate and returns the number of deleted rows for each task. opts may be nil. Without
// tasks it does nothing. Its codes are GWCTN (no such task), GWCFW (unregistered workers hold jobs, see
// CleanupOptions.Force) and GWCIS (the transaction is not at READ COMMITTED).
func (c *Client) Cleanup(ctx context.Context, opts *CleanupOptions,
	tasks ...CleanupTask) (map[CleanupTask]int64, error) {
	opts = cmp.Or(opts, &CleanupOptions{})
	names := make([]string, len(tasks))
	for i, task := range tasks {
		names[i] = string(task)
	}
	gone, err := mapped(ctx, c, func(task *CleanupTask, rows *int64) []any { return []any{task, rows} },
		`select c.task, c.rows from S.cleanup($1::text[], $2::text[], $3::boolean) as c`,
		rows.TextArray(names), rows.TextArray(opts.KeepTasks), opts.Force)
	return gone, during(err, "clean up")
}

// named selects the rows of a function with the names of their tasks and queues. The view shows the jobs as they were
// when the statement began, so it includes jobs that the function has deleted.
func named(call string) string {
	return `
		select n.task_identifier, n.queue_name, ` + jobColumns + `
		  from ` + call + ` as r
		  left join S.jobs as n on n.id operator(pg_catalog.=) r.id
		 where r.id is not null
		 order by r.id`
}

// Finding is a problem of the queue that doctor reports.
type Finding struct {
	Severity string // critical: jobs cannot be added or run, or soon cannot; warning: it costs time or space, or jobs wait; info
	Finding  string // what kind of problem it is
	Subject  string // what has it, such as the name of a task
	Detail   string // what its effect is
	Remedy   string // what to do
	Command  string // the remedy as one statement or command, empty if it is not one
}

// Doctor returns the current problems of the queue, the most severe first. It changes nothing, and its cost is bounded
// however many jobs there are; a bad case takes a second.
func (c *Client) Doctor(ctx context.Context) ([]Finding, error) {
	findings, err := listed(ctx, c, func(f *Finding) []any {
		return []any{&f.Severity, &f.Finding, &f.Subject, &f.Detail, &f.Remedy, rows.OrZero(&f.Command)}
	}, `select d.severity, d.finding, d.subject, d.detail, d.remedy, d.command from S.doctor() as d`)
	return findings, during(err, "ask doctor")
}

// QueueDepth is the number of jobs in each state.
type QueueDepth struct {
	Ready     int64 // due and not claimed; their named queue may be locked
	Scheduled int64 // due later
	Running   int64 // claimed, by any worker
	Failed    int64 // out of attempts; they stay until they are deleted or retried

	// OldestReady is how long the oldest ready job has been due, 0 if none is ready.
	OldestReady time.Duration

	// IsEstimate is set if there are too many jobs to count, so that the numbers come from a sample. A sample may miss
	// a few jobs among millions. OldestReady is never an estimate.
	IsEstimate bool
}

// QueueDepth counts the jobs in the queue. It takes some milliseconds, or tens of them if there are millions of jobs.
func (c *Client) QueueDepth(ctx context.Context) (QueueDepth, error) {
	depth, err := firstRow(ctx, c, func(d *QueueDepth) []any {
		return []any{&d.Ready, &d.Scheduled, &d.Running, &d.Failed, rows.Span(&d.OldestReady), &d.IsEstimate}
	}, `
		select d.ready, d.scheduled, d.running, d.failed, `+rows.SpanOf("d.oldest_ready")+`, d.is_estimate
		  from S.queue_depth() as d`)
	return *cmp.Or(depth, &QueueDepth{}), during(err, "count jobs")
}
