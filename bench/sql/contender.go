package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const (
	// schema is where every contender keeps its tables.
	schema = "graphile_worker"

	// task is the one that the jobs of the benchmark are for.
	task = "bench"

	workerID = "bench-worker-1"
)

// tasks are those that the claims ask for.
var tasks = []string{task, "bench-too"}

// A contender is a way to work the tables.
type contender struct {
	name string

	// template is the database that its databases are copies of.
	template string

	// enqueue returns a statement that adds n ready jobs, numbered i, to the queues whose names queue, an expression of
	// i, says; null: to none.
	enqueue func(n int, queue string) string

	// work prepares a connection for working jobs.
	work func(ctx context.Context, conn *pgx.Conn) (worker, error)
}

// A worker claims and completes jobs over one connection, each in one statement or the few that the contender needs.
type worker interface {
	// claim claims up to n jobs that carry none of the forbidden flags.
	claim(ctx context.Context, n int, forbidden []string) ([]job, error)

	// complete reports jobs of a claim as done. It is an error if one of them was no longer there.
	complete(ctx context.Context, jobs []job) error
}

// taskIDs returns the ids of the tasks, for contenders that send those.
func taskIDs(ctx context.Context, conn *pgx.Conn) ([]int32, error) {
	rows, err := conn.Query(ctx, "select id from "+schema+"._private_tasks where identifier = any ($1) order by id", tasks)
	if err != nil {
		return nil, fmt.Errorf("look up the tasks: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		return nil, fmt.Errorf("look up the tasks: %w", err)
	}
	return found, nil
}

// errMissed is the error of a report that did not touch every job.
var errMissed = errors.New("not all jobs were there")

func missed(want, got int) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("complete jobs: %w: %d of %d", errMissed, got, want)
}

// callAddJobs is enqueue by the public functions, which Node's schema and ours have in common.
func callAddJobs(n int, queue string) string {
	if n == 1 {
		return fmt.Sprintf("select * from (values (1)) as s (i), %s.add_job('%s', json_build_object('number', i), %s)",
			schema, task, queue)
	}
	return fmt.Sprintf("select count(*) from %s.add_jobs(array(select "+
		"row('%s', json_build_object('number', i), %s, null, null, null, null, null)::%[1]s.job_spec "+
		"from generate_series(1, %[4]d) as s (i)))", schema, task, queue, n)
}
