package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/queue"
)

// ours is the contender that uses the public functions of the schema.
var ours = contender{
	name:     "ours",
	template: queue.Template,
	enqueue:  callAddJobs,
	work:     func(_ context.Context, conn *pgx.Conn) (worker, error) { return ourWorker{conn}, nil },
}

type ourWorker struct{ conn *pgx.Conn }

func (w ourWorker) claim(ctx context.Context, n int, forbidden []string) ([]queue.Job, error) {
	var rows pgx.Rows
	var err error
	if forbidden == nil {
		rows, err = w.conn.Query(ctx, "select * from "+queue.Schema+".get_job_batch($1::text, $2::text[], $3::integer)",
			workerID, queue.Tasks, n)
	} else {
		rows, err = w.conn.Query(ctx, "select * from "+queue.Schema+".get_job_batch($1::text, $2::text[], $3::integer, $4::text[])",
			workerID, queue.Tasks, n, forbidden)
	}
	if err != nil {
		return nil, fmt.Errorf("claim jobs: %w", err)
	}
	return queue.ReadJobs(rows, n)
}

func (w ourWorker) complete(ctx context.Context, jobs []queue.Job) error {
	leases := make([]int64, len(jobs))
	for i, j := range jobs {
		leases[i] = j.Lease
	}
	rows, err := w.conn.Query(ctx, "select * from "+queue.Schema+".complete_job_batch($1::text, $2::bigint[], $3::bigint[])",
		workerID, queue.IDs(jobs), leases)
	if err != nil {
		return fmt.Errorf("complete jobs: %w", err)
	}
	completed, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("complete jobs: %w", err)
	}
	return queue.Missed(len(jobs), len(completed))
}
