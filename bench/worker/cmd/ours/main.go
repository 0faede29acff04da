// Command ours is the worker of pkg/shim as a process that bench/worker measures: with all defaults except the
// concurrency, a logger that discards its output, and in some contenders QueueBatch.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5"
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
	config := shim.Config{Concurrency: s.Concurrency, Logger: slog.New(slog.DiscardHandler)}
	if n, ok := s.Settings["queueBatch"].(float64); ok {
		config.QueueBatch = int(n)
	}
	worker, err := shim.New(pool, config)
	if err != nil {
		return err
	}
	if s.GivenTx && s.Most > 0 {
		worker.HandleManyTx(queue.Task, s.Most, func(ctx context.Context, tx pgx.Tx, jobs []*shim.Job) error {
			for _, job := range jobs {
				if err := s.Execute(job.ID, job.Attempts); err != nil {
					return err
				}
			}
			return writeMany(ctx, tx, jobs)
		})
		return run(ctx, s, worker)
	}
	if s.GivenTx {
		worker.HandleTx(queue.Task, func(ctx context.Context, tx pgx.Tx, job *shim.Job) error {
			if err := s.Execute(job.ID, job.Attempts); err != nil || !s.Writes {
				return err
			}
			return write(ctx, tx, job)
		})
		return run(ctx, s, worker)
	}
	worker.Handle(queue.Task, func(ctx context.Context, job *shim.Job) error {
		if err := s.Execute(job.ID, job.Attempts); err != nil || s.Steps == 0 && !s.Writes {
			return err
		}
		if s.Writes {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
				return errors.Join(write(ctx, tx, job),
					job.CompleteTx(ctx, tx))
			})
		}
		return steps(ctx, pool, s, job)
	})
	return run(ctx, s, worker)
}

func run(ctx context.Context, s *subject.Subject, worker *shim.Worker) error {
	if s.Do == subject.Once {
		return worker.RunOnce(ctx)
	}
	return worker.Run(ctx)
}

// write inserts the row of a job.
func write(ctx context.Context, tx pgx.Tx, job *shim.Job) error {
	_, err := tx.Exec(ctx, `insert into written values ($1)`, job.ID)
	return err
}

// writeMany inserts the rows of jobs.
func writeMany(ctx context.Context, tx pgx.Tx, jobs []*shim.Job) error {
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	_, err := tx.Exec(ctx, `insert into written select unnest($1::bigint[])`, ids)
	return err
}

// steps runs the steps of a job, each of which returns its number.
func steps(ctx context.Context, pool *pgxpool.Pool, s *subject.Subject, job *shim.Job) error {
	if s.InTx {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			for i := range s.Steps {
				_, err := shim.StepTx(ctx, job, tx, strconv.Itoa(i), func(context.Context) (int, error) {
					return i,
						nil
				})
				if err != nil {
					return err
				}
			}
			return job.CompleteTx(ctx, tx)
		})
	}
	for i := range s.Steps {
		if _, err := shim.Step(ctx, job, strconv.Itoa(i), func(context.Context) (int, error) {
			return i,
				nil
		}); err != nil {
			return err
		}
	}
	return nil
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
			var options *shim.AddOptions
			if name, ok := s.Settings["queueName"].(string); ok {
				options = &shim.AddOptions{QueueName: name}
			}
			job, err := client.Add(ctx, queue.Task, payload{1}, options)
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
