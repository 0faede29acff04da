package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/bench/internal/stats"
	"github.com/gwsql/gw/bench/internal/subject"
)

const (
	queueJobs = 60_000

	// queueTime is how long queues are worked, if they are not empty before.
	queueTime = 5 * time.Second
)

// queueLoads are the numbers of named queues and of processes, and the budgets: how many times as fast as one job of a
// queue at a time it has to be.
var queueLoads = []struct {
	queues, processes int
	budget            float64
}{
	{1, 1, 10}, {10, 8, 5}, {1000, 1, 1.5},
}

// queuesScenario works the jobs of named queues.
func queuesScenario(ctx context.Context, b *bench) error {
	t := report.Table{{"named queues", "processes", "contender", "jobs/s", "gw / contender"}}
	for _, load := range queueLoads {
		what := fmt.Sprintf("%d named queues, %d processes: gw / ", load.queues, load.processes)
		all := b.among(ours, oursOneByOne, nodeDefaults, nodeBest)
		speed, err := b.queueSpeeds(ctx, all, load.queues, load.processes)
		if err != nil {
			return err
		}
		for _, c := range all {
			ratio := speed[ours.name].Over(speed[c.name])
			t.Add(fmt.Sprint(load.queues), fmt.Sprint(load.processes), c.name, speed[c.name].Number(), ratio.Ratio())
			b.bar("named-queues.svg", "Jobs of named queues that do nothing, jobs a second", bar{
				group: fmt.Sprintf("PostgreSQL %s: %d queues, %d processes", b.Version, load.queues, load.processes),
				name:  c.name, value: speed[c.name].Median(), ours: c.family == ours.family,
			})
			switch c.name {
			case oursOneByOne.name:
				b.result(what+"one job at a time", ratio.Ratio(), fmt.Sprintf("at least %g", load.budget),
					ratio.AtLeast(load.budget))
			case nodeDefaults.name, nodeBest.name:
				b.result(what+c.name, ratio.Ratio(), "at least 1", ratio.AtLeast(1))
			}
		}
	}
	b.Note("%d ready jobs, distributed evenly over the queues; run for %v or until none is left.", b.Scale(queueJobs),
		queueTime)
	b.Table(t)
	return nil
}

// queueSpeeds returns jobs per second by contender.
func (b *bench) queueSpeeds(ctx context.Context, all []contender, queues,
	processes int) (map[string]stats.Series, error) {
	speed := map[string]stats.Series{}
	for round := range b.Rounds {
		for _, c := range harness.Turns(round, all) {
			one, err := b.measureQueues(ctx, c.times(processes), queues)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(b.Progress, "round %d: %d queues: %s: %.1f jobs/s\n", round+1, queues, c.name, one)
			speed[c.name] = append(speed[c.name], one)
		}
	}
	return speed, nil
}

// queueLatencyScenario adds single jobs to a named queue and measures when their handlers begin.
func queueLatencyScenario(ctx context.Context, b *bench) error {
	all := []contender{ours, oursOneByOne}
	samples := max(b.Scale(latencySamples)/b.Rounds, 10)
	medians := map[string]stats.Series{}
	for round := range b.Rounds {
		for _, c := range harness.Turns(round, all) {
			times, err := b.measureLatency(ctx, c, samples, map[string]any{"queueName": "queue-1"}, nil)
			if err != nil {
				return err
			}
			fmt.Fprintf(b.Progress, "round %d: %s: p50 %.2f ms\n", round+1, c.name, times.Median())
			medians[c.name] = append(medians[c.name], times.Median())
		}
	}
	t := report.Table{{"contender", "p50, ms"}}
	for _, c := range all {
		t.Add(c.name, medians[c.name].Number())
	}
	b.Note("As above, with jobs in a named queue.")
	b.Table(t)
	ratio := medians[ours.name].Over(medians[oursOneByOne.name])
	b.result("pick-up of a single job in a named queue, p50: gw / one job at a time", ratio.Ratio(), "at most 1.05",
		ratio.AtMost(1.05))
	return nil
}

func (b *bench) measureQueues(ctx context.Context, c contender, queues int) (speed float64, err error) {
	n := b.Scale(queueJobs)
	order := subject.Order{Do: subject.Work, Jobs: n}
	err = b.employ(ctx, c, order, func(db *server.Database) error {
		return db.Settle(ctx, queue.AddQueues(queues), queue.Insert(n, "run_at, job_queue_id", fmt.Sprintf(
			"now() - interval '6 hours' + i * interval '1 ms', (select q.id from %s as q where q.queue_name = 'queue-' || 1 + i %% %d)",
			queue.QueuesTable, queues)))
	}, func(k *crew) error {
		s, err := k.reach(ctx, n, func(s subject.Status) bool {
			return s.First == 0 || subject.Now()-s.First < queueTime.Nanoseconds()
		})
		if err != nil {
			return err
		}
		speed = float64(s.Executions) / (float64(subject.Now()-s.First) / 1e9)
		counts, err := k.stop(ctx)
		if err != nil {
			return err
		}
		return k.checkPart(ctx, counts)
	})
	return speed, err
}

// checkPart refuses a run that ended early in which a job was executed twice, or is gone without having been executed,
// or the other way round.
func (k *crew) checkPart(ctx context.Context, counts []uint32) error {
	executed := 0
	for i, n := range counts {
		if n > 1 {
			return fmt.Errorf("job %d was executed %d times", i+1, n)
		}
		executed += int(n)
	}
	var left int
	if err := k.db.Admin.QueryRow(ctx, k.contender.family.tables.left).Scan(&left); err != nil {
		return fmt.Errorf("count what is left: %w", err)
	}
	// Another program may end without the outcome of a job that it has executed.
	if n := executed + left; n < len(counts) || n > len(counts) && k.contender.family.program == oursFamily.program {
		return fmt.Errorf("of %d jobs %d were executed, and %d are left", len(counts), executed, left)
	}
	return nil
}
