package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/queue"
)

// workerID is the name that contenders work by.
const workerID = "bench-worker-1"

// A contender is a way to work the tables.
type contender struct {
	name string

	// template is the database that its databases are copies of.
	template string

	// enqueue returns a statement that adds n ready jobs, numbered i, to the queues whose names inQueue, an expression
	// of i, says; null: to none.
	enqueue func(n int, inQueue string) string

	// work prepares a connection for working jobs.
	work func(ctx context.Context, conn *pgx.Conn) (worker, error)
}

// A worker claims and completes jobs over one connection, each in one statement or the few that the contender needs.
type worker interface {
	// claim claims up to n jobs that carry none of the forbidden flags.
	claim(ctx context.Context, n int, forbidden []string) ([]queue.Job, error)

	// complete reports jobs of a claim as done. It is an error if one of them was no longer there.
	complete(ctx context.Context, jobs []queue.Job) error
}

// callAddJobs is enqueue by the public functions, which Node's schema and ours have in common.
func callAddJobs(n int, inQueue string) string {
	if n == 1 {
		return fmt.Sprintf("select * from (values (1)) as s (i), %s.add_job('%s', json_build_object('number', i), %s)",
			queue.Schema, queue.Task, inQueue)
	}
	return fmt.Sprintf("select count(*) from %s.add_jobs(array(select "+
		"row('%s', json_build_object('number', i), %s, null, null, null, null, null)::%[1]s.job_spec "+
		"from generate_series(1, %[4]d) as s (i)))", queue.Schema, queue.Task, inQueue, n)
}
