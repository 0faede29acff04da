package main

import (
	"context"
	"time"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/bench/internal/stats"
	"github.com/gwsql/gw/bench/internal/subject"
)

// The numbers of Graphile Worker's own performance test.
const (
	perfJobs        = 20_000
	perfProcesses   = 4
	perfConcurrency = 10
	perfLatencies   = 1000
)

// perfScenario is Graphile Worker's own test: starting and stopping without jobs, some jobs for several processes that
// end when no job is left, and the latency of single jobs.
func perfScenario(ctx context.Context, b *bench) error {
	all := b.among(ours, nodeDefaults)
	type row struct{ start, speed, least, mean, most stats.Series }
	found := map[string]*row{}
	for round := range b.Rounds {
		for _, c := range harness.Turns(round, all) {
			c.concurrency, c.share = perfConcurrency, 0
			if found[c.name] == nil {
				found[c.name] = &row{}
			}
			r := found[c.name]
			start, err := b.measureOnce(ctx, c, 1, 0)
			if err != nil {
				return err
			}
			whole, err := b.measureOnce(ctx, c, perfProcesses, b.Scale(perfJobs))
			if err != nil {
				return err
			}
			times, err := b.measureLatency(ctx, c, b.Scale(perfLatencies), nil, nil)
			if err != nil {
				return err
			}
			r.start = append(r.start, start.Seconds()*1000)
			r.speed = append(r.speed, float64(b.Scale(perfJobs))/(whole-start).Seconds())
			r.least = append(r.least, times.Quantile(0))
			r.mean = append(r.mean, times.Sum()/float64(len(times)))
			r.most = append(r.most, times.Quantile(1))
		}
	}
	b.Note("Start and stop with an empty queue; %d trivial jobs with %d processes of concurrency %d, jobs/s without the time of a "+
		"start and stop; latency from add_job to the start of the handler, one job at a time.",
		b.Scale(perfJobs), perfProcesses, perfConcurrency)
	t := report.Table{{"contender", "start and stop, ms", "jobs/s", "latency min, ms", "avg, ms", "max, ms"}}
	for _, c := range all {
		r := found[c.name]
		t.Add(c.name, r.start.Number(), r.speed.Number(), r.least.Number(), r.mean.Number(), r.most.Number())
	}
	b.Table(t)
	return nil
}

// measureOnce returns the time that a number of processes needs to start, to run all jobs, and to end.
func (b *bench) measureOnce(ctx context.Context, c contender, processes, jobs int) (took time.Duration, err error) {
	c.processes = processes
	var begin time.Time
	order := subject.Order{Do: subject.Once, Jobs: jobs}
	err = b.employ(ctx, c, order, func(db *server.Database) error {
		if jobs == 0 {
			err := db.Settle(ctx)
			begin = time.Now()
			return err
		}
		err := db.Settle(ctx, c.family.tables.fill(jobs))
		begin = time.Now()
		return err
	}, func(k *crew) error {
		counts, err := k.collect(ctx, nil)
		took = time.Since(begin)
		if err != nil {
			return err
		}
		if err := checkCounts(counts, 1); err != nil {
			return err
		}
		return k.checkPart(ctx, counts)
	})
	return took, err
}
