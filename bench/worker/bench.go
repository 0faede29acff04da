// Command worker measures the worker of pkg/shim side by side with Node's Graphile Worker, with River and with
// hand-written SQL: each a process of its own, on the same private server in the same run. It writes a report in
// Markdown with charts. ../README.md describes what is measured and how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/nodejs"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
)

// scenarios are all scenarios, in the order of the report.
var scenarios = []harness.Scenario[*bench]{
	{Name: "burndown", Title: "Burn-down of no-op jobs", Run: burndownScenario},
	{Name: "async", Title: "Burn-down with synchronous_commit off", Run: asyncScenario},
	{Name: "fleet", Title: "Many processes on one queue", Run: fleetScenario},
	{Name: "sleep", Title: "Jobs that sleep", Run: sleepScenario},
	{Name: "latency", Title: "Latency of single jobs on an idle worker", Run: latencyScenario},
	{Name: "burstlatency", Title: "Latency of single jobs right after a burst", Run: burstLatencyScenario},
	{Name: "lateness", Title: "Lateness of scheduled jobs", Run: latenessScenario},
	{Name: "queues", Title: "Named queues", Run: queuesScenario},
	{Name: "queuelatency", Title: "Latency of single jobs in a named queue", Run: queueLatencyScenario},
	{Name: "failures", Title: "Failures with retries", Run: failuresScenario},
	{Name: "limits", Title: "Jobs of limits", Run: limitsScenario},
	{Name: "openings", Title: "Jobs that limits hold back", Run: openingsScenario},
	{Name: "kept", Title: "Burn-down of jobs of a kept task", Run: keptScenario},
	{Name: "tx", Title: "Handlers that are given the transaction", Run: txScenario},
	{Name: "steps", Title: "Jobs of steps", Run: stepsScenario},
	{Name: "enqueue", Title: "Adding jobs", Run: enqueueScenario},
	{Name: "memory", Title: "Memory over many jobs", Run: memoryScenario},
	{Name: "perf", Title: "Graphile Worker's own test", Run: perfScenario},
}

// A bench is the environment of a scenario: one server and the programs of the contenders.
type bench struct {
	*harness.Bench
	*outcome
	programs *programs
	river    bool
}

// outcome is the results of a run that are reported after all servers were measured.
type outcome struct {
	goals  []goal
	tables []measured
	charts []chart
}

// bar adds a bar to the chart of a file, and the chart if it is its first one.
func (o *outcome) bar(file, title string, b bar) {
	i := slices.IndexFunc(o.charts, func(c chart) bool { return c.file == file })
	if i < 0 {
		i = len(o.charts)
		o.charts = append(o.charts, chart{file: file, title: title})
	}
	o.charts[i].bars = append(o.charts[i].bars, b)
}

// close writes the summary and the tables, and the charts if there is a folder for them.
func (o *outcome) close(r *report.Report, options harness.Options, folder string) error {
	for _, c := range o.charts {
		if folder == "" {
			break
		}
		file := filepath.Join(folder, c.file)
		if err := os.WriteFile(file, []byte(c.draw()), 0o644); err != nil {
			return fmt.Errorf("write a chart: %w", err)
		}
		link, err := relative(options.Report, file)
		if err != nil {
			return fmt.Errorf("refer to a chart: %w", err)
		}
		r.Note("![%s](%s)", c.title, filepath.ToSlash(link))
	}
	if len(o.goals) > 0 {
		r.Heading(2, "Summary")
		r.Note("What misses its goal is bold.")
		r.Table(o.summary())
	}
	for _, scenario := range byTitle(o.tables) {
		r.Heading(2, scenario[0].title)
		r.Table(sideBySide(scenario))
	}
	return nil
}

// relative returns the path of a file relative to another file.
func relative(from, to string) (string, error) {
	from, fromErr := filepath.Abs(from)
	to, toErr := filepath.Abs(to)
	if err := errors.Join(fromErr, toErr); err != nil {
		return "", err
	}
	return filepath.Rel(filepath.Dir(from), to)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	var total outcome
	var charts string
	withRiver := true
	program := harness.Program[*bench]{
		Name:  "worker",
		Title: "Worker benchmark",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&charts, "charts", "", "write charts into this folder, as SVG")
			flags.BoolVar(&withRiver, "river", true, "measure River, too")
		},
		Scenarios: scenarios,
		Close:     func(r *report.Report, o harness.Options) error { return total.close(r, o, charts) },
	}
	var built *programs
	program.Open = func(ctx context.Context, h *harness.Bench) (*bench, error) {
		if built == nil {
			var err error
			if built, err = buildPrograms(ctx); err != nil {
				return nil, err
			}
		}
		b := &bench{Bench: h, outcome: &total, programs: built, river: withRiver}
		return b, b.install(ctx)
	}
	defer func() {
		if built != nil {
			if err := built.remove(); err != nil {
				fmt.Fprintln(stderr, err)
				code = 1
			}
		}
	}()
	return program.Run(ctx, args, stdout, stderr)
}

// install creates the templates of the measured contenders.
func (b *bench) install(ctx context.Context) error {
	err := queue.Install(ctx, b.Server)
	if b.Node {
		err = errors.Join(err, nodejs.Install(ctx, b.Server))
	}
	if b.river {
		err = errors.Join(err, installRiver(ctx, b.Server))
	}
	return err
}

// among returns the contenders without those that are not measured.
func (b *bench) among(all ...contender) []contender {
	var wanted []contender
	for _, c := range all {
		if (c.family != &nodeFamily || b.Node) && (c.family != &riverFamily || b.river) {
			wanted = append(wanted, c)
		}
	}
	return wanted
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
