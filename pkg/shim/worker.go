package shim

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/statement"
)

// The errors of [Worker.Run], and the causes for which the context of a handler ends.
var (
	// ErrBreakingMigration is returned by Run and RunOnce if the schema went through a migration that workers of this
	// version do not support. Upgrade the worker.
	ErrBreakingMigration = errors.New("breaking migration")

	// ErrInterrupted is returned by Run and RunOnce if the worker could not wait for every handler: at least one job
	// was interrupted and returned to the queue, and its attempt does not count.
	ErrInterrupted = errors.New("jobs were interrupted")

	// ErrShutdown is the [context.Cause] of a handler's context that ended because the worker has to stop.
	ErrShutdown = errors.New("worker is shutting down")

	// ErrLeaseLost is the [context.Cause] of a handler's context that ended because the worker no longer holds the job:
	// its lock expired or was freed, or the job was deleted. The handler's result is not reported.
	ErrLeaseLost = errors.New("lease lost")

	// ErrCanceled is matched by the [context.Cause] of a handler's context that ended because the job was canceled, as
	// by [Client.Cancel]; its text has the reason. A handler that nevertheless returns nil completes the job; after any
	// error the job has failed permanently.
	ErrCanceled = errors.New("job canceled")
)

// Worker claims jobs, runs their handlers and reports the outcomes. Create it with [New], register handlers, then call
// Run. Its methods may be called from any goroutine.
type Worker struct {
	*host
	cfg Config

	stopping chan struct{} // closed by Stop and Kill
	killing  chan struct{} // closed by Kill
	stop     func()
	kill     func()

	events eventBus

	cronItems   atomic.Pointer[cronItems]
	cronChanged signal
	cronClock   cronClock // the database's, except in a test

	tasks        atomic.Pointer[taskSet]
	tasksChanged signal // for the fetcher
	tasksUnknown signal // for the heartbeat, which registers them in the database

	mu      sync.Mutex    // also held to change tasks
	misuse  []error       // invalid registrations, reported by Run
	running chan struct{} // closed when the present run ends, nil between runs
}

// New returns a worker on a pool, which the caller closes. It reads the crontabs of cfg and does not connect to the
// database; its errors name the invalid fields of cfg.
func New(pool *pgxpool.Pool, cfg Config) (*Worker, error) {
	if pool == nil {
		return nil, errors.New("make worker: no pool")
	}
	cfg, err := cfg.completed()
	items, cronErr := collectCron(cfg.Cron)
	if err := errors.Join(err, cronErr); err != nil {
		return nil, fmt.Errorf("make worker: %w", err)
	}
	w := &Worker{
		host: &host{
			pool: pool, schema: cfg.Schema, workerID: cfg.WorkerID, propagator: cfg.Propagator, logger: cfg.Logger,
			completeAll: statement.In(pgx.Identifier{cfg.Schema}.Sanitize(),
				`select S._gw_complete_all($1::text, $2::bigint[], $3::bigint[], $4::text[]::json[])`),
		},
		cfg:          cfg,
		stopping:     make(chan struct{}),
		killing:      make(chan struct{}),
		tasksChanged: newSignal(),
		tasksUnknown: newSignal(),
		cronChanged:  newSignal(),
	}
	w.tasks.Store(&taskSet{})
	w.cronItems.Store(items)
	w.stop = sync.OnceFunc(func() { close(w.stopping) })
	w.kill = sync.OnceFunc(func() { close(w.killing) })
	return w, nil
}

// ID returns the worker's id, as in locked_by of every job that it holds.
func (w *Worker) ID() string { return w.cfg.WorkerID }

// Client returns a client on the worker's pool and schema, with its propagator. Handlers may use it. A job added by a
// handler stays even if the handler's own job fails, so give it a key if the handler may be repeated.
func (w *Worker) Client() *Client {
	return w.client()
}

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

// Run claims and runs jobs until ctx ends or Stop is called. Then it stops claiming, returns the jobs that have not
// started, waits for running handlers for up to Config.Grace, ends their contexts, and returns when every outcome is
// written.
//
// It returns nil after such a stop, even if ctx has ended; an error matching [ErrInterrupted] if handlers were
// interrupted; one matching [ErrBreakingMigration] if this worker is too old for the schema; or another error that
// prevented it from starting or continuing. A lost database is not an error: the worker tries again until it is
// available.
func (w *Worker) Run(ctx context.Context) error { return w.run(ctx, false) }

// RunOnce runs jobs until none is runnable, including jobs that become runnable in the meantime, and returns. Jobs due
// later, retries among them, are left. It stops early, as Run does, when ctx ends or Stop is called.
func (w *Worker) RunOnce(ctx context.Context) error { return w.run(ctx, true) }

func (w *Worker) run(ctx context.Context, once bool) error {
	w.mu.Lock()
	err := errors.Join(w.misuse...)
	switch {
	case err != nil:
	case len(w.tasks.Load().names) == 0:
		err = errNoHandler
	case w.running != nil:
		err = errors.New("it is already running")
	}
	if err != nil {
		w.mu.Unlock()
		return fmt.Errorf("run worker: %w", err)
	}
	done := make(chan struct{})
	w.running = done
	w.mu.Unlock()

	defer func() {
		w.mu.Lock()
		w.running = nil
		w.mu.Unlock()
		close(done)
	}()
	if w.cfg.HandleSignals {
		defer w.handleSignals()()
	}
	err = newSession(w, once).run(ctx)
	emit(&w.events, WorkerStopped{WorkerID: w.ID(), Err: err})
	watched, cancel := context.WithTimeout(context.WithoutCancel(ctx), hooksTime)
	defer cancel()
	w.events.awaitHooks(watched)
	return err
}

// Stop starts the shutdown described for Run and waits until it is complete or ctx ends; in the latter case it returns
// the error of ctx, and the shutdown continues. A stopped worker cannot run again. Do not call Stop from a handler with
// the handler's own context: the handler would wait for itself.
func (w *Worker) Stop(ctx context.Context) error {
	w.stop()
	w.mu.Lock()
	running := w.running
	w.mu.Unlock()
	if running == nil {
		return nil
	}
	select {
	case <-running:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop worker: %w", context.Cause(ctx))
	}
}

// Kill ends the grace time at once: the contexts of running handlers end, and their jobs are returned. It stops the
// worker if that has not begun, and does not wait.
func (w *Worker) Kill() {
	w.kill()
	w.stop()
}

func newWorkerID() string {
	var id [9]byte
	_, _ = rand.Read(id[:]) // never fails, says its documentation
	return "gw-" + hex.EncodeToString(id[:])
}
