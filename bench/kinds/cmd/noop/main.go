// Command noop works the jobs of a queue with a handler of pkg/shim that does nothing, until none is runnable: what
// bench/kinds measures gw-run against. Its argument is the URL of the database.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/pkg/shim"
)

func main() {
	if err := work(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func work(ctx context.Context, url string) error {
	pool, err := shim.Open(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	worker, err := shim.New(pool, shim.Config{Concurrency: 8, QuietSuccess: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	worker.Handle(queue.Task, func(context.Context, *shim.Job) error { return nil })
	return worker.RunOnce(ctx)
}
