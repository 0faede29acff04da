package shim

import (
	"context"
	"fmt"
	"time"
)

// Job returns the job with this id, or an error matching [ErrJobNotFound].
func (c *Client) Job(ctx context.Context, id int64) (*JobInfo, error) {
	job, err := c.look(ctx, `job_ids => array[$1::bigint]`, id)
	if err != nil {
		return nil, fmt.Errorf("look up job %d: %w", id, err)
	}
	return job, nil
}

// JobByKey returns the job under a key, or an error matching [ErrJobNotFound].
func (c *Client) JobByKey(ctx context.Context, key string) (*JobInfo, error) {
	job, err := c.look(ctx, `job_key => $1::text`, key)
	if err != nil {
		return nil, fmt.Errorf("look up job with key %q: %w", key, err)
	}
	return job, nil
}

// look finds the job of which a condition of list_jobs is true.
func (c *Client) look(ctx context.Context, condition string, arg any) (*JobInfo, error) {
	return c.one(ctx, `select r.task_identifier, r.queue_name, `+jobColumns+` from S.list_jobs(`+condition+`) as r`, arg)
}

// Remove removes the job that waits under a key and returns it as it was. A job that runs cannot be removed: it loses its
// key, will not be tried again, and is returned without the key. If there is none, the error matches [ErrJobNotFound].
func (c *Client) Remove(ctx context.Context, key string) (*JobInfo, error) {
	job, err := c.one(ctx, named(`S.remove_job($1::text)`), key)
	if err != nil {
		return nil, fmt.Errorf("remove job with key %q: %w", key, err)
	}
	return job, nil
}

// Complete deletes jobs as if they were done and returns those it deleted. Jobs that run are left alone, unless their
// lock is older than four hours; so are ids of no job.
func (c *Client) Complete(ctx context.Context, ids ...int64) ([]*JobInfo, error) {
	jobs, err := c.all(ctx, named(`S.complete_jobs($1::bigint[])`), idArray(ids))
	if err != nil {
		return nil, fmt.Errorf("complete jobs: %w", err)
	}
	return jobs, nil
}

// PermanentlyFail makes jobs fail for good, with the reason as their LastError, and returns them. They stay until they
// are rescheduled, completed or cleaned up. An empty reason is "Manually marked as failed"; of any other, what no text may
// have is left out. Jobs that run are left alone as by [Client.Complete].
func (c *Client) PermanentlyFail(ctx context.Context, reason string, ids ...int64) ([]*JobInfo, error) {
	jobs, err := c.all(ctx, named(`S.permanently_fail_jobs($1::bigint[], $2::text)`), idArray(ids), orNull(cleanMessage(reason)))
	if err != nil {
		return nil, fmt.Errorf("fail jobs: %w", err)
	}
	return jobs, nil
}

// Cancel makes jobs fail for good, those too that run, with the reason as their LastError, and returns them. The context of
// a running one's handler ends at the next beat of its worker, within five seconds unless the setting beat_every says
// otherwise, with a cause that matches [ErrCanceled]. If the handler completes the job all the same, it is done; it will not
// run again. Workers that do not beat, such as Node's, run it to its end. Jobs that have failed already are left alone; an
// empty reason is "Canceled".
func (c *Client) Cancel(ctx context.Context, reason string, ids ...int64) ([]*JobInfo, error) {
	jobs, err := c.all(ctx, named(`S.cancel_jobs($1::bigint[], $2::text)`), idArray(ids), orNull(reason))
	if err != nil {
		return nil, fmt.Errorf("cancel jobs: %w", err)
	}
	return jobs, nil
}

// RescheduleOptions say what changes about jobs; what is nil, or a zero RunAt, stays as it is. In Go 1.26, new(0) is a
// pointer to zero.
type RescheduleOptions struct {
	RunAt       time.Time      // not before this time
	RunIn       *time.Duration // not before that much after now, in place of RunAt; 0 for at once
	Priority    *int           // lower runs first, -32768 to 32767
	Attempts    *int           // how many of its attempts a job has had, 0 to 32767; 0 gives it all of them again
	MaxAttempts *int           // 1 to 32767
}

// Reschedule changes when and how jobs run and returns them, also those that had failed for good. Jobs that run are left
// alone as by [Client.Complete]. Numbers out of range have the codes GWBPR (priority), GWBAR (attempts), GWBMA and GWBMR
// (max_attempts).
func (c *Client) Reschedule(ctx context.Context, opts RescheduleOptions, ids ...int64) ([]*JobInfo, error) {
	jobs, err := c.reschedule(ctx, opts, ids)
	if err != nil {
		return nil, fmt.Errorf("reschedule jobs: %w", err)
	}
	return jobs, nil
}

