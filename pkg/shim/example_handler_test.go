package shim_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/shim"
)

// exampleWorker creates a worker on an empty queue that logs nothing.
func exampleWorker(cfg shim.Config) (worker *shim.Worker, pool *pgxpool.Pool, done func()) {
	drop := database()
	pool, err := shim.Open(context.Background(), "")
	if err != nil {
		log.Fatal(err)
	}
	cfg.Logger = slog.New(slog.DiscardHandler)
	worker, err = shim.New(pool, cfg)
	if err != nil {
		log.Fatal(err)
	}
	return worker, pool, func() {
		pool.Close()
		drop()
	}
}

// addAndRun adds a job, works until none is runnable, and prints what is left.
func addAndRun(worker *shim.Worker, task string, payload any) {
	ctx := context.Background()
	added, err := worker.Client().Add(ctx, task, payload, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := worker.RunOnce(ctx); err != nil {
		log.Fatal(err)
	}
	job, err := worker.Client().Job(ctx, added.ID)
	switch {
	case errors.Is(err, shim.ErrJobNotFound):
		fmt.Println("the job is done")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Printf("%d of %d attempts, last error: %s\n", job.Attempts, job.MaxAttempts, job.LastError)
	}
}

func ExampleHandle() {
	worker, _, done := exampleWorker(shim.Config{Concurrency: 10})
	defer done()
	shim.Handle(worker, "send_email", func(ctx context.Context, email Email, job *shim.Job) error {
		fmt.Println("attempt", job.Attempts, "to", email.To)
		return nil
	})
	addAndRun(worker, "send_email", Email{To: "ada@example.org"})
	// Output:
	// attempt 1 to ada@example.org
	// the job is done
}

func ExampleWorker_Handle() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	worker.Handle("echo", func(ctx context.Context, job *shim.Job) error {
		fmt.Println(string(job.Payload))
		return nil
	})
	addAndRun(worker, "echo", []int{1, 2})
	// Output:
	// [1,2]
	// the job is done
}

// An error that a retry cannot solve fails the job permanently.
func ExampleDiscard() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	shim.Handle(worker, "import_file", func(ctx context.Context, path string, job *shim.Job) error {
		_, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return shim.Discard(err)
		}
		return err
	})
	addAndRun(worker, "import_file", "/nowhere")
	// Output: 25 of 25 attempts, last error: open /nowhere: no such file or directory
}

// The server has answered when to try again.
func ExampleRetryIn() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	shim.Handle(worker, "charge", func(ctx context.Context, cents int, job *shim.Job) error {
		return shim.RetryIn(10*time.Minute, errors.New("429 Too Many Requests"))
	})
	addAndRun(worker, "charge", 1250)
	// Output: 1 of 25 attempts, last error: 429 Too Many Requests
}

// The job waits for a condition, which is not a failure.
func ExampleSnooze() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	looks := 0
	shim.Handle(worker, "await_payment", func(ctx context.Context, order int, job *shim.Job) error {
		if looks++; looks < 3 {
			return shim.Snooze(0) // an hour, say
		}
		fmt.Println("paid, seen at look", looks, "of attempt", job.Attempts)
		return nil
	})
	addAndRun(worker, "await_payment", 7)
	// Output:
	// paid, seen at look 3 of attempt 1
	// the job is done
}

func ExampleBatch() {
	worker, pool, done := exampleWorker(shim.Config{})
	defer done()
	shim.Handle(worker, "notify", func(ctx context.Context, devices []string, job *shim.Job) error {
		errs := make([]error, len(devices))
		for i, device := range devices {
			if device == "watch" {
				errs[i] = errors.New("the watch is off")
			}
		}
		return shim.Batch(errs) // nil if all are
	})
	addAndRun(worker, "notify", []string{"phone", "watch", "tablet"})

	var payload string
	if err := pool.QueryRow(context.Background(), "select payload::text from graphile_worker._private_jobs").Scan(&payload); err != nil {
		log.Fatal(err)
	}
	fmt.Println("to be tried again:", payload)
	// Output:
	// 1 of 25 attempts, last error: Batch failures:
	// the watch is off
	// to be tried again: ["watch"]
}

