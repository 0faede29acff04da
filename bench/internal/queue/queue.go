// Package queue has what the contenders share that work the same tables: ours, the reference and Node's Graphile Worker.
package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/pkg/migrate"
)

const (
	// Schema is where they keep their tables.
	Schema = "graphile_worker"

	// JobsTable, QueuesTable and TasksTable are their tables.
	JobsTable   = Schema + "._private_jobs"
	QueuesTable = Schema + "._private_job_queues"
	TasksTable  = Schema + "._private_tasks"

	// Template is the database with our schema that others are copies of.
	Template = "template_ours"

	// Task is the one that the jobs of the benchmark are for.
	Task = "bench"
)

// Tasks are those that the claims ask for.
var Tasks = []string{Task, "bench-too"}

// Install makes our template.
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

// AddTasks names the tasks of the benchmark in a database.
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

// TaskIDs returns the ids of the tasks, for contenders that send those.
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

// ErrMissed is the error of a report that did not touch every job.
var ErrMissed = errors.New("not all jobs were there")

// Missed is the error of a report that touched so many of the jobs, nil if it was all of them.
func Missed(want, got int) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("complete jobs: %w: %d of %d", ErrMissed, got, want)
}
