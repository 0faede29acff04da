package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/queue"
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
