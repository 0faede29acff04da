package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/bench/internal/stats"
)

// kind is a way to serve the task.
type kind struct {
	name   string
	config string // of the task in gw-run's config file, URL standing for the HTTP server's; empty for pkg/shim alone
	jobs   int

	leastRate  float64 // jobs for each second of processor time
	leastShare float64 // likewise, as a part of what a handler of pkg/shim does that does nothing
}

var kinds = []kind{
	{name: "no-op, pkg/shim", jobs: 300_000},
	{name: "http", config: "http: URL", jobs: 30_000, leastRate: 5000},
	{name: "sql", config: "sql: public.work", jobs: 60_000, leastShare: 0.2},
	{name: "sql, batch 64", config: "sql: public.work\n    batch: 64", jobs: 150_000, leastShare: 0.5},
}

// function is what the tasks in SQL call. It does nothing, for nothing of the server's time counts here.
const function = `create function public.work(payload json) returns void language plpgsql as 'begin end'`

// measured is what was found of a kind, round by round.
type measured struct{ rate, speed stats.Series }

func cpuScenario(ctx context.Context, b *bench) error {
	found := make(map[string]*measured)
	for round := range b.Rounds {
		for _, k := range harness.Turns(round, kinds) {
			rate, speed, err := b.measure(ctx, k)
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			fmt.Fprintf(b.Progress, "round %d: %s: %.0f jobs a CPU second, %.0f jobs/s\n", round+1, k.name, rate, speed)
			if found[k.name] == nil {
				found[k.name] = &measured{}
			}
			found[k.name].rate = append(found[k.name].rate, rate)
			found[k.name].speed = append(found[k.name].speed, speed)
		}
	}
	b.Note("Ready jobs, 8 at once over 8 connections, by a process that ends when none is left; the processor time is all that " +
		"it has used, start and stop included. The HTTP server is another process, on loopback.")
	t := report.Table{{"served by", "jobs", "jobs a CPU second", "of no-op", "budget", "holds", "jobs/s"}}
	noop := found[kinds[0].name].rate
	for _, k := range kinds {
		f := found[k.name]
		share, budget, holds := f.rate.Over(noop), "", ""
		switch {
		case k.leastRate > 0:
			budget, holds = fmt.Sprintf("at least %.0f", k.leastRate), f.rate.AtLeast(k.leastRate)
		case k.leastShare > 0:
			budget, holds = fmt.Sprintf("at least %v of no-op", k.leastShare), share.AtLeast(k.leastShare)
		}
		t.Add(k.name, fmt.Sprint(b.Scale(k.jobs)), f.rate.Number(), share.Ratio(), budget, holds, f.speed.Number())
	}
	b.Table(t)
	return nil
}

// measure lets a kind work its jobs in a fresh database.
func (b *bench) measure(ctx context.Context, k kind) (rate, speed float64, err error) {
	db, err := b.Copy(ctx, queue.Template)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	jobs := b.Scale(k.jobs)
	if err := db.Settle(ctx, function, queue.Fill(jobs)); err != nil {
		return 0, 0, err
	}
	cmd, err := b.command(ctx, k, db)
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	output, err := cmd.CombinedOutput()
	took := time.Since(start)
	if err != nil {
		return 0, 0, fmt.Errorf("run %s: %w\n%s", cmd.Path, err, output)
	}
	var left int
	if err := db.Admin.QueryRow(ctx, "select count(*) from "+queue.JobsTable).Scan(&left); err != nil || left > 0 {
		return 0, 0, fmt.Errorf("%d jobs are left: %w\n%s", left, err, output)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return float64(jobs) / used.Seconds(), float64(jobs) / took.Seconds(), nil
}

func (b *bench) command(ctx context.Context, k kind, db *server.Database) (*exec.Cmd, error) {
	if k.config == "" {
		return exec.CommandContext(ctx, b.path("noop"), db.URL()), nil
	}
	text := "tasks:\n  " + queue.Task + ":\n    " + strings.ReplaceAll(k.config, "URL", b.url) + "\n"
	if err := os.WriteFile(b.path("gw.yaml"), []byte(text), 0o644); err != nil {
		return nil, fmt.Errorf("write the config file: %w", err)
	}
	cmd := exec.CommandContext(ctx, b.path("gw-run"), "--connection", db.URL(), "--config", b.path("gw.yaml"), "--once",
		"--jobs", "8", "--max-pool-size", "8", "--quiet", "--log-level", "error")
	cmd.Dir = b.dir
	return cmd, nil
}
