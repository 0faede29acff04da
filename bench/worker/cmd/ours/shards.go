package main

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/subject"
	"github.com/gwsql/gw/pkg/shim"
)

// workShards runs the jobs of several databases with one worker each, which share the job slots. The first one is at home; the others
// poll, as those of gw-run do. The ids of the jobs of each database begin at 1, those of the order continue.
func workShards(ctx context.Context, s *subject.Subject, others []any, config shim.Config) error {
	config.Slots, config.Concurrency = shim.NewSlots(s.Concurrency), 0
	visitors, _ := s.Settings["visitors"].(bool)
	perShard := int64(s.Jobs / (1 + len(others)))
	problems := make([]error, 1+len(others))
	var running sync.WaitGroup
	for i, url := range append([]any{s.URL}, others...) {
		config.PollOnly, config.Visitor = i > 0, i > 0 && visitors
		pool, err := pgxpool.New(ctx, url.(string))
		if err != nil {
			return err
		}
		defer pool.Close()
		worker, err := shim.New(pool, config)
		if err != nil {
			return err
		}
		worker.Handle(queue.Task, func(_ context.Context, job *shim.Job) error {
			return s.Execute(int64(i)*perShard+job.ID, job.Attempts)
		})
		running.Go(func() { problems[i] = worker.Run(ctx) })
	}
	running.Wait()
	return errors.Join(problems...)
}
