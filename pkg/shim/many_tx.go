package shim

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// ManyTxHandler runs several jobs of one task in a transaction that the worker commits together with the completion of all
// of them. A nil error completes all; after an error or a panic nothing of the call is kept.
//
// The context ends as that of a [ManyHandler] does, and also when one of the jobs is canceled or lost.
type ManyTxHandler func(ctx context.Context, tx pgx.Tx, jobs []*Job) error

// HandleManyTx registers a handler that runs several jobs of a task in one transaction: those that are waiting in this
// worker for one of its executors, up to most, in the order in which they were claimed. As for [Worker.HandleMany], there
// are several only while jobs arrive faster than they complete. It is for tasks of which one statement can do the work of many
// jobs, such as an insert of many rows. The jobs share one commit, too.
//
// All jobs of a call complete or none. If a call for several jobs fails, by an error, a panic or its commit, its writes are
// rolled back, and the handler is called again for each of the jobs alone, in a slice of one, with a transaction and a
// [Timeout] of its own. What it returns then means what it means for a [Handler]. So a job that fails does not fail its
// neighbours, and no attempt counts twice; but effects outside of the transaction, such as requests to other services, happen
// again. If one of the jobs is canceled or lost meanwhile, the call is rolled back, and the others run again without it.
//
// For the transaction applies what [TxHandler] says. Results that the handler sets by [Job.SetResult] are kept by it.
// Middleware is called as for HandleMany; a job that it does not pass on has the outcome that it returns.
//
// Use [Worker.HandleTx] if each job needs a transaction of its own, as one that uses temporary tables does, and HandleMany with
// [CompletionOf] if some jobs of a call may fail while others complete, or if the handler needs to begin the transaction itself.
func (w *Worker) HandleManyTx(name string, most int, fn ManyTxHandler, options ...TaskOption) {
	w.handle(Task{Name: name, ManyTx: fn, Most: most, Options: options})
}

// HandleManyTx registers fn as [Worker.HandleManyTx] does, and decodes each job's JSON payload into a T; payloads[i] is
// that of jobs[i]. A payload that cannot be decoded fails its job.
func HandleManyTx[T any](
	w *Worker, task string, most int, fn func(ctx context.Context, tx pgx.Tx, payloads []T, jobs []*Job) error, options ...TaskOption,
) {
	w.HandleManyTx(task, most, TypedManyTx(fn), options...)
}

// TypedManyTx returns the handler that [HandleManyTx] registers, or nil if fn is nil. It is meant for tests of handlers.
func TypedManyTx[T any](fn func(ctx context.Context, tx pgx.Tx, payloads []T, jobs []*Job) error) ManyTxHandler {
	if fn == nil {
		return nil
	}
	return func(ctx context.Context, tx pgx.Tx, jobs []*Job) error {
		payloads := make([]T, len(jobs))
		for i, job := range jobs {
			if err := json.Unmarshal(job.Payload, &payloads[i]); err != nil {
				return fmt.Errorf("decode payload of job %d: %w", job.ID, err)
			}
		}
		return fn(ctx, tx, payloads, jobs)
	}
}

// handler returns the handler that passes the transaction of its jobs, so that middleware applies inside the transaction.
func (h ManyTxHandler) handler() ManyHandler {
	return func(ctx context.Context, jobs []*Job) []error {
		own, err := ownOf(jobs)
		if err != nil {
			return slices.Repeat([]error{err}, len(jobs))
		}
		tx := own[0].hold.tx
		tx.jobs = own
		err = tx.try(ctx, func(tx pgx.Tx) error { return h(ctx, tx, jobs) })
		return slices.Repeat([]error{err}, len(jobs))
	}
}
