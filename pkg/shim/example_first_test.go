package shim_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// A program that adds a job and runs it. A worker that serves a task for as long as the program runs calls Run in place of RunOnce,
// mostly in a program of its own.
func Example() {
	defer database()() // in a program: the database of DATABASE_URL, with the schema that gw-migrate has installed
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()

	client := shim.NewClient(pool, shim.ClientConfig{})
	if _, err := client.Add(ctx, "send_email", Email{To: "ada@example.org"}, nil); err != nil {
		log.Fatal(err)
	}

	worker, err := shim.New(pool, shim.Config{Concurrency: 10})
	if err != nil {
		log.Fatal(err)
	}
	shim.Handle(worker, "send_email", func(ctx context.Context, email Email, job *shim.Job) error {
		fmt.Println("sent to", email.To)
		return nil
	})
	if err := worker.RunOnce(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: sent to ada@example.org
}

// A worker on a pool, with a log as JSON and a time for running jobs to end in when the worker stops.
func ExampleNew() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	worker, err := shim.New(pool, shim.Config{
		Concurrency: 10,
		Grace:       time.Minute,
		Logger:      slog.New(slog.NewJSONHandler(os.Stderr, nil)),
	})
	if err != nil {
		log.Fatal(err)
	}
	shim.Handle(worker, "send_email", func(ctx context.Context, email Email, job *shim.Job) error { return nil })
	fmt.Println(worker.RunOnce(ctx)) // a service calls Run
	// Output: <nil>
}

func ExampleNewClient() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})
	job, err := client.Add(ctx, "send_email", Email{To: "ada@example.org"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.ID, job.TaskIdentifier)
	// Output: 1 send_email
}

// The driver is that of pgx for database/sql; any other one for PostgreSQL would do.
func ExampleNewSQLClient() {
	defer database()()
	ctx := context.Background()
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	client := shim.NewSQLClient(db, shim.ClientConfig{})
	job, err := client.Add(ctx, "send_email", Email{To: "ada@example.org"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.ID, job.TaskIdentifier)
	// Output: 1 send_email
}

func ExampleWorker_RunOnce() {
	worker, pool, done := exampleWorker(shim.Config{})
	defer done()
	ctx := context.Background()
	shim.Handle(worker, "count", func(ctx context.Context, n int, job *shim.Job) error {
		fmt.Println(n)
		return nil
	})
	client := shim.NewClient(pool, shim.ClientConfig{})
	for n := range 3 {
		if _, err := client.Add(ctx, "count", n, nil); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(worker.RunOnce(ctx))
	// Output:
	// 0
	// 1
	// 2
	// <nil>
}

// The function that stops a worker waits until Run has returned, a minute at most.
func ExampleWorker_Stop() {
	worker, pool, done := exampleWorker(shim.Config{})
	defer done()
	started := make(chan struct{})
	worker.Handle("send_email", func(context.Context, *shim.Job) error {
		close(started)
		return nil
	})
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(context.Background()) }()
	if _, err := shim.NewClient(pool, shim.ClientConfig{}).Add(context.Background(), "send_email", nil, nil); err != nil {
		log.Fatal(err)
	}
	<-started

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println(worker.Stop(ctx), <-ended)
	// Output: <nil> <nil>
}

// The result goes to the programs that wait for it.
func ExampleHandleResult() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := worker.Client().KeepTask(ctx, shim.KeptTask{Task: "add", KeepFor: time.Hour, Results: true}); err != nil {
		log.Fatal(err)
	}
	shim.HandleResult(worker, "add", func(ctx context.Context, numbers []int, job *shim.Job) (int, error) {
		return numbers[0] + numbers[1], nil
	})
	addAndRun(worker, "add", []int{2, 3})
	fmt.Println(shim.Wait[int](ctx, worker.Client(), 1))
	// Output:
	// the job is done
	// 5 <nil>
}

