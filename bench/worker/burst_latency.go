package main

import (
	"context"
	"fmt"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/stats"
)

const (
	burstLatencyJobs   = 300_000
	burstLatencyBudget = 1.1 // the latency right after a burst, as a multiple of that in a clean table
)

// burstLatencyScenario measures single jobs while the entries of many jobs that have just ended are in the indexes.
func burstLatencyScenario(ctx context.Context, b *bench) error {
	samples := max(b.Scale(latencySamples)/b.Rounds, 10)
	burst := []string{queue.Fill(b.Scale(burstLatencyJobs)), fmt.Sprintf(`
		do $$ declare ids bigint[]; its_lease bigint;
		begin
		  loop
		    select array_agg(id), max(lease) into ids, its_lease from %[1]s.get_job_batch('burst', '{%[2]s}', 500);
		    exit when ids is null;
		    commit;
		    perform %[1]s._gw_complete_claim('burst', ids, its_lease);
		    commit;
		  end loop;
		end $$`, queue.Schema, queue.Task), "alter sequence " + queue.Schema +
		".jobs_id_seq1 restart"} // the worker counts jobs from 1
	states := []struct {
		name  string
		after []string
	}{{"a clean table", nil}, {fmt.Sprintf("after %d jobs", b.Scale(burstLatencyJobs)), burst}}
	medians, pooled := make([]stats.Series, len(states)), make([]stats.Series, len(states))
	for round := range b.Rounds {
		for _, i := range harness.Turns(round, []int{0, 1}) {
			times, err := b.measureLatency(ctx, ours, samples, nil, states[i].after)
			if err != nil {
				return fmt.Errorf("%s: %w", states[i].name, err)
			}
			fmt.Fprintf(b.Progress, "round %d: %s: p50 %.2f ms\n", round+1, states[i].name, times.Median())
			medians[i], pooled[i] = append(medians[i], times.Median()), append(pooled[i], times...)
		}
	}
	b.Note("As in latency. The jobs of the burst are claimed and completed just before the worker starts, and their rows and index "+
		"entries are there until autovacuum comes. %d jobs for each.", samples*b.Rounds)
	t := report.Table{{"state", "p50, ms", "p95, ms", "max, ms"}}
	for i, s := range states {
		t.Add(s.name, medians[i].Number(), stats.Number(pooled[i].Quantile(0.95)), stats.Number(pooled[i].Quantile(1)))
	}
	b.Table(t)
	ratio := medians[1].Over(medians[0])
	b.result("pick-up of a single job, p50: right after a burst / in a clean table", ratio.Ratio(),
		fmt.Sprintf("at most %v", burstLatencyBudget), ratio.AtMost(burstLatencyBudget))
	return nil
}
