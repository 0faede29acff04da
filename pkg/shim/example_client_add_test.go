package shim_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/shim"
)

type Email struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
}

func ExampleOpen() {
	defer database()() // an empty one, which DATABASE_URL names
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

	worker, err := shim.New(pool, shim.Config{QuietSuccess: true})
	if err != nil {
		log.Fatal(err)
	}
	shim.Handle(worker, "send_email", func(ctx context.Context, email Email, job *shim.Job) error {
		fmt.Println("to", email.To)
		return nil
	})
	if err := worker.RunOnce(ctx); err != nil { // Run goes on until ctx ends
		log.Fatal(err)
	}
	// Output: to ada@example.org
}

func ExampleClient_Add() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})

	job, err := client.Add(ctx, "send_email", Email{To: "ada@example.org", Subject: "Hello"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.TaskIdentifier, job.MaxAttempts, time.Until(job.RunAt) <= 0)
	// Output: send_email 25 true
}

func ExampleClient_Add_options() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})

	job, err := client.Add(ctx, "send_email", Email{To: "ada@example.org"}, &shim.AddOptions{
		QueueName:   "mail:example.org", // one after the other
		RunIn:       5 * time.Minute,
		MaxAttempts: 3,
		Priority:    -10, // before jobs with 0
		Flags:       []string{"mail"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.QueueName, job.RunAt.Sub(job.CreatedAt), job.MaxAttempts, job.Priority, job.Flags)
	// Output: mail:example.org 5m0s 3 -10 [mail]
}

// Each call defers the waiting job, until there was no call for a minute.
func ExampleClient_Add_debounce() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})

	for range 3 {
		job, err := client.Add(ctx, "reindex", nil, &shim.AddOptions{JobKey: "reindex:7", RunIn: time.Minute})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("job", job.ID, "revision", job.Revision)
	}
	// Output:
	// job 1 revision 0
	// job 1 revision 1
	// job 1 revision 2
}

// Calls within a minute of the first change the payload of the job, not its time.
func ExampleClient_Add_throttle() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})

	opts := &shim.AddOptions{JobKey: "report:7", JobKeyMode: shim.PreserveRunAt, RunIn: time.Minute}
	first, err := client.Add(ctx, "report", map[string]int{"pages": 1}, opts)
	if err != nil {
		log.Fatal(err)
	}
	second, err := client.Add(ctx, "report", map[string]int{"pages": 2}, opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.ID == first.ID, second.RunAt.Equal(first.RunAt))
	// Output: true true
}

// placeOrder inserts the order and adds the job in one transaction.
func placeOrder(ctx context.Context, pool *pgxpool.Pool, client *shim.Client, customer string) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		var order int64
		err := tx.QueryRow(ctx, "insert into orders (customer) values ($1) returning id", customer).Scan(&order)
		if err != nil {
			return err
		}
		if _, err := client.With(tx).Add(ctx, "send_invoice", map[string]int64{"order": order}, nil); err != nil {
			return err
		}
		if customer == "" {
			return errors.New("an order needs a customer")
		}
		return nil
	})
}

func ExampleClient_With() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	const orders = "create table orders (id bigint generated always as identity, customer text)"
	if _, err := pool.Exec(ctx, orders); err != nil {
		log.Fatal(err)
	}
	client := shim.NewClient(pool, shim.ClientConfig{})

	for _, customer := range []string{"Ada", ""} {
		err := placeOrder(ctx, pool, client, customer)
		fmt.Printf("%q is placed: %t\n", customer, err == nil)
	}
	_, err = client.Job(ctx, 2)
	fmt.Println("a second job:", err)
	// Output:
	// "Ada" is placed: true
	// "" is placed: false
	// a second job: look up job 2: job not found
}

// renameCustomer is the same with database/sql.
func renameCustomer(ctx context.Context, db *sql.DB, client *shim.Client, id int64, name string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "update customers set name = $1 where id = $2", name, id); err != nil {
		return err
	}
	if _, err := client.WithSQL(tx).Add(ctx, "reindex", map[string]int64{"customer": id}, nil); err != nil {
		return err
	}
	return tx.Commit()
}

