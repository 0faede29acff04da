package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/stats"
)

const (
	enqueueTime = 3 * time.Second

	// enqueueFilled is the number of jobs in an analysed table.
	enqueueFilled = 20_000
)

// An enqueuer is one way to enqueue that pgbench can measure.
type enqueuer struct {
	name      string
	contender contender
	script    string
	bulk      bool // the script uses specs
	keyed     bool // and jobs with their keys exist
	notify    string
}

// enqueueScenario adds jobs one by one and in bulk from one client.
func enqueueScenario(ctx context.Context, b *bench) error {
	b.Note("pgbench, prepared statements, one client on one core and its session on another, %s each on a fresh copy, autovacuum off. The analysed table has %d jobs; the "+
		"fresh one is empty and was never analysed. The yardstick for one job is a bare INSERT of the same row and pg_notify in one "+
		"statement; for a thousand, INSERT ... SELECT from generate_series.", b.pgbenchTime(), enqueueFilled)
	return b.With(ctx, map[string]string{"autovacuum": "off"}, func() error {
		if err := b.enqueueOne(ctx); err != nil {
			return err
		}
		return b.enqueueBulk(ctx)
	})
}

func (b *bench) enqueueOne(ctx context.Context) error {
	t := report.Table{{"table", "call", "calls/s", "time to bare", "at most", "holds"}}
	budget := 1.3
	if major, err := strconv.Atoi(b.Major()); err == nil && major >= 18 {
		budget = 1.5
	}
	for _, analysed := range []bool{true, false} {
		all := []enqueuer{
			{name: "bare", contender: ours, script: "bare"},
			{name: "add_job", contender: ours, script: "add_job"},
			{name: "add_job, keyed", contender: ours, script: "add_job_keyed"},
		}
		if b.node.name != "" {
			all = append(all,
				enqueuer{name: "Node's add_job", contender: b.node, script: "add_job"},
				enqueuer{name: "Node's add_job, keyed", contender: b.node, script: "add_job_keyed"})
		}
		speeds, err := b.measureEnqueuers(ctx, all, analysed)
		if err != nil {
			return err
		}
		kind := map[bool]string{true: "analysed", false: "fresh"}[analysed]
		for _, e := range all {
			time, most, holds := speeds["bare"].Over(speeds[e.name]), "", ""
			switch e.name {
			case "add_job":
				most, holds = fmt.Sprint(budget), time.AtMost(budget)
			case "add_job, keyed":
				most, holds = "1.8", time.AtMost(1.8)
			}
			t.Add(kind, e.name, speeds[e.name].Number(), time.Ratio(), most, holds)
		}
	}
	b.Table(t)
	return nil
}

func (b *bench) enqueueBulk(ctx context.Context) error {
	all := []enqueuer{
		{name: "bare", contender: ours, script: "bare_1000"},
		{name: "add_jobs", contender: ours, script: "add_jobs_1000", bulk: true},
		{name: "add_jobs, keyed", contender: ours, script: "add_jobs_1000_keyed", bulk: true, keyed: true},
	}
	if b.node.name != "" {
		all = append(all,
			enqueuer{name: "Node's add_jobs", contender: b.node, script: "add_jobs_1000", bulk: true},
			enqueuer{name: "Node's add_jobs, keyed", contender: b.node, script: "add_jobs_1000_keyed", bulk: true,
				keyed: true})
	}
	speeds, err := b.measureEnqueuers(ctx, all, true)
	if err != nil {
		return err
	}
	t := report.Table{{"1000 at once", "ms", "time to bare", "at most", "holds", "speed to Node's", "at least",
		"holds"}}
	for _, e := range all {
		var millis stats.Series
		for _, speed := range speeds[e.name] {
			millis = append(millis, 1000/speed)
		}
		time, toNode := speeds["bare"].Over(speeds[e.name]), speeds[e.name].Over(speeds["Node's "+e.name])
		cells := []string{e.name, millis.Number(), time.Ratio(), "", "", toNode.Ratio(), "", ""}
		if e.name == "add_jobs" {
			copy(cells[3:], []string{"1.5", time.AtMost(1.5), toNode.Ratio(), "1.2", toNode.AtLeast(1.2)})
		}
		t.Add(cells...)
	}
	b.Table(t)
	return nil
}

// pgbenchTime returns the duration of a run of pgbench; 0 for the shortest possible.
func (b *bench) pgbenchTime() time.Duration {
	if b.Quick {
		return 0
	}
	return enqueueTime
}

// measureEnqueuers returns calls per second by name, with one client.
func (b *bench) measureEnqueuers(ctx context.Context, all []enqueuer, analysed bool) (map[string]stats.Series, error) {
	speeds := map[string]stats.Series{}
	for round := range b.Rounds {
		for _, e := range harness.Turns(round, all) {
			speed, err := b.measureEnqueuer(ctx, e, analysed, pgbench{script: e.script, clients: 1,
				time: b.pgbenchTime()})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.name, err)
			}
			speeds[e.name] = append(speeds[e.name], speed)
		}
	}
	return speeds, nil
}

func (b *bench) measureEnqueuer(ctx context.Context, e enqueuer, analysed bool, p pgbench) (speed float64, err error) {
	db, err := b.copyOf(ctx, e.contender)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	if e.bulk {
		if err := db.Run(ctx, benchSpecs...); err != nil {
			return 0, err
		}
	}
	if e.keyed {
		if err := db.Run(ctx, "select count(*) from bench_specs as s, "+queue.Schema+".add_jobs(s.keyed)"); err != nil {
			return 0, err
		}
	}
	if analysed {
		if err := db.Settle(ctx, queue.Fill(enqueueFilled)); err != nil {
			return 0, err
		}
	}
	if e.notify != "" {
		if err := db.setNotify(ctx, e.notify); err != nil {
			return 0, err
		}
	}
	return p.run(ctx, db)
}

// benchSpecs creates the specs for the scripts of add_jobs: twenty times a thousand, with and without keys. They are
// stored uncompressed, because a parameter is not compressed either.
var benchSpecs = []string{
	"create table bench_specs (number integer primary key, specs " + queue.Schema + ".job_spec[], keyed " +
		queue.Schema + ".job_spec[])",
	"alter table bench_specs alter specs set storage external, alter keyed set storage external",
	"insert into bench_specs select n, " + specs("null") + ", " + specs("'key-' || 1000 * (n - 1) + i") +
		" from generate_series(1, 20) as s (n)",
	"vacuum (analyze) bench_specs",
}

func specs(key string) string {
	return "array(select row('" + queue.Task + "', '{\"number\": 1}', null, null, null, " + key + ", null, null)::" +
		queue.Schema +
		".job_spec from generate_series(1, 1000) as s (i))"
}
