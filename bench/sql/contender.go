package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/reference"
)

// workerID is the worker id of contenders.
const workerID = "bench-worker-1"

// A contender is a way to run the jobs in the tables.
type contender struct {
	name string

	// template is the database from which its databases are copied.
	template string

	// enqueue returns a statement that adds n ready jobs, numbered i. inQueue is an expression of i for the name of the
	// queue, null for none.
	enqueue func(n int, inQueue string) string

	// work prepares a connection for running jobs.
	work func(ctx context.Context, conn *pgx.Conn) (worker, error)
}

// A worker claims and completes jobs over one connection, each in one statement or in the few that the contender needs.
type worker interface {
	// claim claims up to n jobs without any of the forbidden flags.
	claim(ctx context.Context, n int, forbidden []string) ([]queue.Job, error)

	// complete completes jobs of a claim. It returns an error if one of them no longer exists.
	complete(ctx context.Context, jobs []queue.Job) error
}

// callAddJobs implements enqueue with the public functions, which Node's schema and ours have in common.
func callAddJobs(n int, inQueue string) string {
	if n == 1 {
		return fmt.Sprintf("select * from (values (1)) as s (i), %s.add_job('%s', json_build_object('number', i), %s)",
			queue.Schema, queue.Task, inQueue)
	}
	return fmt.Sprintf("select count(*) from %s.add_jobs(array(select "+
		"row('%s', json_build_object('number', i), %s, null, null, null, null, null)::%[1]s.job_spec "+
		"from generate_series(1, %[4]d) as s (i)))", queue.Schema, queue.Task, inQueue, n)
}

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
