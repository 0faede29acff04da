package docs_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

type person struct{ Name string }

func work(ctx context.Context, databaseURL string) error {
	pool, err := pgxpool.New(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer pool.Close()

	worker, err := shim.New(pool, shim.Config{Concurrency: 10})
	if err != nil {
		return err
	}
	shim.Handle(worker, "greet", func(ctx context.Context, p person, job *shim.Job) error {
		fmt.Printf("hello, %s (attempt %d)\n", p.Name, job.Attempts)
		return nil
	})
	return worker.Run(ctx) // until ctx ends and the jobs that run have finished
}

func TestTheEmbeddedWorkerWorks(t *testing.T) {
	database := pgtest.Database(t)
	pool := pgtest.Pool(t, database)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	if _, err := pool.Exec(ctx, `select from graphile_worker.add_job('greet', '{"name":"you"}')`); err != nil {
		t.Fatal(err)
	}
	left := make(chan error, 1)
	go func() { left <- work(ctx, database) }()

	for waiting := true; waiting; {
		if err := pool.QueryRow(ctx, `select exists (select from graphile_worker.jobs)`).Scan(&waiting); err != nil {
			t.Fatalf("wait for the job to be done: %v", err)
		}
	}
	stop()
	if err := <-left; err != nil {
		t.Error(err)
	}
}
