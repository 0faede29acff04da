package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/stats"
	"github.com/gwsql/gw/bench/internal/subject"
)

const (
	fleetJobs = 1_000_000 // so many that the first claims of the sessions, which plan their statements, are few

	// The limits for 32 processes.
	fleetCPU     = 1.3 // processor time of the server per job, as a multiple of one process
	fleetSpeed   = 0.7 // jobs per second, as a multiple of one process
	fleetEntries = 30  // index entries per job
	fleetShare   = 0.5 // the jobs of the process that ran the fewest, as a fraction of the mean
)

// fleetSizes are the numbers of processes.
var fleetSizes = []int{1, 4, 16, 32, 64}

// fleetFigures are the measurements of one number of processes, one value per round.
type fleetFigures struct{ speed, cpu, entries, rows, completions, claims, share stats.Series }

// fleetScenario runs the same jobs with more and more processes on the same queue.
func fleetScenario(ctx context.Context, b *bench) error {
	n := b.Scale(fleetJobs)
	found := map[int]*fleetFigures{}
	for _, size := range fleetSizes {
		found[size] = &fleetFigures{}
	}
	for range b.Rounds {
		for _, size := range fleetSizes {
			if err := b.fleet(ctx, size, n, found[size]); err != nil {
				return err
			}
			f := found[size]
			fmt.Fprintf(b.Progress, "%d processes: %s jobs/s, %s us, %s entries, %s rows, waits %s %s, share %s\n",
				size,
				f.speed.Number(), f.cpu.Number(), f.entries.Number(), f.rows.Number(), f.completions.Number(),
				f.claims.Number(), f.share.Number())
		}
	}
	b.Note("%d no-op jobs, with the defaults in each process. All processes are idle when the jobs are added in one transaction. Index "+
		"entries and rows that were read from then on are those of the index of jobs without a queue. Waits are sampled: sessions that "+
		"wait for another transaction, and claims that wait for their turn, per sample. The share is the number of jobs of the process "+
		"that ran the fewest, as a fraction of the mean.", n)
	t := report.Table{{"processes", "jobs/s", "server CPU, µs a job", "index entries a job", "rows a job",
		"completions that wait",
		"claims that wait", "share"}}
	for _, size := range fleetSizes {
		f := found[size]
		t.Add(fmt.Sprint(size), f.speed.Number(), f.cpu.Number(), f.entries.Number(), f.rows.Number(),
			f.completions.Number(),
			f.claims.Number(), f.share.Number())
		b.bar("many-workers.svg", "Jobs that do nothing, many processes on one queue, jobs a second", bar{
			group: "PostgreSQL " + b.Version, name: fmt.Sprintf("gw, %d processes", size), value: f.speed.Median(),
			ours: true,
		})
	}
	b.Table(t)
	one, many := found[1], found[32]
	for _, r := range []struct {
		what   string
		series stats.Series
		least  bool
		limit  float64
	}{
		{"jobs/s, 32 processes / one", many.speed.Over(one.speed), true, fleetSpeed},
		{"server CPU a job, 32 processes / one", many.cpu.Over(one.cpu), false, fleetCPU},
		{"index entries a job, 32 processes", many.entries, false, fleetEntries},
		{"completions that wait, 32 processes", many.completions, false, 0},
		{"fewest jobs of 32 processes / mean", many.share, true, fleetShare},
	} {
		budget, holds := fmt.Sprintf("at most %v", r.limit), r.series.AtMost(r.limit)
		if r.least {
			budget, holds = fmt.Sprintf("at least %v", r.limit), r.series.AtLeast(r.limit)
		}
		b.result("fleet: "+r.what, r.series.Ratio(), budget, holds)
	}
	return nil
}

// fleet measures one number of processes.
func (b *bench) fleet(ctx context.Context, size, n int, f *fleetFigures) error {
	c := ours
	c.name, c.processes = fmt.Sprintf("gw, %d processes", size), size
	var before, cpu time.Duration
	var samples, completions, claims float64
	var fewest int64
	var entries, rows float64
	var watchErr error
	l := load{jobs: n, late: true, watch: func(k *crew, s subject.Status) {
		if s.Executions == 0 || watchErr != nil {
			return
		}
		var ended, begun int
		watchErr = k.db.Admin.QueryRow(ctx, lockWaits).Scan(&ended, &begun)
		samples, completions, claims = samples+1, completions+float64(ended), claims+float64(begun)
		if s.Executions >= int64(n) {
			fewest, watchErr = k.fewest(ctx)
		}
	}, commits: func(k *crew) (err error) {
		if entries, rows, err = k.reads(ctx); err != nil {
			return err
		}
		before, err = b.Server.CPU(ctx)
		return err
	}, done: func() (err error) {
		cpu, err = b.Server.CPU(ctx)
		return err
	}, ended: func(k *crew) error {
		allEntries, allRows, err := k.reads(ctx)
		f.entries, f.rows = append(f.entries, (allEntries-entries)/float64(n)),
			append(f.rows, (allRows-rows)/float64(n))
		return err
	}}
	one, err := b.burn(ctx, c, l)
	if err == nil {
		err = watchErr
	}
	if err != nil {
		return err
	}
	f.speed = append(f.speed, one.speed)
	f.cpu = append(f.cpu, float64((cpu-before).Microseconds())/float64(n))
	f.completions, f.claims = append(f.completions, completions/samples), append(f.claims, claims/samples)
	f.share = append(f.share, float64(fewest)*float64(size)/float64(n))
	return nil
}

// lockWaits counts the sessions that wait for another transaction, those that report outcomes, and the claims, which
// wait for their turn.
const lockWaits = `
	select count(*) filter (where query ~ 'complete'), count(*) filter (where query ~ 'get_job')
	  from pg_stat_activity
	 where datname = current_database() and wait_event_type = 'Lock' and wait_event in ('transactionid', 'tuple', 'relation')`

// fewest returns the number of jobs of the process that ran the fewest.
func (k *crew) fewest(ctx context.Context) (fewest int64, err error) {
	for i, p := range k.processes {
		s, err := p.status(ctx)
		if err != nil {
			return 0, err
		}
		if i == 0 || s.Executions < fewest {
			fewest = s.Executions
		}
	}
	return fewest, nil
}

// reads returns how many entries of the index of jobs without a queue were read, and how many rows of them.
func (k *crew) reads(ctx context.Context) (entries, rows float64, err error) {
	err = k.db.Admin.QueryRow(ctx, "select idx_tup_read, idx_tup_fetch from pg_stat_user_indexes "+
		"where indexrelname = 'jobs_no_queue_index' and relname = '_private_jobs'").Scan(&entries, &rows)
	if err != nil {
		return 0, 0, fmt.Errorf("ask what was read: %w", err)
	}
	return entries, rows, nil
}
