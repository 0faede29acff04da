package shim_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/shim"
)

// The first attempt fails after its first step. The second one does not charge the customer again.
func ExampleStep() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	worker.Handle("order", func(ctx context.Context, job *shim.Job) error {
		charge, err := shim.Step(ctx, job, "charge", func(context.Context) (string, error) {
			fmt.Println("charging")
			return "ch_17", nil
		})
		if err != nil {
			return err
		}
		_, err = shim.Step(ctx, job, "ship", func(context.Context) (string, error) {
			fmt.Println("shipping the order paid by", charge)
			if job.Attempts == 1 {
				return "", shim.RetryIn(0, errors.New("no truck"))
			}
			return "parcel 4", nil
		})
		return err
	})
	addAndRun(worker, "order", nil)
	// Output:
	// charging
	// shipping the order paid by ch_17
	// shipping the order paid by ch_17
	// the job is done
}

// What the step writes is committed together with the step.
func ExampleStepTx() {
	worker, pool, done := exampleWorker(shim.Config{})
	defer done()
	worker.Handle("order", func(ctx context.Context, job *shim.Job) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			_, err := shim.StepTx(ctx, job, tx, "book", func(ctx context.Context) (int, error) {
				var line int
				err := tx.QueryRow(ctx, `select 7`).Scan(&line) // insert into ledger ... returning line
				return line, err
			})
			return err
		})
	})
	addAndRun(worker, "order", nil)
	// Output: the job is done
}

// The progress of a running job appears in gw-run show, gw-run why and the console.
func ExampleJob_Progress() {
	worker, _, done := exampleWorker(shim.Config{})
	defer done()
	worker.Handle("import", func(ctx context.Context, job *shim.Job) error {
		const rows = 3
		for row := range rows {
			if err := job.Progress(100*float64(row)/rows, fmt.Sprintf("row %d of %d", row+1, rows)); err != nil {
				return err
			}
		}
		return nil
	})
	addAndRun(worker, "import", nil)
	// Output: the job is done
}
