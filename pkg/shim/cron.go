package shim

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gwsql/gw/pkg/crontab"
)

// longestTick is how long a tick may take at most. It is long because the first one after an outage may have the minutes
// of months to make up for, all in one transaction.
const longestTick = 10 * time.Minute

// cron has the database add the jobs of recurring jobs: those of the worker's items, and those of the schedules in the
// database, which any worker looks after. What is due is decided there, by its clock; here is only remembered which minute
// was the last to be handled.
type cron struct {
	queries *queries
	offered *atomic.Pointer[cronItems] // what is to be used; never nil
	changed signal                     // offered is another
	logger  *slog.Logger
	events  *eventBus
	fail    func(error) // ends the worker
	clock   cronClock

	used     *cronItems // what is used; nil before the start
	since    time.Time  // the last minute that was handled; only after the start
	timeout  time.Duration
	problems map[cronProblem]bool // of the last tick
}

// cronItems are a worker's items. They are replaced, never changed.
type cronItems struct{ list []crontab.Item }

// cronClock is the time that a tick takes place, and how to wait for the next: nil is the database's, and [time.After].
// Tests have others.
type cronClock struct {
	now   func() *time.Time
	after func(time.Duration) <-chan time.Time
}

// run ticks until ctx ends. Whatever fails is tried again with the same minute to go on from, so that none is lost. Only a
// worker whose first items the database refuses has to leave.
func (c *cron) run(ctx context.Context) {
	var retry backoff
	for {
		delay, err := c.step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			retry.reset()
			if !c.wait(ctx, delay) {
				return
			}
		case c.used == nil && (isRefusal(err) || isMistake(err)):
			c.fail(err)
			return
		default:
			emit(c.events, CronFailed{Err: err})
			c.queries.warn(c.logger, "cannot look after recurring jobs, will try again", err)
			if !retry.wait(ctx) {
				return
			}
		}
	}
}

// wait waits until the next tick is due or the items are others; it returns false if ctx ended first.
func (c *cron) wait(ctx context.Context, delay time.Duration) bool {
	after := c.clock.after
	if after == nil {
		after = time.After
	}
	select {
	case <-after(delay):
		return true
	case <-c.changed:
		return true
	case <-ctx.Done():
		return false
	}
}

// step sees to the minutes since the last one, and then begins with other items if there are any. It returns when to come
// back.
func (c *cron) step(ctx context.Context) (delay time.Duration, err error) {
	if c.used != nil {
		done, err := c.tick(ctx, c.used, &c.since)
		if err != nil {
			return 0, err
		}
		c.since, delay = done.handled, done.delay
		if len(done.jobs) > 0 {
			c.logger.Debug("added recurring jobs", "jobs", len(done.jobs))
			emit(c.events, CronScheduled{Jobs: done.jobs})
		}
	}
	select {
	case <-c.changed: // before the look, so that what comes after it is seen
	default:
	}
	if offered := c.offered.Load(); offered != c.used {
		return c.begin(ctx, offered)
	}
	return delay, nil
}

// begin makes items known to the database and has it make up for what they missed when nobody looked after them. If it
// refuses them, those before stay.
func (c *cron) begin(ctx context.Context, items *cronItems) (delay time.Duration, err error) {
	done, err := c.tick(ctx, items, nil)
	if isRefusal(err) && c.used != nil {
		c.offered.CompareAndSwap(items, c.used)
		c.logger.Error("new recurring jobs are refused, keeps those before", "error", err)
		emit(c.events, CronFailed{Err: err})
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if c.used == nil {
		c.since, delay = done.handled, done.delay
	} // else the minutes go on from the last tick, for the new items too, at once
	c.used = items
	c.logger.Info("looks after recurring jobs", "items", len(items.list))
	emit(c.events, CronStarting{Items: len(items.list)})
	if len(done.jobs) > 0 {
		c.logger.Info("made up for missed recurring jobs", "jobs", len(done.jobs))
		emit(c.events, CronBackfilled{Jobs: done.jobs})
	}
	return delay, nil
}

// tick is one call of the database. One that takes too long may take longer the next time.
func (c *cron) tick(ctx context.Context, items *cronItems, since *time.Time) (done ticked, err error) {
	var now *time.Time
	if c.clock.now != nil {
		now = c.clock.now()
	}
	c.timeout = max(c.timeout, callTimeout)
	done, err = c.queries.runCron(ctx, c.timeout, items.list, since, now)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		c.timeout = min(2*c.timeout, longestTick)
	case err == nil:
		c.timeout = callTimeout
		c.report(done.problems)
	}
	return done, err
}

// report logs what keeps recurring jobs from running, once as long as it lasts.
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
