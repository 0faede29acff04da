package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/gwsql/gw/bench/internal/nodejs"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/bench/internal/subject"
)

// A family is a kind of program, with the tables that it uses.
type family struct {
	template string // the database with its tables
	version  string // the required version; empty for any
	program  string
	tables   tables
}

// tables are queries on the tables of a family. $1 is an array of ids.
type tables struct {
	fill      func(n int) string // adds n ready jobs
	schedule  func(n int) string // adds n jobs that are due one after the other, from leadTime on, spacing apart
	due       string             // the ids of all jobs, and when they are due in microseconds since 1970
	gone      string             // whether these jobs have been done
	empty     string             // whether all jobs have been done
	left      string             // how many jobs have not been done
	failed    string             // whether these jobs have failed and nobody holds them
	allFailed string             // whether all jobs have been tried
}

// Scheduled jobs are due one after the other, beginning after leadTime, so that all workers have started by then.
const (
	leadTime = 5 * time.Second
	spacing  = 10 * time.Millisecond
)

var (
	oursFamily      = family{template: queue.Template, program: "ours", tables: queueTables}
	referenceFamily = family{template: queue.Template, program: "reference", tables: queueTables}
	nodeFamily      = family{template: nodejs.Template, version: nodejs.Version, program: "node", tables: queueTables}
	riverFamily     = family{template: "template_river", version: "v0.51.1", program: "river", tables: riverTables}
)

// command returns the command of the program with its order.
func (f *family) command(ctx context.Context, p *programs, order subject.Order) (*exec.Cmd, error) {
	if f == &nodeFamily {
		order.URL = nodejs.Readable(order.URL)
	}
	text, err := json.Marshal(order)
	if err != nil {
		return nil, fmt.Errorf("encode the order: %w", err)
	}
	if f != &nodeFamily {
		return exec.CommandContext(ctx, p.path(f.program), string(text)), nil
	}
	folder, err := nodejs.Folder()
	if err != nil {
		return nil, err
	}
	return nodejs.Command(ctx, p.path("node/graphile.mjs"), string(text), folder, nodejs.Package)
}

// queueTables are the tables of ours, the reference and Node.
var queueTables = tables{
	fill: queue.Fill,
	schedule: func(n int) string {
		return queue.Insert(n, "run_at", fmt.Sprintf("now() + interval '%d us' + i * interval '%d us'",
			leadTime.Microseconds(), spacing.Microseconds()))
	},
	due:   "select id, (extract(epoch from run_at) * 1000000)::bigint from " + queue.JobsTable,
	gone:  "select not exists (select from " + queue.JobsTable + " where id = any ($1))",
	empty: "select not exists (select from " + queue.JobsTable + ")",
	left:  "select count(*) from " + queue.JobsTable,
	failed: "select not exists (select from " + queue.JobsTable +
		" where id = any ($1) and (attempts = 0 or locked_at is not null))",
	allFailed: "select not exists (select from " + queue.JobsTable + " where attempts = 0)",
}

// riverTables are River's tables. Completed jobs are kept for a day.
var riverTables = tables{
	fill: func(n int) string {
		return fillRiver(n, "now() - interval '6 hours' + i * interval '1 ms', 'available'")
	},
	schedule: func(n int) string {
		return fillRiver(n, fmt.Sprintf("now() + interval '%d us' + i * interval '%d us', 'scheduled'",
			leadTime.Microseconds(), spacing.Microseconds()))
	},
	due:       "select id, (extract(epoch from scheduled_at) * 1000000)::bigint from river_job",
	gone:      "select not exists (select from river_job where id = any ($1) and state <> 'completed')",
	empty:     "select not exists (select from river_job where state <> 'completed')",
	left:      "select count(*) from river_job where state <> 'completed'",
	failed:    "select not exists (select from river_job where id = any ($1) and (attempt = 0 or state = 'running'))",
	allFailed: "select not exists (select from river_job where attempt = 0)",
}

func fillRiver(n int, scheduledAndState string) string {
	return fmt.Sprintf("insert into river_job (kind, args, scheduled_at, state) "+
		"select '%s', json_build_object('number', i), %s from generate_series(1, %d) as s (i)", queue.Task,
		scheduledAndState, n)
}

// installRiver creates the template of River's databases.
func installRiver(ctx context.Context, s *server.Server) (err error) {
	if _, err := s.Exec(ctx, "create database "+riverFamily.template); err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, s.URL(riverFamily.template))
	if err != nil {
		return fmt.Errorf("install River's: %w", err)
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err != nil {
		return errors.Join(errors.New("install River's"), err)
	}
	return nil
}
