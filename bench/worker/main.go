// Command worker measures the worker of pkg/shim side by side with Node's Graphile Worker, with River and with
// hand-written SQL: each a process of its own, on the same private server in the same run. It writes a report in
// Markdown with charts. ../README.md describes what is measured and how.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
