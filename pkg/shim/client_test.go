package shim_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/pkg/shim"
)

func TestAJobIsCommittedWithItsReasonOrNotAtAll(t *testing.T) {
	q := newQueue(t)
	ctx := t.Context()
	q.exec("create table orders (id integer primary key)")
	client := q.client()
	undo := errors.New("undo")
	for id, end := range map[int]error{1: nil, 2: undo} {
		err := pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "insert into orders values ($1)", id); err != nil {
				return err
			}
			one(t)(client.With(tx).Add(ctx, "pgx", id, nil))
			many(t)(client.With(tx).AddMany(ctx, []shim.JobSpec{{Task: "pgx", Payload: id}}))
			return end
		})
		if err != end {
			t.Fatal(err)
		}
	}
	db := q.sqlDB("postgres")
	for id, commit := range map[int]bool{3: true, 4: false} {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(ctx, "insert into orders values ($1)", id); err != nil {
			t.Fatal(err)
		}
		one(t)(client.WithSQL(tx).Add(ctx, "sql", id, nil))
		many(t)(client.WithSQL(tx).AddMany(ctx, []shim.JobSpec{{Task: "sql", Payload: id}}))
		if commit {
			err = tx.Commit()
		} else {
			err = tx.Rollback()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const each = `
		select count(*) = 4 and bool_and(o.xmin = j.xmin)
		  from orders as o
		  full join graphile_worker._private_jobs as j on j.payload::text = o.id::text`
	if !value[bool](q, each) {
		t.Error("there are not just two jobs for each order that was committed, from its transaction")
	}
}

func TestAConnectionServesAClientToo(t *testing.T) {
	q := newQueue(t)
	conn, err := q.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	one(t)(shim.NewClient(conn, shim.ClientConfig{}).Add(t.Context(), "task", nil, nil))
	one(t)(shim.NewClient(conn.Conn(), shim.ClientConfig{}).Add(t.Context(), "task", nil, nil))
	sqlConn, err := q.sqlDB("pgx").Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer sqlConn.Close()
	one(t)(shim.NewSQLClient(sqlConn, shim.ClientConfig{}).Add(t.Context(), "task", nil, nil))
	if n := q.jobs(); n != 3 {
		t.Errorf("there are %d jobs, want 3", n)
	}
}

func TestAHandlerAddsJobsInTheWorkersSchema(t *testing.T) {
	t.Parallel()
	database := pgtest.EmptyDatabase(t)
	const schema = `S. o"dd`
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	migrator, err := migrate.New(config, migrate.Config{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := &queue{t: t, url: database, pool: pgtest.Pool(t, database)}
	w := q.worker(shim.Config{Schema: schema})
	reached := make(chan string, 1)
	shim.Handle(w.Worker, "first", func(ctx context.Context, to string, _ *shim.Job) error {
		_, err := w.Client().Add(ctx, "second", to, nil)
		return err
	})
	shim.Handle(w.Worker, "second", func(_ context.Context, to string, _ *shim.Job) error {
		reached <- to
		return nil
	})
	w.start()
	client := shim.NewClient(q.pool, shim.ClientConfig{Schema: schema})
	one(t)(client.Add(t.Context(), "first", "Ada", nil))
	if to := receive(t, reached); to != "Ada" {
		t.Errorf("the second handler got %q", to)
	}
	if got := client.With(q.pool); one(t)(got.Add(t.Context(), "third", nil, nil)).TaskIdentifier != "third" {
		t.Error("a client forgets its schema")
	}
}

func TestErrorsKeepTheirCodeAndSayWhatWasTried(t *testing.T) {
	q := newQueue(t)
	ctx := t.Context()
	_, err := q.client().Add(ctx, "task", nil, &shim.AddOptions{JobKey: strings.Repeat("k", 513)})
	wantCode(t, err, "GWBJK")
	if !strings.HasPrefix(err.Error(), `add job "task": ERROR: `) {
		t.Errorf("the message is %q", err)
	}

	_, err = shim.NewSQLClient(q.sqlDB("postgres"), shim.ClientConfig{}).Add(ctx, "", nil, nil)
	if err == nil || err.Error() != "add job: the task has no name" {
		t.Errorf("without a name the error is %v", err)
	}
	_, err = shim.NewSQLClient(q.sqlDB("postgres"), shim.ClientConfig{}).Add(ctx, strings.Repeat("t", 129), nil, nil)
	if state, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err); !ok || state.SQLState() != "GWBID" {
		t.Errorf("with lib/pq the error is %v", err)
	}
}

func TestAMissingQueueIsExplained(t *testing.T) {
	t.Parallel()
	client := shim.NewClient(pgtest.Pool(t, pgtest.EmptyDatabase(t)), shim.ClientConfig{Schema: "elsewhere"})
	_, add := client.Add(t.Context(), "task", nil, nil)
	_, addMany := client.AddMany(t.Context(), []shim.JobSpec{{Task: "task"}})
	_, look := client.Job(t.Context(), 1)
	for _, err := range []error{add, addMany, look} {
		if err == nil || !strings.Contains(err.Error(), `is the queue installed in the schema "elsewhere"`) {
			t.Errorf("got %v", err)
		}
	}
}

func TestARoleWithoutRightsIsToldWhy(t *testing.T) {
	q := newQueue(t)
	conn, err := q.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), "set role pg_monitor"); err != nil {
		t.Fatal(err)
	}
	_, err = shim.NewClient(conn, shim.ClientConfig{}).Add(t.Context(), "task", nil, nil)
	wantCode(t, err, "42501")
	if err == nil || !strings.Contains(err.Error(), "only the role that installed the queue") {
		t.Errorf("got %v", err)
	}
	if _, err := conn.Exec(t.Context(), "reset role"); err != nil {
		t.Fatal(err)
	}
}

func TestAClientWithoutADatabaseSaysSo(t *testing.T) {
	for _, client := range []*shim.Client{shim.NewClient(nil, shim.ClientConfig{}),
		shim.NewSQLClient(nil, shim.ClientConfig{})} {
		if _, err := client.Add(t.Context(), "task", nil, nil); err == nil ||
			!strings.Contains(err.Error(), "no database") {
			t.Errorf("got %v", err)
		}
	}
}
