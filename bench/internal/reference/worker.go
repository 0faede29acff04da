package reference

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/queue"
)

// A Worker claims and completes jobs with the statements of reference.sql, over one connection. It does not support
// queues.
type Worker struct {
	conn     *pgx.Conn
	id       string
	tasks    []int32
	parsed   statements
	claims   map[int]string // by batch size
	complete string
}

// NewWorker prepares a connection for running jobs.
func NewWorker(ctx context.Context, conn *pgx.Conn, id string) (*Worker, error) {
	parsed, err := parseStatements(referenceSQL)
	if err != nil {
		return nil, err
	}
	tasks, err := queue.TaskIDs(ctx, conn)
	if err != nil {
		return nil, err
	}
	complete, err := parsed.text("complete", 0)
	if err != nil {
		return nil, err
	}
	return &Worker{conn: conn, id: id, tasks: tasks, parsed: parsed, claims: map[int]string{}, complete: complete}, nil
}

// Claim claims up to n jobs.
func (w *Worker) Claim(ctx context.Context, n int) ([]queue.Job, error) {
	text, known := w.claims[n]
	if !known {
		var err error
		if text, err = w.parsed.text("claim", n); err != nil {
			return nil, err
		}
		w.claims[n] = text
	}
	rows, err := w.conn.Query(ctx, text, w.id, w.tasks)
	if err != nil {
		return nil, fmt.Errorf("claim jobs: %w", err)
	}
	return queue.ReadJobs(rows, n)
}

// Complete completes jobs. It returns an error if one of them no longer exists.
func (w *Worker) Complete(ctx context.Context, jobs []queue.Job) error {
	tag, err := w.conn.Exec(ctx, w.complete, queue.IDs(jobs))
	if err != nil {
		return fmt.Errorf("complete jobs: %w", err)
	}
	return queue.Missed(len(jobs), int(tag.RowsAffected()))
}
