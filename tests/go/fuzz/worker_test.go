package fuzz

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// worker is the only worker, which acts between the calls. The database decides which jobs it claims; the model predicts how claims
// and outcomes change the rows.
const worker = "worker"

var errUntouched = errors.New("the database did not touch what the model holds")

// work claims some jobs, ends some of the running ones, and acts as an administrator.
func (f *fuzz) work(ctx context.Context, g generator) error {
	if err := f.claim(ctx, 1+g.IntN(30)); err != nil {
		return fmt.Errorf("claim jobs: %w", err)
	}
	var done, back []int64
	for _, j := range f.sorted() {
		if !j.isLocked {
			continue
		}
		var err error
		switch g.IntN(20) {
		case 0, 1:
			back = append(back, j.id)
			j.attempts, j.lockedBy = max(0, j.attempts-1), text{}
			f.model.put(j)
		case 2, 3, 4, 5:
			err = f.fail(ctx, g, j)
		case 6, 7, 8, 9:
		default:
			done = append(done, j.id)
			f.model.remove(j)
		}
		if err != nil {
			return fmt.Errorf("fail job %d: %w", j.id, err)
		}
	}
	if err := f.touch(ctx, done, "select graphile_worker.complete_job_batch($1, $2)", worker, done); err != nil {
		return fmt.Errorf("complete jobs: %w", err)
	}
	if err := f.touch(ctx, back, "select id from graphile_worker.return_job_batch($1, $2)", worker, back); err != nil {
		return fmt.Errorf("return jobs: %w", err)
	}
	return f.administer(ctx, g)
}

func (f *fuzz) claim(ctx context.Context, size int) error {
	rows, err := f.database.conn.Query(ctx, "select b.id from graphile_worker.get_job_batch($1, null, $2, null, 'infinity') as b", worker, size)
	if err != nil {
		return err
	}
	claimed, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	for _, id := range claimed {
		j, isThere := f.model.jobs[id]
		if !isThere || !j.isAvailable {
			return fmt.Errorf("job %d was claimed, but must not run: %s", id, describe(j))
		}
		j.attempts, j.lockedBy = j.attempts+1, textOf(worker)
		f.model.put(j)
	}
	return f.checkLimits()
}

// fail fails a job, permanently or not, and sometimes with another payload.
func (f *fuzz) fail(ctx context.Context, g generator, j job) error {
	message, permanent, retryAt, payload := pick(g, oddTexts), g.odds(3), pick(g, runAts), text{}
	if g.odds(4) {
		payload = textOf(g.json(2))
	}
	err := f.touch(ctx, []int64{j.id}, `
		select f.id
		  from graphile_worker.fail_job($1, $2, $3, retry_at => $4::text::timestamptz, replacement_payload => $5::text::json, permanent => $6) as f`,
		worker, j.id, message, retryAt, payload, permanent)
	j.lockedBy, j.lastError, j.runAt, j.payload = text{}, textOf(message), retryAt, orElse(payload, j.payload)
	j.attempts = min(j.attempts, j.maxAttempts)
	if permanent {
		j.attempts = j.maxAttempts
	}
	f.model.put(j)
	return err
}

// administer permanently fails one waiting job, or removes the job with a key.
func (f *fuzz) administer(ctx context.Context, g generator) error {
	keyed := slices.DeleteFunc(f.sorted(), func(j job) bool { return !j.key.Valid })
	if len(keyed) == 0 {
		return nil
	}
	j := pick(g, keyed)
	if g.odds(2) {
		a, err := f.database.call(ctx, "select "+columns+" from graphile_worker.remove_job($1) as j", j.key.V)
		if err == nil && len(a.rows) != 1 {
			err = errUntouched
		}
		if err != nil {
			return fmt.Errorf("remove the job with key %q: %w", j.key.V, err)
		}
		if j.isLocked {
			f.model.retire(j, a.now)
		} else {
			f.model.remove(j)
		}
		return nil
	}
	if j.isLocked {
		return nil
	}
	message := pick(g, oddTexts)
	a, err := f.database.call(ctx, "select "+columns+" from graphile_worker.permanently_fail_jobs($1, $2) as j",
		[]int64{j.id}, message)
	if err == nil && len(a.rows) != 1 {
		err = errUntouched
	}
	if err != nil {
		return fmt.Errorf("fail job %d permanently: %w", j.id, err)
	}
	j.attempts, j.lastError, j.updatedAt = j.maxAttempts, textOf(message), a.now
	f.model.put(j)
	return nil
}

// tidy removes the jobs that no later call can affect, because they have no key and do not run, and the unused names. This keeps the
// tables small however long the run is.
func (f *fuzz) tidy(ctx context.Context) error {
	var left []int64
	for _, j := range f.sorted() {
		if !j.isLocked && !j.key.Valid {
			left = append(left, j.id)
			f.model.remove(j)
		}
	}
	if err := f.touch(ctx, left, "select j.id from graphile_worker.complete_jobs($1) as j", left); err != nil {
		return err
	}
	for _, statement := range []string{
		"select graphile_worker.cleanup('{GC_TASK_IDENTIFIERS,GC_JOB_QUEUES}', force => true)",
		"vacuum graphile_worker._private_jobs, graphile_worker._private_tasks, graphile_worker._private_job_queues",
	} {
		if _, err := f.database.conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	clear(f.database.tasks)
	clear(f.database.queues)
	f.model.collectNames()
	return f.look(ctx)
}

// touch makes a call that must return these ids.
func (f *fuzz) touch(ctx context.Context, ids []int64, sql string, args ...any) error {
	rows, err := f.database.conn.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	touched, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	if slices.Sort(touched); !slices.Equal(touched, ids) {
		return fmt.Errorf("%w: jobs %v, touched %v", errUntouched, ids, touched)
	}
	return nil
}

// sorted returns the rows of the model by id.
func (f *fuzz) sorted() []job {
	return slices.SortedFunc(maps.Values(f.model.jobs), func(a, b job) int { return cmp.Compare(a.id, b.id) })
}
