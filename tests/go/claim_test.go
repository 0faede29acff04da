package gotest

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// claimedJob is a row of get_job_batch.
type claimedJob struct {
	ID       int64
	Payload  string
	Queue    string
	Attempts int16
	Lease    int64
	Revision int32
	Early    bool
}

// claim calls get_job_batch; it can be used in any goroutine.
func claim(ctx context.Context, conn *pgx.Conn, worker string, batchSize int) ([]claimedJob, error) {
	rows, err := conn.Query(ctx, `
		select b.id, b.payload::text as payload, coalesce(b.queue_name, '') as queue, b.attempts, b.lease, b.revision,
		       b.run_at > now() as early
		  from graphile_worker.get_job_batch($1, batch_size => $2) as b`, worker, batchSize)
	if err != nil {
		return nil, fmt.Errorf("claim jobs: %w", err)
	}
	jobs, err := pgx.CollectRows(rows, pgx.RowToStructByName[claimedJob])
	if err != nil {
		return nil, fmt.Errorf("claim jobs: %w", err)
	}
	return jobs, nil
}

// claim claims up to batchSize jobs.
func (s *session) claim(worker string, batchSize int) []claimedJob {
	s.t.Helper()
	jobs, err := claim(s.t.Context(), s.conn, worker, batchSize)
	if err != nil {
		s.t.Fatal(err)
	}
	return jobs
}

// claimOne claims the only job that can be claimed.
func (s *session) claimOne(worker string) claimedJob {
	s.t.Helper()
	jobs := s.claim(worker, 2)
	if len(jobs) != 1 {
		s.t.Fatalf("%s claimed %v, want one job", worker, jobs)
	}
	return jobs[0]
}

// report makes an outcome call, which returns booleans, and returns an error unless the worker still held the jobs.
func report(ctx context.Context, conn *pgx.Conn, isolation, sql string, args ...any) error {
	held, err := insist(isolation, func() ([]bool, error) { return query[bool](ctx, conn, sql, args...) })
	if err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	if len(held) != 1 || !held[0] {
		return fmt.Errorf("%s: %v for %v, want true", sql, held, args)
	}
	return nil
}
