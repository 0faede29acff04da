package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/subject"
)

// channel is the channel on which the hand-written statements announce single jobs.
const channel = "bench"

// hear runs single jobs with the minimum of work: it receives a notification, updates the row, runs the job and deletes
// the row.
func hear(ctx context.Context, s *subject.Subject) error {
	working := context.WithoutCancel(ctx) // started jobs are not canceled
	listening, err := pgx.Connect(working, s.URL)
	if err != nil {
		return err
	}
	defer listening.Close(working)
	conn, err := pgx.Connect(working, s.URL)
	if err != nil {
		return err
	}
	defer conn.Close(working)
	if _, err := listening.Exec(working, "listen "+channel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	var before []string // jobs added before it listened
	err = conn.QueryRow(working, "select array(select id::text from "+queue.JobsTable+")").Scan(&before)
	if err != nil {
		return fmt.Errorf("look for jobs: %w", err)
	}
	for _, id := range before {
		if err := workAlone(working, s, conn, id); err != nil {
			return err
		}
	}
	for {
		heard, err := listening.WaitForNotification(ctx)
		if errors.Is(err, context.Canceled) {
			return nil
		} else if err != nil {
			return fmt.Errorf("wait for a job: %w", err)
		}
		if err := workAlone(working, s, conn, heard.Payload); err != nil {
			return err
		}
	}
}

// workAlone runs one job, if it still exists.
func workAlone(ctx context.Context, s *subject.Subject, conn *pgx.Conn, name string) error {
	var id int64
	err := conn.QueryRow(ctx, "update "+queue.JobsTable+" set attempts = attempts + 1, locked_by = 'reference', "+
		"locked_at = clock_timestamp() where id = $1::text::bigint returning id", name).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	} else if err != nil {
		return fmt.Errorf("claim the job: %w", err)
	}
	if err := s.Execute(id, 1); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "delete from "+queue.JobsTable+" where id = $1", id); err != nil {
		return fmt.Errorf("complete the job: %w", err)
	}
	return nil
}

// add adds single jobs with an insert that announces them.
func add(ctx context.Context, s *subject.Subject) (func(int) (int64, error), error) {
	conn, err := pgx.Connect(ctx, s.URL)
	if err != nil {
		return nil, err
	}
	tasks, err := queue.TaskIDs(ctx, conn)
	if err != nil {
		return nil, err
	}
	return func(n int) (id int64, err error) {
		if n != 1 {
			return 0, errors.New("jobs are added one by one")
		}
		err = conn.QueryRow(ctx, "with added as (insert into "+queue.JobsTable+" (task_id, payload) "+
			"values ($1, $2::text::json) returning id) select id from added, pg_notify($3, id::text)",
			tasks[0], `{"number":1}`, channel).Scan(&id)
		return id, err
	}, nil
}