func (c *Client) reschedule(ctx context.Context, opts RescheduleOptions, ids []int64) ([]*JobInfo, error) {
	timing, err := c.timing(opts.RunAt, opts.RunIn, time.Now())
	if err != nil {
		return nil, err
	}
	return c.all(ctx, named(`
		S.reschedule_jobs(
		  $1::bigint[], coalesce($2::timestamptz, pg_catalog.now() operator(pg_catalog.+) ($3::bigint operator(pg_catalog.*) interval '1 microsecond')),
		  $4::integer, $5::integer, $6::integer)`),
		idArray(ids), orNil(timing.at), orNil(timing.in), orNil(opts.Priority), orNil(opts.Attempts), orNil(opts.MaxAttempts))
}

// ForceUnlock frees every job and queue that these workers hold. Use it for workers that are known to be dead: the jobs
// of a living one would run a second time.
func (c *Client) ForceUnlock(ctx context.Context, workerIDs ...string) error {
	err := c.each(ctx, func(func(...any) error) error { return nil },
		`select from S.force_unlock_workers($1::text[])`, textArray(workerIDs))
	if err != nil {
		return fmt.Errorf("unlock workers: %w", err)
	}
	return nil
}

// CleanupTask is something that piles up.
type CleanupTask string

const (
	// DeletePermafailedJobs deletes the jobs that failed for good.
	DeletePermafailedJobs CleanupTask = "DELETE_PERMAFAILED_JOBS"

	// GCTaskIdentifiers deletes the names of tasks that no job uses.
	GCTaskIdentifiers CleanupTask = "GC_TASK_IDENTIFIERS"

	// GCJobQueues deletes the names of queues that no job uses.
	GCJobQueues CleanupTask = "GC_JOB_QUEUES"
)

// CleanupOptions change what [Client.Cleanup] does about the names of tasks.
type CleanupOptions struct {
	// KeepTasks are names of tasks that stay though no job uses them. Default: none.
	KeepTasks []string

	// Force lets names of tasks go although workers that are not registered hold jobs. Default: false. Such workers, those
	// of Node.js, may remember the number of a name: set it only if all they know is in KeepTasks.
	Force bool
}

// Cleanup removes what piles up and returns how many rows went for each task. opts may be nil. Without tasks it does
// nothing. Its codes are GWCTN (no such task), GWCFW (unregistered workers hold jobs, see CleanupOptions.Force) and
// GWCIS (the transaction is not at READ COMMITTED).
func (c *Client) Cleanup(ctx context.Context, opts *CleanupOptions, tasks ...CleanupTask) (map[CleanupTask]int64, error) {
	if opts == nil {
		opts = &CleanupOptions{}
	}
	names := make([]string, len(tasks))
	for i, task := range tasks {
		names[i] = string(task)
	}
	gone := make(map[CleanupTask]int64)
	err := c.each(ctx, func(scan func(...any) error) error {
		var task string
		var rows int64
		if err := scan(&task, &rows); err != nil {
			return err
		}
		gone[CleanupTask(task)] = rows
		return nil
	}, `select c.task, c.rows from S.cleanup($1::text[], $2::text[], $3::boolean) as c`,
		textArray(names), textArray(opts.KeepTasks), opts.Force)
	if err != nil {
		return nil, fmt.Errorf("clean up: %w", err)
	}
	return gone, nil
}

// named selects the rows of a function with the names of their tasks and queues. The view shows every job as it was when
// the statement began, so a job that the function has deleted since has its names, too.
func named(call string) string {
	return `
		select n.task_identifier, n.queue_name, ` + jobColumns + `
		  from ` + call + ` as r
		  left join S.jobs as n on n.id operator(pg_catalog.=) r.id
		 where r.id is not null
		 order by r.id`
}

func (c *Client) all(ctx context.Context, sql string, args ...any) ([]*JobInfo, error) {
	var jobs []*JobInfo
	err := c.each(ctx, func(scan func(...any) error) error {
		job, err := scanInfo(scan)
		jobs = append(jobs, job)
		return err
	}, sql, args...)
	if err != nil {
		return nil, err
	}
	return jobs, nil
}

func (c *Client) one(ctx context.Context, sql string, args ...any) (*JobInfo, error) {
	jobs, err := c.all(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, ErrJobNotFound
	}
	return jobs[0], nil
}
