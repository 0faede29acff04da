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

const (
	claimersTime  = 3 * time.Second
	claimersEvery = 10 * time.Millisecond // between two samples of waits
)

var claimersNumbers = []int{1, 4, 16, 32, 64, 128}

// claimersBatches are the batch sizes, with the number of jobs in the table at the start, which take longer than
// claimersTime.
var claimersBatches = []struct{ n, jobs int }{{1, 200_000}, {10, 500_000}, {100, 1_000_000}}

// claimersFigures are the measurements of a number of claimers, one value per round.
type claimersFigures struct{ speed, cpu, entries, waits, share stats.Series }

// claimersScenario lets more and more sessions claim and complete jobs without a queue, each as fast as it can.
func claimersScenario(ctx context.Context, b *bench) error {
	contenders := []contender{ours, byHand}
	t := report.Table{{"batch", "claimers", "ours, jobs/s", "to one claimer", "ours / reference",
		"server CPU, µs a job", "to one claimer",
		"index entries a job", "completions that wait", "share"}}
	for _, batch := range claimersBatches {
		single := map[string]*claimersFigures{}
		for _, claimers := range claimersNumbers {
			found := map[string]*claimersFigures{}
			for _, c := range contenders {
				found[c.name] = &claimersFigures{}
			}
			for round := range b.Rounds {
				for _, c := range harness.Turns(round, contenders) {
					if err := b.measureClaimers(ctx, c, batch.n, claimers,
						max(b.Scale(batch.jobs), 2*batch.n*claimers*warmUp), found[c.name]); err != nil {
						return fmt.Errorf("%s, batch %d, %d claimers: %w", c.name, batch.n, claimers, err)
					}
				}
			}
			if claimers == 1 {
				single = found
			}
			f, one := found[ours.name], single[ours.name]
			t.Add(fmt.Sprint(batch.n), fmt.Sprint(claimers), f.speed.Number(), f.speed.Over(one.speed).Ratio(),
				f.speed.Over(found[byHand.name].speed).Ratio(), f.cpu.Number(), f.cpu.Over(one.cpu).Ratio(),
				f.entries.Number(),
				f.waits.Number(), f.share.Number())
			fmt.Fprintf(b.Progress, "batch %d, %d claimers\n", batch.n, claimers)
		}
	}
	b.Note("Ready plain jobs, more than are run; each claimer, on a connection of its own, claims a batch, completes it, and so on for %s. Index "+
		"entries that were read are those of the index of jobs without a queue. Completions that wait for another transaction are "+
		"sampled every %s, per sample. The share is the number of jobs of the claimer that ran the fewest, as a fraction of the mean.",
		b.loopTime(claimersTime), claimersEvery)
	b.Table(t)
	return nil
}

// measureClaimers adds the measurements of a round.
func (b *bench) measureClaimers(ctx context.Context, c contender, batch, claimers, ready int,
	f *claimersFigures) (err error) {
	db, err := b.copyOf(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	if err := db.Settle(ctx, queue.Fill(ready)); err != nil {
		return err
	}
	all, err := db.claimers(ctx, claimers, batch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, all.close(ctx)) }()
	entries, err := db.entries(ctx)
	if err != nil {
		return err
	}
	before, err := b.Server.CPU(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	end := start.Add(b.loopTime(claimersTime))
	wait := all.start(ctx, batch, end)
	var samples, waits float64
	for ; time.Now().Before(end); time.Sleep(claimersEvery) {
		var waiting int
		if err = errors.Join(err, db.Admin.QueryRow(ctx, completionsThatWait).Scan(&waiting)); err != nil {
			break
		}
		samples, waits = samples+1, waits+float64(waiting)
	}
	results, loopErr := wait()
	elapsed := time.Since(start)
	after, cpuErr := b.Server.CPU(ctx)
	if err := errors.Join(loopErr, err, cpuErr); err != nil {
		return err
	}
	jobs := 0
	fewest := results[0].jobs
	for _, r := range results {
		jobs += r.jobs
		fewest = min(fewest, r.jobs)
	}
	if jobs+batch*claimers*(warmUp+1) > ready {
		return fmt.Errorf("all %d jobs were run before the time was over", ready)
	}
	if err := all.close(ctx); err != nil { // the end of a session tells its statistics
		return err
	}
	allEntries, err := db.entries(ctx)
	if err != nil {
		return err
	}
	f.speed = append(f.speed, float64(jobs)/elapsed.Seconds())
	f.cpu = append(f.cpu, float64((after-before).Nanoseconds())/1e3/float64(jobs))
	f.entries = append(f.entries, (allEntries-entries)/float64(jobs))
	f.waits = append(f.waits, waits/samples)
	f.share = append(f.share, float64(fewest)*float64(claimers)/float64(jobs))
	return nil
}

// completionsThatWait counts the sessions that wait for another transaction while they delete jobs.
const completionsThatWait = `
	select count(*) from pg_stat_activity
	 where datname = current_database() and wait_event_type = 'Lock' and wait_event in ('transactionid', 'tuple') and query ~ 'complete|delete'`

// entries returns how many entries of the index of jobs without a queue were read, as far as sessions have told.
func (db *database) entries(ctx context.Context) (entries float64, err error) {
	err = db.Admin.QueryRow(ctx, "select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes "+
		"where indexrelname = 'jobs_no_queue_index' and relname = '_private_jobs'").Scan(&entries)
	if err != nil {
		return 0, fmt.Errorf("ask what was read: %w", err)
	}
	return entries, nil
}
