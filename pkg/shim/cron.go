package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/crontab"
)

// longestTick is the timeout of a tick. It is long because the first tick after an outage may have to backfill months,
// all in one transaction.
const longestTick = 10 * time.Minute

// cron adds the jobs of recurring jobs by calls of the database: those of the worker's items, and those of the
// schedules in the database, which every worker runs. The database decides what is due, by its clock; this type only
// stores the last minute that was handled.
type cron struct {
	loop
	offered *atomic.Pointer[cronItems] // the items to use; never nil
	changed signal                     // offered was replaced
	clock   cronClock

	used     *cronItems // the items in use; nil before the start
	since    time.Time  // the last minute that was handled; only after the start
	timeout  time.Duration
	problems map[cronProblem]bool // those of the last tick
}

// run ticks until ctx ends. After an error it tries again with the same minute, so none is lost. It ends the worker
// only if the database refuses its first items.
func (c *cron) run(ctx context.Context) {
	var retry connection.Backoff
	for {
		delay, err := c.step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			retry.Reset()
			if !c.wait(ctx, delay) {
				return
			}
		case c.used == nil && (sqlstate.IsRefusal(err) || sqlstate.IsMistake(err)):
			c.fail(err)
			return
		default:
			emit(c.events, CronFailed{Err: err})
			c.queries.warn(c.logger, "cron tick failed, worker will try again", err)
			if !retry.Wait(ctx) {
				return
			}
		}
	}
}

func (c *cron) wait(ctx context.Context, delay time.Duration) bool {
	select {
	case <-c.clock.after(delay):
		return true
	case <-c.changed:
		return true
	case <-ctx.Done():
		return false
	}
}

// step handles the minutes since the last tick, and then begins with new items, if any. It returns when to call it
// again.
func (c *cron) step(ctx context.Context) (delay time.Duration, err error) {
	if c.used != nil {
		done, err := c.tick(ctx, c.used, &c.since)
		if err != nil {
			return 0, err
		}
		c.since, delay = done.handled, done.delay
		if len(done.jobs) > 0 {
			c.logger.Debug("recurring jobs added", "jobs", len(done.jobs))
			emit(c.events, CronScheduled{Jobs: done.jobs})
		}
	}
	select {
	case <-c.changed: // before the check, so that a later change is noticed
	default:
	}
	if offered := c.offered.Load(); offered != c.used {
		return c.begin(ctx, offered)
	}
	return delay, nil
}

// begin registers items in the database and backfills missed runs. If the database refuses the items, the previous ones
// stay in use.
func (c *cron) begin(ctx context.Context, items *cronItems) (delay time.Duration, err error) {
	done, err := c.tick(ctx, items, nil)
	if sqlstate.IsRefusal(err) && c.used != nil {
		c.offered.CompareAndSwap(items, c.used)
		c.logger.Error("new recurring jobs were refused, previous ones stay in use", "error", err)
		emit(c.events, CronFailed{Err: err})
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if c.used == nil {
		c.since, delay = done.handled, done.delay
	} // otherwise the minutes continue from the last tick, for the new items as well
	c.used = items
	c.logger.Info("cron started", "items", len(items.list))
	emit(c.events, CronStarting{Items: len(items.list)})
	if len(done.jobs) > 0 {
		c.logger.Info("missed recurring jobs backfilled", "jobs", len(done.jobs))
		emit(c.events, CronBackfilled{Jobs: done.jobs})
	}
	return delay, nil
}

// tick is one call of the database. After a timeout, the next tick gets a longer one.
func (c *cron) tick(ctx context.Context, items *cronItems, since *time.Time) (done ticked, err error) {
	c.timeout = max(c.timeout, callTimeout)
	done, err = c.queries.runCron(ctx, c.timeout, items.list, since, c.clock.now())
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		c.timeout = min(2*c.timeout, longestTick)
	case err == nil:
		c.timeout = callTimeout
		c.report(done.problems)
	}
	return done, err
}

// report logs why recurring jobs do not run, once for as long as the problem lasts.
func (c *cron) report(problems []cronProblem) {
	now := make(map[cronProblem]bool)
	for _, problem := range problems {
		now[problem] = true
		if !c.problems[problem] {
			c.logger.Error("recurring job does not run", "identifier", problem.Identifier, "problem", problem.Problem)
		}
	}
	c.problems = now
}

type ticked struct {
	handled  time.Time
	delay    time.Duration
	jobs     []CronJob
	problems []cronProblem
}

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

// cronItems are a worker's items. They are replaced, never changed.
type cronItems struct{ list []crontab.Item }

// cronClock is the time of a tick, nil for the database's clock, and how to wait for the next one. Tests use others.
type cronClock struct {
	now   func() *time.Time
	after func(time.Duration) <-chan time.Time
}

func collectCron(sources []crontab.Source) (*cronItems, error) {
	for _, source := range sources {
		if source == nil {
			return nil, errors.New("a source of recurring jobs is nil")
		}
	}
	list, err := crontab.Collect(sources...)
	if err != nil {
		return nil, err
	}
	return &cronItems{list: list}, nil
}
