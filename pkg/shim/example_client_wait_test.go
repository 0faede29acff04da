package shim_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// A program waits for the job that it has added, a minute at most.
func ExampleClient_Wait() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	worker, err := shim.New(pool, shim.Config{})
	if err != nil {
		log.Fatal(err)
	}
	worker.Handle("export", func(context.Context, *shim.Job) error { return errors.New("no such customer") })
	client := shim.NewClient(pool, shim.ClientConfig{})

	job, err := client.Add(ctx, "export", map[string]int{"customer": 7}, &shim.AddOptions{MaxAttempts: 1})
	if err != nil {
		log.Fatal(err)
	}
	if err := worker.RunOnce(ctx); err != nil {
		log.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var failed *shim.JobFailedError
	switch err := client.Wait(ctx, job.ID); {
	case err == nil:
		fmt.Println("done")
	case errors.As(err, &failed):
		fmt.Println("failed:", failed.LastError)
	default:
		log.Fatal(err)
	}
	// Output: failed: no such customer
}
