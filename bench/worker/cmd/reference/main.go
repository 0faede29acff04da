// Command reference runs jobs with the statements of reference.sql, as a process that bench/worker measures.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/reference"
	"github.com/gwsql/gw/bench/internal/subject"
)

// batch is the number of jobs that are claimed and completed at once.
const batch = 500

func main() {
	program := subject.Program{Version: "by hand", Work: work, Add: add}
	os.Exit(program.Main(os.Args[1:], os.Stdin, os.Stdout))
}

func work(ctx context.Context, s *subject.Subject) error {
	if s.TellStarts {
		return hear(ctx, s)
	}
	working := context.WithoutCancel(ctx) // it ends when no job is left
	errs := make([]error, s.Concurrency)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { errs[i] = drain(working, s, fmt.Sprintf("reference-%d", i)) })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// drain runs jobs over one connection until none is left.
func drain(ctx context.Context, s *subject.Subject, id string) error {
	conn, err := pgx.Connect(ctx, s.URL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	w, err := reference.NewWorker(ctx, conn, id)
	if err != nil {
		return err
	}
	for {
		jobs, err := w.Claim(ctx, batch)
		if err != nil || len(jobs) == 0 {
			return err
		}
		for _, job := range jobs {
			if err := s.Execute(job.ID, 1); err != nil {
				return err
			}
		}
		if err := w.Complete(ctx, jobs); err != nil {
			return err
		}
	}
}
