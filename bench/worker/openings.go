package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/bench/internal/stats"
	"github.com/gwsql/gw/bench/internal/subject"
)

const (
	openingSamples = 40
	openingLead    = 150 * time.Millisecond // at least, for the worker to fall asleep
	openingBudget  = 50                     // ms

	// openingHeld is a task that the worker does not run.
	openingHeld = "held"
)

// An opening is an event after which a job with a limit may start.
type opening struct {
	name  string
	limit string // the arguments of set_limit

	// wait makes a job wait until the event, and returns when the event is, in nanoseconds of the machine's monotonic
	// clock.
	wait func(ctx context.Context, db *server.Database) (at int64, err error)
}

var openings = []opening{
	{name: "a slot becomes free", limit: "max_running => 1", wait: freeSlot},
	{name: "a rate allows the next start", limit: "rate => 1, per => '200 ms'", wait: openRate},
	{name: "a pause ends", limit: "max_running => 1", wait: endPause},
}

// openingsScenario measures how long an idle worker takes to start a job that a limit has held back.
func openingsScenario(ctx context.Context, b *bench) error {
	b.Note("One job waits for a limit, and the worker has nothing else to do. From the call that completes the job with the slot, or "+
		"from the time at which the rate or the pause allows the start, to the start of the handler. %d jobs for each.",
		b.Scale(openingSamples)*b.Rounds)
	t := report.Table{{"event", "p50, ms", "p95, ms", "max, ms"}}
	for _, o := range openings {
		var medians, all stats.Series
		for range b.Rounds {
			times, err := b.measureOpening(ctx, o, b.Scale(openingSamples))
			if err != nil {
				return fmt.Errorf("%s: %w", o.name, err)
			}
			fmt.Fprintf(b.Progress, "%s: p50 %.2f ms\n", o.name, times.Median())
			medians = append(medians, times.Median())
			all = append(all, times...)
		}
		t.Add(o.name, medians.Number(), stats.Number(all.Quantile(0.95)), stats.Number(all.Quantile(1)))
		b.result("start after "+o.name+", median", medians.Number()+" ms", fmt.Sprintf("at most %d ms", openingBudget),
			medians.AtMost(openingBudget))
	}
	b.Table(t)
	return nil
}

// measureOpening returns milliseconds.
func (b *bench) measureOpening(ctx context.Context, o opening, n int) (times stats.Series, err error) {
	order := subject.Order{Do: subject.Work, Jobs: 4 * n, TellStarts: true}
	err = b.employ(ctx, ours, order, func(db *server.Database) error {
		return db.Settle(ctx, queue.SetLimitOf([]string{queue.Task, openingHeld}, o.limit))
	}, func(k *crew) error {
		for range n {
			at, err := o.wait(ctx, k.db)
			if err != nil {
				return err
			}
			start, err := k.processes[0].start(ctx)
			if err != nil {
				return err
			}
			if start.At < at {
				return fmt.Errorf("a job began %.3f ms too early", float64(at-start.At)/1e6)
			}
			times = append(times, float64(start.At-at)/1e6)
			if err := nothingLeft(ctx, k.db); err != nil {
				return err
			}
		}
		_, err := k.stop(ctx)
		return err
	})
	return times, err
}

func freeSlot(ctx context.Context, db *server.Database) (at int64, err error) {
	if err := holdSlot(ctx, db); err != nil {
		return 0, err
	}
	letItSleep()
	at = subject.Now()
	return at, db.Run(ctx, completeHeld())
}

// holdSlot makes a job wait for one that another worker has claimed.
func holdSlot(ctx context.Context, db *server.Database) error {
	if err := db.Run(ctx, addOne(openingHeld)); err != nil {
		return err
	}
	for claimed := false; !claimed; { // a claim of the worker, which is notified, may hold the limit
		err := db.Admin.QueryRow(ctx, fmt.Sprintf("select exists (select from %s.get_job('holder', '{%s}'))",
			queue.Schema, openingHeld)).
			Scan(&claimed)
		if err != nil {
			return fmt.Errorf("claim a job: %w", err)
		}
	}
	return db.Run(ctx, addOne(queue.Task))
}

func openRate(ctx context.Context, db *server.Database) (at int64, err error) {
	letItSleep()
	if err := holdSlot(ctx, db); err != nil {
		return 0, err
	}
	if err := db.Run(ctx, completeHeld()); err != nil {
		return 0, err
	}
	return monotonic(ctx, db, "select theoretic_at from %s._gw_gates")
}

func endPause(ctx context.Context, db *server.Database) (at int64, err error) {
	pause := fmt.Sprintf("select from %s.pause(limit_name => 'bench', until => clock_timestamp() + interval '%d ms')",
		queue.Schema,
		(openingLead + rand.N(openingLead)).Milliseconds())
	if err := db.Run(ctx, pause, addOne(queue.Task)); err != nil {
		return 0, err
	}
	return monotonic(ctx, db, "select until from %s._gw_pauses order by id desc limit 1")
}

// nothingLeft waits until no job is left.
func nothingLeft(ctx context.Context, db *server.Database) error {
	for left := true; left; time.Sleep(time.Millisecond) {
		if err := db.Admin.QueryRow(ctx, "select exists (select from "+queue.JobsTable+")").Scan(&left); err != nil {
			return fmt.Errorf("look for jobs: %w", err)
		}
	}
	return nil
}

// monotonic returns a time of the database, which runs on the same machine, on the monotonic clock.
func monotonic(ctx context.Context, db *server.Database, query string) (int64, error) {
	var at time.Time
	if err := db.Admin.QueryRow(ctx, fmt.Sprintf(query, queue.Schema)).Scan(&at); err != nil {
		return 0, fmt.Errorf("ask when the job may start: %w", err)
	}
	return subject.Now() + time.Until(at).Nanoseconds(), nil
}

// letItSleep gives the worker the time to find nothing, and does not let it expect the next job at a certain time.
func letItSleep() { time.Sleep(openingLead + rand.N(openingLead)) }

func addOne(task string) string {
	return fmt.Sprintf("select from %s.add_job('%s')", queue.Schema, task)
}

func completeHeld() string {
	return fmt.Sprintf("select %s.complete_job('holder', id) from %[1]s.jobs where locked_by = 'holder'", queue.Schema)
}
