package shim_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

func ExampleClient_Remove() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})
	if _, err := client.Add(ctx, "remind", nil, &shim.AddOptions{JobKey: "remind:7", RunIn: time.Hour}); err != nil {
		log.Fatal(err)
	}

	for range 2 {
		job, err := client.Remove(ctx, "remind:7")
		switch {
		case errors.Is(err, shim.ErrJobNotFound):
			fmt.Println("there is none")
		case err != nil:
			log.Fatal(err)
		case job.Key == "":
			fmt.Println("it runs, but not again")
		default:
			fmt.Println("it will not run")
		}
	}
	// Output:
	// it will not run
	// there is none
}

func ExampleClient_Job() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})
	added, err := client.Add(ctx, "report", nil, nil)
	if err != nil {
		log.Fatal(err)
	}

	job, err := client.Job(ctx, added.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.TaskIdentifier, job.Attempts)

	_, err = client.Job(ctx, added.ID+1)
	fmt.Println(errors.Is(err, shim.ErrJobNotFound))
	// Output:
	// report 0
	// true
}

// A permanently failed job gets all its attempts again.
func ExampleClient_Reschedule() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})
	added, err := client.Add(ctx, "report", nil, &shim.AddOptions{MaxAttempts: 5})
	if err != nil {
		log.Fatal(err)
	}

	failed, err := client.PermanentlyFail(ctx, "the printer is on fire", added.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(failed[0].LastError, failed[0].Attempts, "of", failed[0].MaxAttempts)

	again, err := client.Reschedule(ctx, shim.RescheduleOptions{
		RunIn:    new(time.Duration(0)),
		Attempts: new(0),
	}, added.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again[0].Attempts, "of", again[0].MaxAttempts)
	// Output:
	// the printer is on fire 5 of 5
	// 0 of 5
}

func ExampleClient_Complete() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})
	added, err := client.Add(ctx, "report", nil, nil)
	if err != nil {
		log.Fatal(err)
	}

	done, err := client.Complete(ctx, added.ID, 4711) // of which there is none
	if err != nil {
		log.Fatal(err)
	}
	for _, job := range done {
		fmt.Println(job.ID, job.TaskIdentifier)
	}
	// Output: 1 report
}

func ExampleClient_Cleanup() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})
	added, err := client.Add(ctx, "report", nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.PermanentlyFail(ctx, "", added.ID); err != nil {
		log.Fatal(err)
	}

	gone, err := client.Cleanup(ctx, nil, shim.DeletePermafailedJobs, shim.GCJobQueues)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(gone)
	// Output: map[DELETE_PERMAFAILED_JOBS:1 GC_JOB_QUEUES:0]
}

func ExampleClient_ForceUnlock() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})
	if _, err := client.Add(ctx, "report", nil, nil); err != nil {
		log.Fatal(err)
	}
	if _, err := pool.Exec(ctx, "select from graphile_worker.get_job('worker-that-dies')"); err != nil {
		log.Fatal(err)
	}

	job, err := client.Job(ctx, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("held by", job.LockedBy)
	if err := client.ForceUnlock(ctx, job.LockedBy); err != nil {
		log.Fatal(err)
	}
	if job, err = client.Job(ctx, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("held by %q\n", job.LockedBy)
	// Output:
	// held by worker-that-dies
	// held by ""
}
