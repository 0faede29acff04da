package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/crontab"
)

// Handle registers the handler of a task. It must be called before the worker runs; [Worker.SetTasks] may be called
// later, too. Jobs of tasks without a handler stay in the queue for other workers. An empty name, a nil handler, a
// second handler for a task or an invalid option makes Run return an error.
func (w *Worker) Handle(name string, h Handler, options ...TaskOption) {
	w.handle(Task{Name: name, Handler: h, Options: options})
}

func (w *Worker) handle(t Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	set, err := w.tasks.Load().with(t, w.cfg)
	if err != nil {
		w.misuse = append(w.misuse, err)
		return
	}
	w.tasks.Store(set)
}

// Handle registers fn for a task and decodes each job's JSON payload into a T. A payload that cannot be decoded fails
// the attempt. Like [Worker.Handle], Handle must be called before the worker runs.
func Handle[T any](w *Worker, task string, fn func(ctx context.Context, payload T, job *Job) error,
	options ...TaskOption) {
	w.Handle(task, Typed(fn), options...)
}

// HandleEach registers fn for a task whose payloads are arrays of T. It calls fn for one element after the other, and
// elements for which fn returns an error are tried again, as described for [Batch]. A panic counts as an error. After
// the context has ended, fn is no longer called, and the remaining elements count as failed. Like [Worker.Handle],
// HandleEach must be called before the worker runs.
func HandleEach[T any](w *Worker, task string, fn func(ctx context.Context, element T, job *Job) error,
	options ...TaskOption) {
	if fn == nil {
		w.Handle(task, nil, options...)
		return
	}
	Handle(w, task, func(ctx context.Context, elements []json.RawMessage, job *Job) error {
		errs := make([]error, len(elements))
		for i, text := range elements {
			errs[i] = handleElement(ctx, text, job, fn)
		}
		return Batch(errs)
	}, options...)
}

// HandleResult registers fn for a task as [Handle] does. The R that fn returns is the result of the job: it is stored
// if the producer has asked for it, as [AddAndWait] does, or if the task keeps results; see [Client.KeepTask]. The R of
// a call that returns an error is ignored.
func HandleResult[T, R any](w *Worker, task string, fn func(ctx context.Context, payload T,
	job *Job) (R, error), options ...TaskOption) {
	w.Handle(task, TypedResult(fn), options...)
}

// Client returns a client on the worker's pool and schema, with its propagator. Handlers may use it. A job added by a
// handler stays even if the handler's own job fails, so give it a key if the handler may be repeated.
func (w *Worker) Client() *Client {
	return w.client()
}

// HandleTx registers a handler that writes to the database of the queue by a transaction of the worker: everything that
// it writes by tx is done exactly once, because it is committed together with the completion of its job.
//
// If the connection of tx is lost, also while a statement of the handler runs, or cannot be had, the attempt does not
// count, whatever the handler returns; see [Handler].
//
// A running handler that uses tx holds a connection of the pool. It should not take another one.
//
// Use [Worker.HandleManyTx] for jobs that can share a transaction, and [Job.CompleteTx] if the handler needs to begin
// its transaction itself, for example at another isolation level.
func (w *Worker) HandleTx(name string, fn TxHandler, options ...TaskOption) {
	w.handle(Task{Name: name, Tx: fn, Options: options})
}

// HandleTx registers fn as [Worker.HandleTx] does, and decodes each job's JSON payload into a T. A payload that cannot
// be decoded fails the attempt.
func HandleTx[T any](
	w *Worker, task string, fn func(ctx context.Context, tx pgx.Tx, payload T, job *Job) error, options ...TaskOption,
) {
	w.HandleTx(task, TypedTx(fn), options...)
}

