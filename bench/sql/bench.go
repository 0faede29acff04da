// Command sql measures the SQL functions side by side with hand-written SQL and with Node's Graphile Worker, each on
// the same private server in the same run, and writes a report in Markdown. README.md describes what is measured and
// how.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/nodejs"
	"github.com/gwsql/gw/bench/internal/queue"
)

// scenarios are all scenarios, in the order of the report.
var scenarios = []harness.Scenario[*bench]{
	{Name: "claim", Title: "Claim and complete", Run: claimScenario},
	{Name: "claimers", Title: "Many claimers", Run: claimersScenario},
	{Name: "ugly", Title: "Claims from ugly tables", Run: uglyScenario},
	{Name: "limits", Title: "Claims beside limits", Run: limitsScenario},
	{Name: "held", Title: "Work beside a held snapshot", Run: heldScenario},
	{Name: "burst", Title: "A burst into an empty queue", Run: burstScenario},
	{Name: "serial", Title: "Named queues", Run: serialScenario},
	{Name: "enqueue", Title: "Enqueue from one client", Run: enqueueScenario},
	{Name: "clients", Title: "Enqueue from many clients", Run: clientsScenario},
	{Name: "wal", Title: "WAL of a job", Run: walScenario},
	{Name: "indexes", Title: "The price of each index", Run: indexesScenario},
	{Name: "history", Title: "The history of a kept task", Run: historyScenario},
}

// A bench is the environment of a scenario: one server and its contenders.
type bench struct {
	*harness.Bench
	node contender // has no name if it is left out
}

// contenders returns the contenders that a scenario compares, without Node if it is left out.
func (b *bench) contenders(wanted ...contender) []contender {
	if b.node.name != "" {
		wanted = append(wanted, b.node)
	}
	return wanted
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	program := harness.Program[*bench]{
		Name: "sql", Title: "SQL benchmark", Open: open, Scenarios: scenarios,
		// The comparison is about statements, not about the disk or about the first change of a page after a
		// checkpoint.
		Settings: map[string]string{"synchronous_commit": "off", "full_page_writes": "off"},
	}
	return program.Run(ctx, args, stdout, stderr)
}

// open creates the contenders' templates.
func open(ctx context.Context, h *harness.Bench) (*bench, error) {
	b := &bench{Bench: h}
	if err := queue.Install(ctx, b.Server); err != nil {
		return nil, err
	}
	if !b.Node {
		return b, nil
	}
	if err := nodejs.Install(ctx, b.Server); err != nil {
		return nil, err
	}
	recorded, err := recordNode(ctx, b)
	if err != nil {
		return nil, err
	}
	b.node = node(recorded)
	return b, nil
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
