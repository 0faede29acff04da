// Package queue contains what the contenders with Graphile Worker's tables share: ours, the reference and Node's
// Graphile Worker.
package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/pkg/migrate"
)

const (
	// Schema is the schema of their tables.
	Schema = "graphile_worker"

	// JobsTable, QueuesTable and TasksTable are their tables.
	JobsTable   = Schema + "._private_jobs"
	QueuesTable = Schema + "._private_job_queues"
	TasksTable  = Schema + "._private_tasks"

	// Template is the database with our schema from which others are copied.
	Template = "template_ours"

	// Task is the task of the benchmark's jobs.
	Task = "bench"

	// Keep is the statement that lets the history of the task be kept.
	Keep = "select " + Schema + ".keep_task('" + Task + "', '30 days')"
)

// Tasks are the tasks of claims.
var Tasks = []string{Task, "bench-too"}

// Install creates our template.
func Install(ctx context.Context, s *server.Server) error {
	if _, err := s.Exec(ctx, "create database "+Template); err != nil {
		return err
	}
	config, err := pgx.ParseConfig(s.URL(Template))
	if err != nil {
		return fmt.Errorf("install ours: %w", err)
	}
	migrator, err := migrate.New(config, migrate.Config{Schema: Schema})
	if err != nil {
		return fmt.Errorf("install ours: %w", err)
	}
	if _, err := migrator.Up(ctx); err != nil {
		return fmt.Errorf("install ours: %w", err)
	}
	return AddTasks(ctx, s, Template)
}

// AddTasks inserts the tasks of the benchmark in a database.
func AddTasks(ctx context.Context, s *server.Server, database string) (err error) {
	conn, err := s.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, "insert into "+TasksTable+" (identifier) select unnest($1::text[])", Tasks)
	if err != nil {
		return fmt.Errorf("name the tasks: %w", err)
	}
	return nil
}

// TaskIDs returns the ids of the tasks, for contenders that send ids.
func TaskIDs(ctx context.Context, conn *pgx.Conn) ([]int32, error) {
	rows, err := conn.Query(ctx, "select id from "+TasksTable+" where identifier = any ($1) order by id", Tasks)
	if err != nil {
		return nil, fmt.Errorf("look up the tasks: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		return nil, fmt.Errorf("look up the tasks: %w", err)
	}
	return found, nil
}

// ErrMissed is the error of an outcome that did not affect every job.
var ErrMissed = errors.New("some jobs did not exist")

// Missed returns the error of an outcome that affected got of want jobs, nil if it affected all of them.
func Missed(want, got int) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("complete jobs: %w: %d of %d", ErrMissed, got, want)
}

// Fill returns a statement that inserts n ready plain jobs of the last hours, one per millisecond.
func Fill(n int) string {
	return Insert(n, "run_at", "now() - interval '6 hours' + i * interval '1 ms'")
}

// Insert returns a statement that inserts n jobs with values for some columns, in which i counts from 1; the other
// columns get their defaults.
func Insert(n int, columns, values string) string { return InsertFor(Task, n, columns, values) }

// InsertFor is Insert for jobs of another task.
func InsertFor(task string, n int, columns, values string) string {
	return fmt.Sprintf("insert into %s (task_id, payload, %s) "+
		"select t.id, json_build_object('number', i), %s from %s as t, generate_series(1, %d) as s (i) where t.identifier = '%s'",
		JobsTable, columns, values, TasksTable, n, task)
}

// AddQueues returns a statement that adds n idle queues, queue-1 and so on.
func AddQueues(n int) string {
	return fmt.Sprintf("insert into %s (queue_name) select 'queue-' || i from generate_series(1, %d) as s (i)",
		QueuesTable, n)
}

// Add returns a statement that adds a job for each i of a range by add_jobs, so that the limits of its task apply.
// payload is an expression of i.
func Add(task, payload string, priority, from, to int) string {
	return fmt.Sprintf("select count(*) from %s.add_jobs(array(select row('%s', %s, null, null, null, null, %d, null)::%[1]s.job_spec "+
		"from generate_series(%[5]d, %[6]d) as i))", Schema, task, payload, priority, from, to)
}

// SetLimit returns a statement that sets a limit for a task.
func SetLimit(task, arguments string) string { return SetLimitOf([]string{task}, arguments) }

// SetLimitOf is SetLimit for several tasks.
func SetLimitOf(tasks []string, arguments string) string {
	return fmt.Sprintf("select from %s.set_limit('bench', tasks => '{%s}', %s)", Schema, strings.Join(tasks, ","),
		arguments)
}
