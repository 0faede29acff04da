// Command river is a River client as a process that bench/worker measures.
package main

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/subject"
)

func main() {
	program := subject.Program{Version: version(), Work: work, Add: add}
	os.Exit(program.Main(os.Args[1:], os.Stdin, os.Stdout))
}

// version returns the version of River that was linked.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/riverqueue/river" {
			return module.Version
		}
	}
	return "unknown"
}

type job struct {
	Number int `json:"number"`
}

func (job) Kind() string { return queue.Task }

type worker struct {
	river.WorkerDefaults[job]
	subject *subject.Subject
}

func (w *worker) Work(_ context.Context, j *river.Job[job]) error {
	return w.subject.Execute(j.ID, j.Attempt)
}

func newClient(ctx context.Context, s *subject.Subject, config *river.Config) (*river.Client[pgx.Tx], error) {
	pool, err := pgxpool.New(ctx, s.URL)
	if err != nil {
		return nil, err
	}
	config.Logger = slog.New(slog.DiscardHandler)
	return river.NewClient(riverpgxv5.New(pool), config)
}

func work(ctx context.Context, s *subject.Subject) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{subject: s})
	background := context.WithoutCancel(ctx)
	client, err := newClient(background, s, &river.Config{
		Workers:           workers,
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: s.Concurrency}},
		FetchCooldown:     millis(s.Settings["fetchCooldownMillis"]),
		FetchPollInterval: millis(s.Settings["fetchPollIntervalMillis"]),
	})
	if err != nil {
		return err
	}
	if err := client.Start(background); err != nil {
		return err
	}
	<-ctx.Done()
	return client.Stop(background)
}

// millis returns a number of milliseconds as a duration; without one 0, for which River uses its default.
func millis(setting any) time.Duration {
	number, _ := setting.(float64)
	return time.Duration(number) * time.Millisecond
}

func add(ctx context.Context, s *subject.Subject) (func(int) (int64, error), error) {
	client, err := newClient(ctx, s, &river.Config{})
	if err != nil {
		return nil, err
	}
	return func(n int) (int64, error) {
		if n == 1 {
			added, err := client.Insert(ctx, job{1}, nil)
			if err != nil {
				return 0, err
			}
			return added.Job.ID, nil
		}
		params := make([]river.InsertManyParams, n)
		for i := range params {
			params[i] = river.InsertManyParams{Args: job{i}}
		}
		_, err := client.InsertManyFast(ctx, params)
		return 0, err
	}, nil
}
