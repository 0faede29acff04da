// Hello adds a job and runs jobs until Ctrl-C.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/gwsql/gw/pkg/shim"
)

type person struct{ Name string }

func run(ctx context.Context) error {
	pool, err := shim.Open(ctx, "") // DATABASE_URL, or PGHOST, PGDATABASE and so on
	if err != nil {
		return err
	}
	defer pool.Close()

	client := shim.NewClient(pool, shim.ClientConfig{})
	if _, err := client.Add(ctx, "greet", person{Name: "Ada"}, nil); err != nil {
		return err
	}

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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}