func ExampleHandleEach() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	shim.HandleEach(worker, "notify", func(ctx context.Context, device string, job *shim.Job) error {
		fmt.Println(device)
		if device == "watch" && job.Attempts == 1 {
			return errors.New("the watch is off")
		}
		return nil
	}, shim.Backoff(func(attempt int) time.Duration { return 0 }))
	addAndRun(worker, "notify", []string{"phone", "watch", "tablet"})
	// Output:
	// phone
	// watch
	// tablet
	// watch
	// the job is done
}

// The handler begins the transaction itself, because it has to be serializable.
func ExampleCompletionOf() {
	worker, pool, done := exampleWorker(shim.Config{})
	defer done()
	ctx := context.Background()
	if _, err := pool.Exec(ctx, `create table visits (page text)`); err != nil {
		log.Fatal(err)
	}

	worker.HandleMany("visit", 100, func(ctx context.Context, jobs []*shim.Job) []error {
		completion, err := shim.CompletionOf(jobs)
		if err != nil {
			return slices.Repeat([]error{err}, len(jobs))
		}
		err = pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(tx pgx.Tx) error {
			var batch pgx.Batch
			for _, job := range jobs {
				batch.Queue(`insert into visits (page) values ($1::json ->> 'page')`, string(job.Payload))
			}
			batch.Queue(completion.SQL, completion.Args...)
			return tx.SendBatch(ctx, &batch).Close()
		})
		if err != nil {
			return slices.Repeat([]error{err}, len(jobs)) // all are tried again
		}
		completion.Committed()
		return nil
	})
	addAndRun(worker, "visit", map[string]string{"page": "/"})
	// Output: the job is done
}

// One statement inserts the rows of up to 100 jobs, and is committed together with their completion.
func ExampleHandleManyTx() {
	worker, pool, done := exampleWorker(shim.Config{})
	defer done()
	if _, err := pool.Exec(context.Background(), `create table visits (page text)`); err != nil {
		log.Fatal(err)
	}

	type visit struct{ Page string }
	shim.HandleManyTx(worker, "visit", 100, func(ctx context.Context, tx pgx.Tx, visits []visit, jobs []*shim.Job) error {
		pages := make([]string, len(visits))
		for i, v := range visits {
			pages[i] = v.Page
		}
		_, err := tx.Exec(ctx, `insert into visits (page) select unnest($1::text[])`, pages)
		return err // nil completes all jobs; after an error each runs alone
	})
	addAndRun(worker, "visit", visit{Page: "/"})
	// Output: the job is done
}

func ExampleTimeout() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	shim.Handle(worker, "fetch", func(ctx context.Context, url string, job *shim.Job) error {
		<-ctx.Done() // as a request does that takes too long
		return ctx.Err()
	}, shim.Timeout(50*time.Millisecond))
	addAndRun(worker, "fetch", "https://example.org")
	// Output: 1 of 25 attempts, last error: timed out after 50ms: context deadline exceeded
}

// The retry follows after ten minutes, instead of after growing delays.
func ExampleBackoff() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	shim.On(worker, func(e shim.JobReported) { fmt.Println(e.Outcome, "again in", e.RetryIn) })
	shim.Handle(worker, "poll", func(ctx context.Context, station int, job *shim.Job) error {
		return errors.New("no answer")
	}, shim.Backoff(func(attempt int) time.Duration { return 10 * time.Minute }))
	addAndRun(worker, "poll", 7)
	// Output:
	// failed again in 10m0s
	// 1 of 25 attempts, last error: no answer
}

func ExampleWorker_SetTasks() {
	worker, _, done := exampleWorker(shim.Config{Concurrency: 8})
	defer done()
	fetch := func(ctx context.Context, job *shim.Job) error { return nil }
	greet := func(ctx context.Context, name string, job *shim.Job) error {
		fmt.Println("hello,", name)
		return nil
	}
	err := worker.SetTasks(
		shim.Task{Name: "fetch", Handler: fetch, Options: []shim.TaskOption{shim.Concurrency(4)}},
		shim.Task{Name: "greet", Handler: shim.Typed(greet)},
	)
	if err != nil {
		fmt.Println(err)
	}
	addAndRun(worker, "greet", "Ada")
	// Output:
	// hello, Ada
	// the job is done
}

