package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

// batchCaller calls a function for several jobs, in a transaction that also completes them.
type batchCaller struct {
	function
	call    string
	timeout time.Duration
	log     *slog.Logger
}

var errResults = errors.New("the wrong number of results")

// run calls the function for jobs. What it does wrong for several jobs is logged, because each of them runs alone after that and may
// succeed.
func (b *batchCaller) run(ctx context.Context, tx pgx.Tx, jobs []*shim.Job) error {
	err := b.callFor(ctx, tx, jobs)
	if len(jobs) > 1 && ctx.Err() == nil && (sqlstate.Of(err) != "" || errors.Is(err, errResults)) {
		b.log.Warn("call for several jobs failed, each of them runs alone",
			"task_identifier", jobs[0].TaskIdentifier, "jobs", len(jobs), "error", err)
	}
	return err
}

func (b *batchCaller) callFor(ctx context.Context, tx pgx.Tx, jobs []*shim.Job) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeFor(1, b.timeout), errTimeout)
	defer cancel()
	texts, err := b.texts(jobs)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, bound(b.timeout)); err != nil {
		return b.failed(err)
	}
	if b.Answer == returnsNothing {
		if _, err := tx.Exec(ctx, b.call, texts); err != nil {
			return b.failed(err)
		}
		return nil
	}
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	var results int
	if err := tx.QueryRow(ctx, b.call, texts, ids).Scan(&results, nil); err != nil {
		return b.failed(err)
	}
	if results != len(jobs) {
		return fmt.Errorf("%s returned %w: %d for an array of %d; it must return one for each element in their order, or void",
			b.Name, errResults, results, len(jobs))
	}
	return nil
}

// texts returns the elements of the function's array: the descriptions of the jobs, or their payloads.
func (b *batchCaller) texts(jobs []*shim.Job) ([]string, error) {
	texts := make([]string, len(jobs))
	var described request
	var line bytes.Buffer
	for i, job := range jobs {
		texts[i] = string(job.Payload)
		if !b.TakesJobs {
			continue
		}
		line.Reset()
		if err := described.write(&line, job); err != nil {
			return nil, err
		}
		texts[i] = string(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
	}
	return texts, nil
}
