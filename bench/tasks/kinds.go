package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/bench/internal/stats"
)

// kindConcurrency is the number of jobs that gw-run runs at once.
const kindConcurrency = 8

// kind is a way to serve the task.
type kind struct {
	name   string
	jobs   int
	budget float64               // minimum jobs per second of gw-run's processor time, 0 for none
	config func(b *bench) string // of the task, as YAML in one line; nil for a program with a handler that does nothing
	before []string              // statements to run first
	times  float64               // minimum jobs per second as a multiple of those of the kind before it, 0 for none
}

// kinds returns the kinds, which are measured one after the other. Each has as many jobs as run in a few seconds.
func kinds(url string) []kind {
	program := func(name string) func(*bench) string {
		return func(b *bench) string { return fmt.Sprintf("{%s: %q}", name, filepath.Join(b.programs, "echo")) }
	}
	return []kind{
		{name: "no-op, pkg/shim", jobs: 300_000},
		{name: "persistent", jobs: 60_000, budget: 10_000, config: program("persistent")},
		{name: "exec", jobs: 4_000, config: text("{exec: /bin/true}")},
		{name: "http", jobs: 40_000, budget: 5_000, config: text("{http: " + url + "}")},
	}
}

func text(config string) func(*bench) string { return func(*bench) string { return config } }

// functions returns the kinds of tasks in SQL.
func functions() []kind {
	before := []string{
		"create schema app",
		"create table app.written (number integer)",
		"create function app.noop(payload json) returns void language plpgsql as 'begin end'",
		"create function app.write(payload json) returns void language plpgsql as $$ begin " +
			"insert into app.written values ((payload ->> 'number')::integer); end $$",
		"create function app.write(payloads json[]) returns void language plpgsql as $$ begin " +
			"insert into app.written select (p ->> 'number')::integer from unnest(payloads) as p; end $$",
	}
	return []kind{
		{name: "no-op", jobs: 30_000, config: text("{sql: app.noop}"), before: before},
		{name: "writes a row", jobs: 30_000, config: text("{sql: app.write}"), before: before},
		{name: "the same, batch of 100", jobs: 300_000, times: 5, config: text("{sql: app.write, batch: 100}"),
			before: before},
	}
}

// kindsScenario runs gw-run on a full table with each kind.
func kindsScenario(ctx context.Context, b *bench) error {
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the body does not matter
	}))
	defer web.Close()
	return b.compare(ctx, kinds(web.URL))
}

// functionsScenario runs gw-run on a full table with each kind of task in SQL.
func functionsScenario(ctx context.Context, b *bench) error { return b.compare(ctx, functions()) }

// compare measures kinds in turns, and reports them.
func (b *bench) compare(ctx context.Context, all []kind) error {
	perCPU, speed := make([]stats.Series, len(all)), make([]stats.Series, len(all))
	order := make([]int, len(all))
	for i := range all {
		order[i] = i
	}
	for round := range b.Rounds {
		for _, i := range harness.Turns(round, order) {
			run, err := b.measure(ctx, all[i])
			if err != nil {
				return fmt.Errorf("%s: %w", all[i].name, err)
			}
			fmt.Fprintf(b.Progress, "round %d: %s: %.0f jobs for a second of processor time\n", round+1, all[i].name,
				run.perCPU)
			perCPU[i], speed[i] = append(perCPU[i], run.perCPU), append(speed[i], run.speed)
		}
	}
	b.Note("`gw-run --once --quiet -j %d`, which logs nothing of jobs that went well, works a table of jobs that are due. The "+
		"processor time is that of gw-run itself, its start and its end included, without what it starts; the speed is of the "+
		"whole, with all on this machine: server, gw-run, and what serves the task.", kindConcurrency)
	t := report.Table{{"kind", "jobs", "jobs for a second of gw-run's processor time", "of " + all[0].name, "jobs/s",
		"of " + all[0].name, "budget", "holds"}}
	for i, k := range all {
		budget, holds := "", ""
		switch {
		case k.budget > 0:
			budget, holds = fmt.Sprintf("at least %.0f", k.budget), perCPU[i].AtLeast(k.budget)
		case k.times > 0:
			budget, holds = fmt.Sprintf("at least %v times the jobs/s of the row above", k.times),
				speed[i].Over(speed[i-1]).AtLeast(k.times)
		}
		t.Add(k.name, fmt.Sprint(b.Scale(k.jobs)), perCPU[i].Number(), perCPU[i].Over(perCPU[0]).Ratio(),
			speed[i].Number(), speed[i].Over(speed[0]).Ratio(),
			budget, holds)
	}
	b.Table(t)
	return nil
}

// fill creates a database with jobs for a kind.
func (b *bench) fill(ctx context.Context, k kind) (*server.Database, error) {
	db, err := b.Copy(ctx, queue.Template)
	if err != nil {
		return nil, err
	}
	return db, db.Settle(ctx, append(k.before, queue.Fill(b.Scale(k.jobs)))...)
}
