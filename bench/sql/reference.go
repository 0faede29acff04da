package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// reference works our tables by the statements of reference.sql. It knows no queues.
var reference = contender{
	name:     "reference",
	template: ours.template,
	enqueue:  func(n int, _ string) string { return insert(n, "run_at", "now()") },
	work:     newReferenceWorker,
}

func newReferenceWorker(ctx context.Context, conn *pgx.Conn) (worker, error) {
	parsed, err := parseStatements(referenceSQL)
	if err != nil {
		return nil, err
	}
	known, err := taskIDs(ctx, conn)
	if err != nil {
		return nil, err
	}
	complete, err := parsed.text("complete", 0)
	if err != nil {
		return nil, err
	}
	return &referenceWorker{conn: conn, tasks: known, parsed: parsed, claims: map[int]string{}, completeSQL: complete}, nil
}

type referenceWorker struct {
	conn        *pgx.Conn
	tasks       []int32
	parsed      statements
	claims      map[int]string // by batch size
	completeSQL string
}

func (w *referenceWorker) claim(ctx context.Context, n int, forbidden []string) ([]job, error) {
	if forbidden != nil {
		return nil, fmt.Errorf("the reference knows no flags")
	}
	text, known := w.claims[n]
	if !known {
		var err error
		if text, err = w.parsed.text("claim", n); err != nil {
			return nil, err
		}
		w.claims[n] = text
	}
	rows, err := w.conn.Query(ctx, text, workerID, w.tasks)
	if err != nil {
		return nil, fmt.Errorf("claim jobs: %w", err)
	}
	return readJobs(rows, n)
}

func (w *referenceWorker) complete(ctx context.Context, jobs []job) error {
	tag, err := w.conn.Exec(ctx, w.completeSQL, ids(jobs))
	if err != nil {
		return fmt.Errorf("complete jobs: %w", err)
	}
	return missed(len(jobs), int(tag.RowsAffected()))
}