func ExampleMiddleware() {
	timed := func(next shim.Handler) shim.Handler {
		return func(ctx context.Context, job *shim.Job) error {
			started := time.Now()
			err := next(ctx, job)
			fmt.Println(job.TaskIdentifier, shim.OutcomeOf(job, err), time.Since(started) < time.Minute)
			return err
		}
	}
	worker, _, done := exampleWorker(shim.Config{Middleware: []shim.Middleware{timed}})
	defer done()
	shim.Handle(worker, "send_email", func(ctx context.Context, email Email, job *shim.Job) error {
		return shim.Discard(errors.New("no such address"))
	})
	addAndRun(worker, "send_email", Email{To: "nobody"})
	// Output:
	// send_email permanently_failed true
	// 25 of 25 attempts, last error: no such address
}

// The money is transferred once, even if a process dies at any time.
func ExampleJob_CompleteTx() {
	worker, pool, done := exampleWorker(shim.Config{})
	defer done()
	ctx := context.Background()
	if _, err := pool.Exec(ctx, "create table accounts as select 100 as balance"); err != nil {
		log.Fatal(err)
	}
	shim.Handle(worker, "pay_in", func(ctx context.Context, amount int, job *shim.Job) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "update accounts set balance = balance + $1", amount); err != nil {
				return err
			}
			return job.CompleteTx(ctx, tx) // an error rolls back
		})
	})
	addAndRun(worker, "pay_in", 50)

	var balance int
	if err := pool.QueryRow(ctx, "select balance from accounts").Scan(&balance); err != nil {
		log.Fatal(err)
	}
	fmt.Println(balance)
	// Output:
	// the job is done
	// 150
}

// The worker commits the transaction together with the completion of the job.
func ExampleHandleTx() {
	worker, pool, done := exampleWorker(shim.Config{})
	defer done()
	ctx := context.Background()
	if _, err := pool.Exec(ctx, "create table accounts as select 100 as balance"); err != nil {
		log.Fatal(err)
	}
	shim.HandleTx(worker, "pay_out", func(ctx context.Context, tx pgx.Tx, amount int, job *shim.Job) error {
		_, err := tx.Exec(ctx, "update accounts set balance = balance - $1", amount)
		return err // nil commits, an error rolls back
	})
	addAndRun(worker, "pay_out", 30)

	var balance int
	if err := pool.QueryRow(ctx, "select balance from accounts").Scan(&balance); err != nil {
		log.Fatal(err)
	}
	fmt.Println(balance)
	// Output:
	// the job is done
	// 70
}

func ExampleJob_Query() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	shim.Handle(worker, "count", func(ctx context.Context, upTo int, job *shim.Job) error {
		rows, err := job.Query(ctx, "select count(*) from generate_series(1, $1)", upTo)
		if err != nil {
			return err
		}
		n, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
		fmt.Println(n)
		return err
	})
	addAndRun(worker, "count", 42)
	// Output:
	// 42
	// the job is done
}

func ExampleJob_Logger() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	shim.Handle(worker, "send_email", func(ctx context.Context, email Email, job *shim.Job) error {
		job.Logger().Info("connected", "host", "mail.example.org") // label=job worker_id=... task_identifier=send_email job_id=1
		return nil
	})
	addAndRun(worker, "send_email", Email{To: "ada@example.org"})
	// Output: the job is done
}

// A function that is called by a handler gets the job from its context.
func ExampleJobFromContext() {
	audit := func(ctx context.Context, text string) {
		if job, ok := shim.JobFromContext(ctx); ok {
			fmt.Printf("%s, by job %d of %s\n", text, job.ID, job.TaskIdentifier)
		}
	}
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	shim.Handle(worker, "close_account", func(ctx context.Context, account int, job *shim.Job) error {
		audit(ctx, fmt.Sprintf("account %d is closed", account))
		return nil
	})
	addAndRun(worker, "close_account", 7)
	// Output:
	// account 7 is closed, by job 1 of close_account
	// the job is done
}
