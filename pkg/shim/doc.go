// Package shim is what a Go program imports to add jobs to a PostgreSQL queue and to work them.
//
// The rules of the queue live in the database: what is runnable, in which order, when a failed attempt is tried again.
// A [Worker] only claims jobs, runs a handler for each, and reports how it went:
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
// The schema must be there before either is of use; gw-migrate or [github.com/gwsql/gw/pkg/migrate] installs it.
//
// # At least once
//
// A job whose handler returned nil is done and gone. It may run again if the worker dies, or loses the database, before
// that was written, so handlers must bear being repeated. An error, or a panic, fails the attempt: the database tries the
// job again after a growing delay until its max_attempts are used up.
//
// # What a handler says
//
// Errors can say more than that: [Discard] fails a job for good, [RetryIn] names the delay, [Snooze] puts the job off
// without counting the attempt, and [Batch] has only those elements of a payload tried again that failed. Delays go to the
// database as delays, so that this machine's clock does not matter. [Timeout] and [Backoff] are options of a task, given
// where its handler is registered; a [Middleware] is around the handlers of all tasks.
//
// # Exactly once
//
// What a handler does in the database of the queue can be committed together with the end of its job: see
// [Job.CompleteTx]. Then it happens exactly once, whatever dies and when.
//
// A handler can also take several jobs at once, and end them by one statement of their transaction: see [Worker.HandleMany]
// and [CompletionOf].
//
// # Watching
//
// The worker logs to Config.Logger, and tells of what it does by values of type [Event], to functions given to [On] and
// to channels of [Worker.Subscribe]. Neither can hold up a job.
//
// # Leaving
//
// When the context of [Worker.Run] ends, or on [Worker.Stop], the worker claims nothing more, returns what has not
// started and waits for the handlers that run. After Config.Grace, or on [Worker.Kill], their contexts end with the cause
// [ErrShutdown]; a handler that then returns an error is interrupted: its job goes back to the queue with the attempt not
// counted. A process needs Config.Grace and at most a minute more to leave.
//
// # Connections
//
// The pool is left to handlers. A worker has connections of its own beside it, made like the pool's: one for LISTEN, and
// up to six by which it claims, reports, sends its heartbeat, sweeps and looks after recurring jobs; never more than the
// pool may have, and one while it is idle. A client needs one of its pool for each call at a time.
package shim
