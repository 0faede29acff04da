package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/stats"
)

// serialJobs is a number of jobs that takes longer than serialTime.
const (
	serialJobs = 60_000
	serialTime = 4 * time.Second
)

// serialCases are numbers of queues and of claimers. The first case of each number of queues has one claimer. The last
// three cases, jobs without a queue, show the effect of more claimers on this machine without queues.
var serialCases = []struct{ queues, claimers int }{
	{1, 1}, {10, 1}, {10, 2}, {10, 8}, {1000, 1}, {1000, 2}, {1000, 8}, {0, 1}, {0, 2}, {0, 8},
}

// serialScenario runs jobs of named queues, one at a time per claimer.
func serialScenario(ctx context.Context, b *bench) error {
	all := b.contenders(ours)
	t := report.Table{{"queues", "claimers", "ours, jobs/s", "in vain", "to one claimer", "at least", "holds",
		"Node, jobs/s", "in vain",
		"to one claimer", "ours / Node"}}
	single := map[string]stats.Series{} // with one claimer, by contender
	for _, s := range serialCases {
		speed, vain := map[string]stats.Series{}, map[string]stats.Series{}
		for round := range b.Rounds {
			for _, c := range harness.Turns(round, all) {
				m, err := b.measureSerial(ctx, c, s.queues, s.claimers)
				if err != nil {
					return fmt.Errorf("%s, %d queues, %d claimers: %w", c.name, s.queues, s.claimers, err)
				}
				speed[c.name], vain[c.name] = append(speed[c.name], m.speed), append(vain[c.name], m.vain)
			}
		}
		if s.claimers == 1 {
			single = speed
		}
		budget, holds := "", ""
		more := speed["ours"].Over(single["ours"])
		switch {
		case s.queues == 1:
			budget, holds = "200/s", speed["ours"].AtLeast(200)
		case s.queues == 10 && s.claimers == 8:
			budget, holds = "1.5", more.AtLeast(1.5)
		}
		t.Add(fmt.Sprint(s.queues), fmt.Sprint(s.claimers), speed["ours"].Number(), percent(vain["ours"]), more.Ratio(),
			budget,
			holds, speed["Node"].Number(), percent(vain["Node"]), speed["Node"].Over(single["Node"]).Ratio(),
			speed["ours"].Over(speed["Node"]).Ratio())
	}
	b.Note("%d ready jobs in named queues, in turn; each claimer, on a connection of its own, claims one, completes it, and so "+
		"on for %s. A claim is in vain if it returns nothing, and is then repeated at once.", b.Scale(serialJobs),
		b.loopTime(serialTime))
	b.Table(t)
	return nil
}

func percent(s stats.Series) string {
	return s.Spread(func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) })
}

// serialResult is the jobs per second of all claimers, and the fraction of their claims that returned nothing.
type serialResult struct{ speed, vain float64 }

func (b *bench) measureSerial(ctx context.Context, c contender, queues, claimers int) (_ serialResult, err error) {
	var r serialResult
	db, err := b.copyOf(ctx, c)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	// Jobs without a queue run faster, so there are more of them.
	jobs, inQueue := b.Scale(2*serialJobs), "null"
	if queues > 0 {
		jobs = b.Scale(serialJobs)
		inQueue = fmt.Sprintf("(select q.id from %s as q where q.queue_name = 'queue-' || 1 + i %% %d)",
			queue.QueuesTable, queues)
	}
	fill := queue.Insert(jobs, "run_at, job_queue_id", "now() - interval '6 hours' + i * interval '1 ms', "+inQueue)
	if err := db.Settle(ctx, queue.AddQueues(queues), fill); err != nil {
		return r, err
	}
	all, err := db.claimers(ctx, claimers, 1)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, all.close(ctx)) }()
	start := time.Now()
	results, err := all.start(ctx, 1, start.Add(b.loopTime(serialTime)))()
	elapsed := time.Since(start).Seconds()
	var total loopResult
	for _, one := range results {
		total.jobs += one.jobs
		total.vain += one.vain
	}
	if warmedUp := claimers * warmUp; total.jobs+warmedUp >= jobs {
		return r, fmt.Errorf("all %d jobs were run before the time was over", total.jobs+warmedUp)
	}
	r.speed = float64(total.jobs) / elapsed
	r.vain = float64(total.vain) / float64(total.jobs+total.vain)
	return r, err
}
