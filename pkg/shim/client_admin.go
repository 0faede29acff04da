package shim

import (
	"context"
	"time"

	"github.com/gwsql/gw/internal/rows"
	"github.com/gwsql/gw/internal/storable"
)

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

// look returns the job that matches a condition of list_jobs.
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
	if opts == nil {
		opts = &CleanupOptions{}
	}
	names := make([]string, len(tasks))
	for i, task := range tasks {
		names[i] = string(task)
	}
	type deleted struct {
		task CleanupTask
		rows int64
	}
	list, err := listed(ctx, c, func(d *deleted) []any { return []any{&d.task, &d.rows} },
		`select c.task, c.rows from S.cleanup($1::text[], $2::text[], $3::boolean) as c`,
		rows.TextArray(names), rows.TextArray(opts.KeepTasks), opts.Force)
	if err != nil {
		return nil, during(err, "clean up")
	}
	gone := make(map[CleanupTask]int64)
	for _, d := range list {
		gone[d.task] = d.rows
	}
	return gone, nil
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
