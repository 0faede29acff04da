// Command kinds measures what a job costs gw-run by the kind of handler that serves it: jobs for each second of processor
// time of gw-run's own process. ../README.md says how.
package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"syscall"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// A bench is what the scenario works with: one server, the programs, and a server for HTTP.
type bench struct {
	*harness.Bench
	*programs
	url string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer receiver.Close()
	built, err := buildPrograms(ctx)
	if err != nil {
		_, _ = io.WriteString(stderr, err.Error()+"\n")
		return 1
	}
	defer built.remove()
	program := harness.Program[*bench]{
		Name:  "kinds",
		Title: "What a job costs gw-run, by kind of handler",
		Open: func(ctx context.Context, b *harness.Bench) (*bench, error) {
			return &bench{b, built, receiver.URL}, queue.Install(ctx, b.Server)
		},
		Scenarios: []harness.Scenario[*bench]{{Name: "cpu", Title: "Jobs for each second of processor time", Run: cpuScenario}},
	}
	return program.Run(ctx, args, stdout, stderr)
}
