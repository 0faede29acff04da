package shim_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

func ExampleOn() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	shim.On(worker, func(e shim.JobFailed) {
		fmt.Printf("alert: %s failed permanently: %v\n", e.Job.TaskIdentifier, e.Err)
	})
	shim.Handle(worker, "backup", func(ctx context.Context, _ any, job *shim.Job) error {
		return shim.Discard(errors.New("the tape is full"))
	})
	addAndRun(worker, "backup", nil)
	// Output:
	// alert: backup failed permanently: the tape is full
	// 25 of 25 attempts, last error: the tape is full
}

func ExampleWorker_Subscribe() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	worker.Handle("nothing", func(ctx context.Context, job *shim.Job) error { return nil })

	subscription := worker.Subscribe(1000)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for event := range subscription.Events() {
			switch event := event.(type) {
			case shim.WorkerStarted:
				fmt.Println("runs", event.Tasks)
			case shim.JobReported:
				fmt.Println(event.Job.TaskIdentifier, event.Outcome)
			}
		}
	}()
	addAndRun(worker, "nothing", nil)
	subscription.Close()
	<-watched
	fmt.Println(subscription.Dropped(), "events dropped")
	// Unordered output:
	// runs [nothing]
	// nothing completed
	// the job is done
	// 0 events dropped
}

// While the mail server is unavailable, jobs that need it stay in the queue.
func ExampleConfig_forbiddenFlags() {
	worker, _, done := exampleWorker(shim.Config{
		ForbiddenFlagsFunc: func(ctx context.Context) ([]string, error) {
			return []string{"needs mail server"}, nil
		},
	})
	defer done()
	shim.Handle(worker, "greet", func(ctx context.Context, name string, job *shim.Job) error {
		fmt.Println("hello", name)
		return nil
	})
	ctx := context.Background()
	_, err := worker.Client().Add(ctx, "greet", "Ada", &shim.AddOptions{Flags: []string{"needs mail server"}})
	if err != nil {
		log.Fatal(err)
	}
	addAndRun(worker, "greet", "Grace")
	// Output:
	// hello Grace
	// the job is done
}

// This worker leaves large pictures to workers with enough memory, and runs all other jobs.
func ExampleForbiddenFlags() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	shim.Handle(worker, "resize", func(ctx context.Context, picture string, job *shim.Job) error {
		fmt.Println("resized", picture)
		return nil
	}, shim.ForbiddenFlags("large"))
	ctx := context.Background()
	_, err := worker.Client().Add(ctx, "resize", "poster.png", &shim.AddOptions{Flags: []string{"large"}})
	if err != nil {
		log.Fatal(err)
	}
	addAndRun(worker, "resize", "stamp.png")
	// Output:
	// resized stamp.png
	// the job is done
}

func ExampleWorker_Run() {
	worker, pool, done := exampleWorker(shim.Config{HandleSignals: true, Grace: time.Minute})
	defer done()
	ctx, cancel := context.WithCancel(context.Background())
	shim.Handle(worker, "last", func(_ context.Context, _ any, job *shim.Job) error {
		cancel() // as a signal would, or worker.Stop
		return nil
	})
	if _, err := shim.NewClient(pool, shim.ClientConfig{}).Add(ctx, "last", nil, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(worker.Run(ctx))
	// Output: <nil>
}
