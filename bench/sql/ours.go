package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/migrate"
)

// ours works by the public functions of the schema.
var ours = contender{
	name:     "ours",
	template: "template_ours",
	enqueue:  callAddJobs,
	work:     func(_ context.Context, conn *pgx.Conn) (worker, error) { return ourWorker{conn}, nil },
}

type ourWorker struct{ conn *pgx.Conn }

func (w ourWorker) claim(ctx context.Context, n int, forbidden []string) ([]job, error) {
	var rows pgx.Rows
	var err error
	if forbidden == nil {
		rows, err = w.conn.Query(ctx, "select * from "+schema+".get_job_batch($1::text, $2::text[], $3::integer)",
			workerID, tasks, n)
	} else {
		rows, err = w.conn.Query(ctx, "select * from "+schema+".get_job_batch($1::text, $2::text[], $3::integer, $4::text[])",
			workerID, tasks, n, forbidden)
	}
	if err != nil {
		return nil, fmt.Errorf("claim jobs: %w", err)
	}
	return readJobs(rows, n)
}

func (w ourWorker) complete(ctx context.Context, jobs []job) error {
	leases := make([]int64, len(jobs))
	for i, j := range jobs {
		leases[i] = j.lease
	}
	rows, err := w.conn.Query(ctx, "select * from "+schema+".complete_job_batch($1::text, $2::bigint[], $3::bigint[])",
		workerID, ids(jobs), leases)
	if err != nil {
		return fmt.Errorf("complete jobs: %w", err)
	}
	completed, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("complete jobs: %w", err)
	}
	return missed(len(jobs), len(completed))
}

// installOurs makes the template of our databases.
func installOurs(ctx context.Context, s *server) error {
	if _, err := s.exec(ctx, "create database "+ours.template); err != nil {
		return err
	}
	config, err := pgx.ParseConfig(s.url(ours.template))
	if err != nil {
		return fmt.Errorf("install ours: %w", err)
	}
	migrator, err := migrate.New(config, migrate.Config{Schema: schema})
	if err != nil {
		return fmt.Errorf("install ours: %w", err)
	}
	if _, err := migrator.Up(ctx); err != nil {
		return fmt.Errorf("install ours: %w", err)
	}
	return s.addTasks(ctx, ours.template)
}
