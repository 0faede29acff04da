package shim

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/pkg/crontab"
)

// ticked is the result of a tick: the last minute that was handled, and when the next tick is due.
type ticked struct {
	handled  time.Time
	delay    time.Duration
	jobs     []CronJob
	problems []cronProblem
}

// cronProblem is the reason why a recurring job does not run.
type cronProblem struct{ Identifier, Problem string }

// runCron runs one tick: it adds the jobs due after since. If since is nil, the worker begins with these items. If now
// is nil, the database's clock counts.
func (q *queries) runCron(
	ctx context.Context, timeout time.Duration, items []crontab.Item, since, now *time.Time,
) (done ticked, err error) {
	if items == nil {
		items = []crontab.Item{} // null would not be a list
	}
	list, err := encodePayload(items)
	if err != nil {
		return done, fmt.Errorf("encode recurring jobs: %w", err)
	}
	var delay float64
	var scheduled, problems []byte
	err = q.callWithin(ctx, timeout, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, q.text(`
			select r.handled, extract(epoch from r.delay)::double precision, r.scheduled::text, r.problems::text
			  from S.run_cron($1::json, $2::timestamptz, coalesce($3::timestamptz, pg_catalog.now()), $4::text) as r`),
			*list, since, now, q.workerID).Scan(&done.handled, &delay, &scheduled, &problems)
	})
	if err != nil {
		return done, fmt.Errorf("run cron: %w", err)
	}
	done.delay = seconds.Duration(delay)
	var jobs []struct {
		Identifier, Task string
		JobID            int64     `json:"job_id"`
		At               time.Time `json:"ts"`
	}
	if err := json.Unmarshal(scheduled, &jobs); err != nil {
		return done, fmt.Errorf("read scheduled jobs: %w", err)
	}
	for _, job := range jobs {
		done.jobs = append(done.jobs, CronJob{Identifier: job.Identifier, Task: job.Task, JobID: job.JobID, At: job.At})
	}
	if problems != nil {
		if err := json.Unmarshal(problems, &done.problems); err != nil {
			return done, fmt.Errorf("read problems of recurring jobs: %w", err)
		}
	}
	return done, nil
}
