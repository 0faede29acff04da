package shim_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// The attempts of kept tasks that have failed are listed page by page, latest first.
func ExampleClient_ListHistory() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})
	if err := client.KeepTask(ctx, shim.KeptTask{Task: "send_email", KeepFor: 30 * 24 * time.Hour}); err != nil {
		log.Fatal(err)
	}
	worker, err := shim.New(pool, shim.Config{})
	if err != nil {
		log.Fatal(err)
	}
	shim.Handle(worker, "send_email", func(_ context.Context, to string, _ *shim.Job) error {
		return shim.Discard(errors.New("no such user: " + to))
	})
	for _, to := range []string{"ada", "grace", "joan"} {
		if _, err := client.Add(ctx, "send_email", to, nil); err != nil {
			log.Fatal(err)
		}
	}
	if err := worker.RunOnce(ctx); err != nil {
		log.Fatal(err)
	}

	failures := shim.HistoryFilter{Task: "send_email", Failures: true, Since: time.Now().Add(-24 * time.Hour), Limit: 2}
	for {
		page, err := client.ListHistory(ctx, failures)
		if err != nil {
			log.Fatal(err)
		}
		for _, row := range page {
			fmt.Println(row.Attempt.Outcome, row.Attempt.Error)
		}
		if len(page) < failures.Limit {
			break
		}
		failures.After = &page[len(page)-1]
	}
	// Unordered output:
	// permanently_failed no such user: ada
	// permanently_failed no such user: grace
	// permanently_failed no such user: joan
}
