package shimtest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
	"github.com/gwsql/gw/pkg/shimtest"
)

// example is a shimtest.TB that prints; a test passes its own t.
type example struct{}

func (example) Helper()                           {}
func (example) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

var t example

type Email struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
}

func signUp(ctx context.Context, tx pgx.Tx, address string) error {
	client := shim.NewClient(tx, shim.ClientConfig{})
	_, err := client.Add(ctx, "send_email", Email{To: address, Subject: "Welcome"}, &shim.AddOptions{QueueName: "mail"})
	return err
}

func ExampleRequireEnqueued() {
	pool, drop := openQueue()
	defer drop()
	ctx := context.Background()
	tx, err := pool.Begin(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer tx.Rollback(ctx) // nothing of the test stays

	if err := signUp(ctx, tx, "ada@example.org"); err != nil {
		log.Fatal(err)
	}
	job := shimtest.RequireEnqueued(t, tx, "send_email", &shimtest.Match{
		Payload:   map[string]string{"to": "ada@example.org"}, // whatever the subject
		QueueName: "mail",
	})
	fmt.Println(job.TaskIdentifier, job.MaxAttempts)
	shimtest.RequireNotEnqueued(t, tx, "send_invoice", nil)
	// Output: send_email 25
}

func ExampleRunDue() {
	pool, drop := openQueue()
	defer drop()
	ctx := context.Background()
	worker, err := shim.New(pool, shim.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	shim.Handle(worker, "send_email", func(ctx context.Context, email Email, job *shim.Job) error {
		if email.To == "" {
			return errors.New("an e-mail needs an address")
		}
		return nil
	})
	for _, to := range []string{"ada@example.org", ""} {
		if _, err := worker.Client().Add(ctx, "send_email", Email{To: to}, nil); err != nil {
			log.Fatal(err)
		}
	}
	shimtest.RunDue(t, worker)
	// Output:
	// jobs failed:
	//   job 2 of task "send_email", payload {"to":"","subject":""}: failed: an e-mail needs an address
}

func ExampleWork() {
	sendEmail := func(ctx context.Context, email Email, job *shim.Job) error {
		if email.To == "" {
			return shim.Discard(errors.New("an e-mail needs an address"))
		}
		return shim.RetryIn(time.Minute, errors.New("the mail server is busy"))
	}

	result := shimtest.Work(context.Background(), shim.Typed(sendEmail), shimtest.Job(t, "send_email", Email{}))
	fmt.Println(result.Outcome, "-", result.Err)

	job := shimtest.Job(t, "send_email", Email{To: "ada@example.org"})
	result = shimtest.Work(context.Background(), shim.Typed(sendEmail), job)
	fmt.Println(result.Outcome, "-", result.Err, "- again in", *result.RetryIn)
	// Output:
	// permanently_failed - an e-mail needs an address
	// failed - the mail server is busy - again in 1m0s
}

// openQueue returns a pool on a database with an empty queue, and what drops that.
func openQueue() (pool *pgxpool.Pool, drop func()) {
	url, dropDatabase := pgtest.Example()
	pool, err := shim.Open(context.Background(), url)
	if err != nil {
		log.Fatal(err)
	}
	return pool, func() {
		pool.Close()
		dropDatabase()
	}
}
