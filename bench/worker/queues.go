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

// chainScenario works the jobs of one named queue.
func chainScenario(ctx context.Context, b *bench) error {
	const least = 200
	speed, err := b.queueScenario(ctx, 1)
	if err != nil {
		return err
	}
	b.result("a chain in one named queue", speed.Number()+" jobs/s", fmt.Sprintf("at least %d", least), speed.AtLeast(least))
	return nil
}

// queuesScenario works those of many.
func queuesScenario(ctx context.Context, b *bench) error {
	const queues = 1000
	speed, err := b.queueScenario(ctx, queues)
	if err != nil {
		return err
	}
	b.result(fmt.Sprintf("%d named queues", queues), speed.Number()+" jobs/s", "", "")
	return nil
}

// queueScenario returns the speeds of ours, in jobs per second.
func (b *bench) queueScenario(ctx context.Context, queues int) (stats.Series, error) {
	all := b.among(ours, nodeDefaults, nodeBest)
	speed := map[string]stats.Series{}
	for round := range b.Rounds {
		for _, c := range harness.Turns(round, all) {
			one, err := b.measureQueues(ctx, c, queues)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(b.Progress, "round %d: %s: %.1f jobs/s\n", round+1, c.name, one)
			speed[c.name] = append(speed[c.name], one)
		}
	}
	b.Note("%d ready jobs, distributed over %d named queues; run for %v or until none is left.", b.Scale(queueJobs), queues, queueTime)
	t := report.Table{{"contender", "jobs/s", "gw / contender"}}
	for _, c := range all {
		t.Add(c.name, speed[c.name].Number(), speed[ours.name].Over(speed[c.name]).Ratio())
	}
	b.Table(t)
	return speed[ours.name], nil
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

// checkPart refuses a run that ended early in which a job was executed twice, or is gone without having been executed, or
// the other way round.
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
	if executed+left != len(counts) {
		return fmt.Errorf("of %d jobs %d were executed, and %d are left", len(counts), executed, left)
	}
	return nil
}
