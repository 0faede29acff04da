// Command noop runs the jobs of a queue with a handler of pkg/shim that does nothing, until none is runnable.
// bench/tasks compares gw-run with it. Its arguments are the URL of the database and the number of jobs to run at once.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"

	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/pkg/shim"
)

func main() {
	concurrency, err := strconv.Atoi(os.Args[2])
	if err == nil {
		err = work(context.Background(), os.Args[1], concurrency)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func work(ctx context.Context, url string, concurrency int) error {
	pool, err := shim.Open(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	worker, err := shim.New(pool, shim.Config{Concurrency: concurrency, QuietSuccess: true,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	worker.Handle(queue.Task, func(context.Context, *shim.Job) error { return nil })
	return worker.RunOnce(ctx)
}