func ExampleClient_WithSQL() {
	defer database()()
	ctx := context.Background()
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "create table customers as select 7 as id, 'Ada' as name"); err != nil {
		log.Fatal(err)
	}
	client := shim.NewSQLClient(db, shim.ClientConfig{})

	if err := renameCustomer(ctx, db, client, 7, "Grace"); err != nil {
		log.Fatal(err)
	}
	job, err := client.Job(ctx, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.TaskIdentifier)
	// Output: reindex
}

func ExampleClient_AddMany() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})

	var specs []shim.JobSpec
	for _, to := range []string{"ada@example.org", "grace@example.org", "ada@example.org"} {
		spec := shim.JobSpec{Task: "send_email", Payload: Email{To: to}}
		spec.JobKey = "welcome:" + to
		specs = append(specs, spec)
	}
	jobs, err := client.AddMany(ctx, specs)
	if err != nil {
		log.Fatal(err)
	}
	for _, job := range jobs {
		fmt.Println(job.ID, job.Key, job.Revision)
	}
	// Output:
	// 1 welcome:ada@example.org 1
	// 2 welcome:grace@example.org 0
	// 1 welcome:ada@example.org 1
}

// Lists that are added before a worker claims the job are joined in one job.
func ExampleClient_AddBatch() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})

	for _, clicks := range [][]string{{"home", "help"}, {"home"}} {
		_, err := client.AddBatch(ctx, "count_clicks", clicks, &shim.AddOptions{JobKey: "clicks"})
		if err != nil {
			log.Fatal(err)
		}
	}
	_, err = client.AddBatch(ctx, "count_clicks", []string{}, nil)
	fmt.Println(err)

	worker, err := shim.New(pool, shim.Config{QuietSuccess: true})
	if err != nil {
		log.Fatal(err)
	}
	shim.Handle(worker, "count_clicks", func(_ context.Context, clicks []string, _ *shim.Job) error {
		fmt.Println(clicks)
		return nil
	})
	if err := worker.RunOnce(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// add job "count_clicks": empty batch
	// [home help home]
}

func ExampleQuickAdd() {
	defer database()()

	job, err := shim.QuickAdd(context.Background(), "", "send_email", Email{To: "ada@example.org"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.TaskIdentifier)
	// Output: send_email
}

// A handler adds jobs by the client of its worker. The key keeps a handler that is repeated from adding another one.
func ExampleWorker_Client() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	worker, err := shim.New(pool, shim.Config{QuietSuccess: true})
	if err != nil {
		log.Fatal(err)
	}

	shim.Handle(worker, "sign_up", func(ctx context.Context, user string, job *shim.Job) error {
		_, err := worker.Client().Add(ctx, "send_email", Email{To: user}, &shim.AddOptions{
			JobKey: fmt.Sprint("send_email:", job.ID),
		})
		return err
	})
	shim.Handle(worker, "send_email", func(_ context.Context, email Email, _ *shim.Job) error {
		fmt.Println("to", email.To)
		return nil
	})

	if _, err := worker.Client().Add(ctx, "sign_up", "ada@example.org", nil); err != nil {
		log.Fatal(err)
	}
	if err := worker.RunOnce(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: to ada@example.org
}

func ExampleUnsupportedKeyModeError() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()

	_, err = shim.NewClient(pool, shim.ClientConfig{}).AddMany(ctx, []shim.JobSpec{
		{Task: "report"},
		{Task: "report", AddOptions: shim.AddOptions{JobKey: "report:7", JobKeyMode: shim.UnsafeDedupe}},
	})
	if refused, ok := errors.AsType[*shim.UnsupportedKeyModeError](err); ok {
		fmt.Println("add spec", refused.Spec, "by Add")
	}
	// Output: add spec 1 by Add
}

// Each refusal of the queue has a code, which docs/errors.md lists.
func ExampleClient_Add_errorCode() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()

	_, err = shim.NewClient(pool, shim.ClientConfig{}).Add(ctx, strings.Repeat("x", 129), nil, nil)
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		fmt.Println(refusal.Code)
	}
	// Output: GWBID
}
