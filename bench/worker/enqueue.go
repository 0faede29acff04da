package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/stats"
	"github.com/gwsql/gw/bench/internal/subject"
)

// enqueueCases are numbers of jobs in total and per call.
var enqueueCases = []struct{ jobs, call int }{{10_000, 1}, {200_000, 1000}}

// enqueueScenario adds jobs with the client of each contender.
func enqueueScenario(ctx context.Context, b *bench) error {
	all := b.among(ours, nodeDefaults, riverDefaults)
	names := map[*family]string{&oursFamily: "gw", &nodeFamily: "graphile-worker", &riverFamily: "River"}
	b.Note("Jobs are added by the contender's own client in another process, one call after the other, to an empty table.")
	t := report.Table{{"jobs a call", "contender", "jobs/s", "gw / contender"}}
	for _, e := range enqueueCases {
		speed := map[string]stats.Series{}
		for round := range b.Rounds {
			for _, c := range harness.Turns(round, all) {
				one, err := b.measureEnqueue(ctx, c, b.Scale(e.jobs), e.call)
				if err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				fmt.Fprintf(b.Progress, "round %d: %s, %d a call: %.0f jobs/s\n", round+1, names[c.family], e.call, one)
				speed[c.name] = append(speed[c.name], one)
			}
		}
		for _, c := range all {
			t.Add(fmt.Sprint(e.call), names[c.family], speed[c.name].Number(),
				speed[ours.name].Over(speed[c.name]).Ratio())
		}
	}
	b.Table(t)
	return nil
}

// measureEnqueue returns jobs per second.
func (b *bench) measureEnqueue(ctx context.Context, c contender, jobs, call int) (speed float64, err error) {
	db, err := b.Copy(ctx, c.family.template)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	if err := db.Settle(ctx); err != nil {
		return 0, err
	}
	p, err := startProcess(ctx, c.family, b.programs, subject.Order{URL: db.URL(), Do: subject.Add})
	if err != nil {
		return 0, err
	}
	defer p.kill()
	if err := p.tell("go"); err != nil {
		return 0, err
	}
	warmUp := 10 * call
	if _, err := p.add(ctx, warmUp, call); err != nil {
		return 0, err
	}
	added, err := p.add(ctx, jobs, call)
	if err != nil {
		return 0, err
	}
	if err := p.stop(ctx); err != nil {
		return 0, err
	}
	var there int
	if err := db.Admin.QueryRow(ctx, c.family.tables.left).Scan(&there); err != nil {
		return 0, fmt.Errorf("count the jobs: %w", err)
	}
	if there != jobs+warmUp {
		return 0, fmt.Errorf("of %d jobs %d were added", jobs+warmUp, there)
	}
	return float64(jobs) / (float64(added.End-added.Begin) / 1e9), nil
}
