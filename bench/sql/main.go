// Command sql measures the SQL functions side by side with hand-written SQL and with Node's Graphile Worker, each on
// the same private server in the same run, and writes a report in Markdown. README.md describes what is measured and
// how.
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
