package main

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/reference"
)

// byHand is the contender that uses hand-written statements on our tables. It does not support queues.
var byHand = contender{
	name:     "reference",
	template: ours.template,
	enqueue:  func(n int, _ string) string { return queue.Insert(n, "run_at", "now()") },
	work: func(ctx context.Context, conn *pgx.Conn) (worker, error) {
		w, err := reference.NewWorker(ctx, conn, workerID)
		return referenceWorker{w}, err
	},
}

type referenceWorker struct{ *reference.Worker }

func (w referenceWorker) claim(ctx context.Context, n int, forbidden []string) ([]queue.Job, error) {
	if forbidden != nil {
		return nil, errors.New("the reference knows no flags")
	}
	return w.Claim(ctx, n)
}

func (w referenceWorker) complete(ctx context.Context, jobs []queue.Job) error {
	return w.Complete(ctx, jobs)
}
