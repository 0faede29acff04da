// Package shim adds jobs to a PostgreSQL job queue and runs them in Go programs.
//
// The rules of the queue are in the database: which jobs are runnable, in which order, and when a failed attempt is
// tried again. A [Worker] claims jobs, runs a handler for each, and reports the outcomes:
//
//	worker, err := shim.New(pool, shim.Config{Concurrency: 10})
//	if err != nil {
//		return err
//	}
//	shim.Handle(worker, "send_email", func(ctx context.Context, email Email, job *shim.Job) error {
//		return send(ctx, email)
//	})
//	return worker.Run(ctx)
//
// A [Client] adds jobs, on a pool, a connection or the caller's own transaction, of pgx or of database/sql:
//
//	client := shim.NewClient(pool, shim.ClientConfig{})
//	_, err := client.With(tx).Add(ctx, "send_email", Email{To: "ada@example.org"}, nil)
//
// Both need the schema of the queue, which gw-migrate or [github.com/gwsql/gw/pkg/migrate] installs.
//
// # At least once
//
// A job whose handler returned nil is completed and deleted. It may run again if the worker dies, or loses the
// database, before that is written, so handlers must be repeatable. An error or a panic fails the attempt: the database
// tries the job again after a growing delay until its max_attempts are used up.
//
// # Outcomes of a handler
//
// A handler can return errors that set the outcome: [Discard] fails a job permanently, [RetryIn] sets the delay of the
// retry, [Snooze] defers the job without counting the attempt, [RateLimited] also defers the other jobs of its limits,
// and [Batch] retries only the failed elements of a payload. Delays are sent to the database as delays, so this
// machine's clock does not matter. [Timeout] and [Backoff] are options of a task, given where its handler is
// registered; a [Middleware] wraps the handlers of all tasks.
//
// # Exactly once
//
// What a handler does in the database of the queue can be committed together with the completion of its job. Then it
// happens exactly once, even if any process dies at any time. [HandleTx] registers a handler that is given a
// transaction for each job, and [HandleManyTx] one that is given a transaction for several jobs, which is faster. A
// handler that begins its transactions itself completes a job by [Job.CompleteTx], or several by [CompletionOf]. If a
// connection is lost, the worker asks the database whether the transaction was committed; see [Handler].
//
// # Observability
//
// The worker logs to Config.Logger, and emits values of type [Event] to functions given to [On] and to channels of
// [Worker.Subscribe]. None of these can delay a job.
//
// # Shutdown
//
// When the context of [Worker.Run] ends, or on [Worker.Stop], the worker claims nothing more, returns the jobs that
// have not started and waits for running handlers. After Config.Grace, or on [Worker.Kill], their contexts end with the
// cause [ErrShutdown]; the job of a handler that then returns an error is returned to the queue, and the attempt does
// not count. A process needs Config.Grace and at most a minute more to stop.
//
// # Connections
//
// Handlers use the pool. A worker has connections of its own in addition, with the configuration of the pool: one for
// LISTEN, and up to six for claims, outcomes, heartbeats, the sweep and recurring jobs; never more than the pool may
// have, and one while it is idle. A client needs one connection of its pool per concurrent call.
package shim