// HandleMany registers a handler that runs several jobs of a task at once: those that are waiting in this worker for
// one of its executors, up to most. There are several only while jobs arrive faster than they complete, and take less
// than 50 ms each, or less than a claim. They count as one for Config.Concurrency. In logs and events each job has its
// share of the time.
//
// The handler may complete jobs in transactions of its own, by [CompletionOf]. If one transaction is enough,
// [Worker.HandleManyTx] is
// simpler: the worker begins and commits it, and runs each job alone if that fails.
//
// Middleware is called once for each of the jobs, nested, around the one call of the handler. Values that it puts into
// its context do not reach the handler.
func (w *Worker) HandleMany(name string, most int, fn ManyHandler, options ...TaskOption) {
	w.handle(Task{Name: name, Many: fn, Most: most, Options: options})
}

// HandleManyTx registers a handler that runs several jobs of a task in one transaction: those that are waiting in this
// worker for one of its executors, up to most, in the order in which they were claimed. As for [Worker.HandleMany],
// there are several only while jobs arrive faster than they complete. It is for tasks of which one statement can do the
// work of many jobs, such as an insert of many rows. The jobs share one commit, too.
//
// All jobs of a call complete or none. If a call for several jobs fails, by an error, a panic or its commit, its writes
// are rolled back, and the handler is called again for each of the jobs alone, in a slice of one, with a transaction
// and a [Timeout] of its own. What it returns then means what it means for a [Handler]. So a job that fails does not
// fail its neighbours, and no attempt counts twice; but effects outside of the transaction, such as requests to other
// services, happen again. If one of the jobs is canceled or lost meanwhile, the call is rolled back, and the others run
// again without it.
//
// For the transaction applies what [TxHandler] says. Results that the handler sets by [Job.SetResult] are kept by it.
// Middleware is called as for HandleMany; a job that it does not pass on has the outcome that it returns.
//
// Use [Worker.HandleTx] if each job needs a transaction of its own, as one that uses temporary tables does, and
// HandleMany with [CompletionOf] if some jobs of a call may fail while others complete, or if the handler needs to
// begin the transaction itself.
func (w *Worker) HandleManyTx(name string, most int, fn ManyTxHandler, options ...TaskOption) {
	w.handle(Task{Name: name, ManyTx: fn, Most: most, Options: options})
}

// HandleManyTx registers fn as [Worker.HandleManyTx] does, and decodes each job's JSON payload into a T; payloads[i] is
// that of jobs[i]. A payload that cannot be decoded fails its job.
func HandleManyTx[T any](
	w *Worker, task string, most int, fn func(ctx context.Context, tx pgx.Tx, payloads []T, jobs []*Job) error,
	options ...TaskOption,
) {
	w.HandleManyTx(task, most, TypedManyTx(fn), options...)
}

// SetTasks replaces all handlers registered by Handle or by an earlier SetTasks. Its error lists all problems of the
// new ones; in that case the previous ones stay. There must be at least one task.
//
// A running worker uses the new tasks at once: a running handler continues, and the next job of its task uses the new
// one. Jobs claimed for a task that no longer exists are returned to the queue, and their attempts do not count.
func (w *Worker) SetTasks(tasks ...Task) error {
	set := &taskSet{}
	var problems []error
	for _, t := range tasks {
		next, err := set.with(t, w.cfg)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		set = next
	}
	if len(tasks) == 0 {
		problems = append(problems, errNoHandler)
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("set tasks: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.misuse = nil
	w.tasks.Store(set)
	w.tasksChanged.set()
	w.tasksUnknown.set()
	return nil
}

// SetCron replaces the recurring jobs of Config.Cron. Its error lists all problems of the new ones; in that case the
// previous ones stay. A running worker uses the new ones at once. Before that it adds the jobs due by the previous
// ones, including those missed while the database was unavailable. Items that the database has are backfilled as at the
// start. If the database refuses an item, for example because of an unknown time zone, the worker logs that and keeps
// the previous ones.
func (w *Worker) SetCron(sources ...crontab.Source) error {
	items, err := collectCron(sources)
	if err != nil {
		return fmt.Errorf("set cron: %w", err)
	}
	w.cronItems.Store(items)
	w.cronChanged.set()
	return nil
}