func ExampleWait() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	shim.HandleResult(worker, "double", func(ctx context.Context, n int, job *shim.Job) (int, error) { return 2 * n, nil })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := worker.Client()
	job, err := client.Add(ctx, "double", 21, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := client.ExpectResult(ctx, job.ID, time.Hour); err != nil { // kept for an hour after the end
		log.Fatal(err)
	}
	if err := worker.RunOnce(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(shim.Wait[int](ctx, client, job.ID))
	// Output: 42 <nil>
}

// The service has answered with the status 429 and when to call again.
func ExampleRateLimited() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	shim.Handle(worker, "call_api", func(ctx context.Context, _ any, job *shim.Job) error {
		return shim.RateLimited(30 * time.Second)
	})
	addAndRun(worker, "call_api", nil)
	// Output: 0 of 25 attempts, last error:
}

// At most two of these jobs run at once in this worker, so that the others have room.
func ExampleConcurrency() {
	worker, _, done := exampleWorker(shim.Config{Concurrency: 10})
	defer done()
	shim.Handle(worker, "render", func(ctx context.Context, page int, job *shim.Job) error {
		fmt.Println("rendered page", page)
		return nil
	}, shim.Concurrency(2), shim.Timeout(time.Minute))
	addAndRun(worker, "render", 1)
	// Output:
	// rendered page 1
	// the job is done
}

// Customers who are over their quota wait, as long as the program says so.
func ExampleForbiddenFlagsFunc() {
	worker, pool, done := exampleWorker(shim.Config{})
	defer done()
	overQuota := []string{"customer:7"}
	shim.Handle(worker, "export", func(ctx context.Context, _ any, job *shim.Job) error {
		fmt.Println(job.Flags)
		return nil
	}, shim.ForbiddenFlagsFunc(func(context.Context) ([]string, error) { return overQuota, nil }))
	ctx := context.Background()
	client := shim.NewClient(pool, shim.ClientConfig{})
	for _, customer := range []string{"customer:7", "customer:8"} {
		if _, err := client.Add(ctx, "export", nil, &shim.AddOptions{Flags: []string{customer}}); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(worker.RunOnce(ctx))
	overQuota = nil
	fmt.Println(worker.RunOnce(ctx))
	// Output:
	// [customer:8]
	// <nil>
	// [customer:7]
	// <nil>
}

// A function that knows only the context of the handler reports how far it has come.
func ExampleSetProgress() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	copyRows := func(ctx context.Context, rows int) error {
		for row := range rows {
			if err := shim.SetProgress(ctx, 100*float64(row)/float64(rows), "copying"); err != nil {
				return err
			}
		}
		return nil
	}
	shim.Handle(worker, "copy", func(ctx context.Context, rows int, job *shim.Job) error { return copyRows(ctx, rows) })
	addAndRun(worker, "copy", 3)
	fmt.Println(shim.SetProgress(context.Background(), 50, ""))
	// Output:
	// the job is done
	// set progress: the context belongs to no job
}

// A test of a handler needs neither a database nor a worker.
func ExampleContextWithJob() {
	handler := func(ctx context.Context, job *shim.Job) error {
		if _, ok := shim.JobFromContext(ctx); !ok {
			return errors.New("no job")
		}
		return shim.Discard(errors.New("no such customer"))
	}
	job := &shim.Job{ID: 7, TaskIdentifier: "export", Attempts: 1, MaxAttempts: 25}
	fmt.Println(shim.OutcomeOf(job, handler(shim.ContextWithJob(context.Background(), job), job)))
	// Output: permanently_failed
}

func ExampleOutcomeOf() {
	job := &shim.Job{Attempts: 1, MaxAttempts: 25}
	for _, err := range []error{nil, errors.New("no answer"), shim.Snooze(time.Hour), shim.Discard(errors.New("no such customer"))} {
		fmt.Println(shim.OutcomeOf(job, err))
	}
	// Output:
	// completed
	// failed
	// snoozed
	// permanently_failed
}
