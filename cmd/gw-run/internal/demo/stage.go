package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/statement"
)

const clearTimeout = 10 * time.Second

// demoStage is the table and trigger that the demo creates in a database to add jobs.
type demoStage struct {
	pool   *pgxpool.Pool
	schema string                          // of the queue
	close  func(ctx context.Context) error // removes what else was made, nil for nothing
}

// build creates a table whose trigger enqueues a job for each row.
func (s *demoStage) build(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, "create schema gw_demo")
	if err != nil {
		return fmt.Errorf("create schema for the demo; if one was left by a demo that was killed, "+
			"drop schema gw_demo cascade: %w", err)
	}
	err = s.exec(ctx, `
		create table gw_demo.guests (id bigint generated always as identity primary key, name pg_catalog.text not null);

		create function gw_demo.greet() returns trigger language plpgsql as $gw_demo$
		begin
		  perform S.add_job('hello', pg_catalog.json_build_object('name', new.name),
		                    job_key => '`+demoKeyPrefix+`guest:' operator(pg_catalog.||) new.id);
		  return new;
		end $gw_demo$;

		create trigger greet after insert on gw_demo.guests for each row execute function gw_demo.greet()`)
	if err != nil {
		return fmt.Errorf("create table for the demo: %w", err)
	}
	return nil
}

// enqueue adds jobs in three ways, one job at a time: the next one when the previous one has run.
func (s *demoStage) enqueue(ctx context.Context, out io.Writer, audience *demoAudience) error {
	fmt.Fprintln(out, "Jobs from SQL, select add_job('hello', ...):")
	for _, name := range []string{"Ada", "Barbara", "Edsger", "Grace"} {
		if err := errors.Join(s.add(ctx, name, "now()"), audience.wait(ctx)); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "Jobs from a trigger, insert into guests ...:")
	for _, name := range []string{"Charlie", "Jim", "Leslie", "Michael"} {
		if err := errors.Join(s.invite(ctx, name), audience.wait(ctx)); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "A job that is due later, add_job('hello', run_at => now() + interval '1 second'):")
	return errors.Join(s.add(ctx, "future", "now() + interval '1 second'"), audience.wait(ctx))
}

// invite adds a row to the table of guests.
func (s *demoStage) invite(ctx context.Context, name string) error {
	if err := s.exec(ctx, "insert into gw_demo.guests (name) values ($1)", name); err != nil {
		return fmt.Errorf("insert a guest: %w", err)
	}
	return nil
}

// add adds a job that is due at the time that an SQL expression gives.
func (s *demoStage) add(ctx context.Context, name, due string) error {
	err := s.exec(ctx, `select from S.add_job('hello', pg_catalog.json_build_object('name', $1::text),
		job_key => '`+demoKeyPrefix+`' operator(pg_catalog.||) $1::text, run_at => `+due+`)`, name)
	if err != nil {
		return fmt.Errorf("add a job: %w", err)
	}
	return nil
}

// clear removes what build and enqueue have created, even if ctx has ended.
func (s *demoStage) clear(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearTimeout)
	defer cancel()
	if err := s.exec(ctx, "drop schema gw_demo cascade"); err != nil {
		return fmt.Errorf("drop the demo's table: %w", err)
	}
	if s.close != nil {
		if err := s.close(ctx); err != nil {
			return err
		}
	}
	err := s.exec(ctx, `select S.remove_job(j.key) from S.jobs as j where j.key operator(pg_catalog.~~) '`+demoKeyPrefix+`%'`)
	if err != nil {
		return fmt.Errorf("remove the demo's jobs: %w", err)
	}
	return nil
}

// exec runs SQL in which S stands for the queue's schema.
func (s *demoStage) exec(ctx context.Context, sql string, args ...any) error {
	_, err := s.pool.Exec(ctx, statement.In(pgx.Identifier{s.schema}.Sanitize(), sql), args...)
	return err
}
