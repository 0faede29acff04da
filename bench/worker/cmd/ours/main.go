// Command ours is the worker of pkg/shim as a process that bench/worker measures: with all defaults except the concurrency and a
// logger that discards its output.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/subject"
	"github.com/gwsql/gw/pkg/shim"
)

func main() {
	program := subject.Program{Version: "this one", Work: work, Add: add}
	os.Exit(program.Main(os.Args[1:], os.Stdin, os.Stdout))
}

func work(ctx context.Context, s *subject.Subject) error {
	pool, err := pgxpool.New(ctx, s.URL)
	if err != nil {
		return err
	}
	defer pool.Close()
	worker, err := shim.New(pool, shim.Config{Concurrency: s.Concurrency, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	worker.Handle(queue.Task, func(_ context.Context, job *shim.Job) error { return s.Execute(job.ID, job.Attempts) })
	if s.Do == subject.Once {
		return worker.RunOnce(ctx)
	}
	return worker.Run(ctx)
}

func add(ctx context.Context, s *subject.Subject) (func(int) (int64, error), error) {
	pool, err := pgxpool.New(ctx, s.URL)
	if err != nil {
		return nil, err
	}
	client := shim.NewClient(pool, shim.ClientConfig{})
	type payload struct {
		Number int `json:"number"`
	}
	return func(n int) (int64, error) {
		if n == 1 {
			job, err := client.Add(ctx, queue.Task, payload{1}, nil)
			if err != nil {
				return 0, err
			}
			return job.ID, nil
		}
		specs := make([]shim.JobSpec, n)
		for i := range specs {
			specs[i] = shim.JobSpec{Task: queue.Task, Payload: payload{i}}
		}
		jobs, err := client.AddMany(ctx, specs)
		if err != nil {
			return 0, err
		}
		return jobs[0].ID, nil
	}, nil
}
