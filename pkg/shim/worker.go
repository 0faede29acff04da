package shim

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/statement"
)

var (
	// ErrBreakingMigration is returned by Run and RunOnce when the schema went through a migration that workers of this
	// version must not work with. Upgrade the worker.
	ErrBreakingMigration = errors.New("breaking migration")

	// ErrInterrupted is returned by Run and RunOnce when the worker could not wait for every handler: at least one job was
	// interrupted and returned to the queue, its attempt not counted.
	ErrInterrupted = errors.New("jobs were interrupted")

	// ErrShutdown is the [context.Cause] of a handler's context that ended because the worker has to leave.
	ErrShutdown = errors.New("worker is shutting down")

	// ErrLeaseLost is the [context.Cause] of a handler's context that ended because the worker does not hold the job any
	// more: its lock expired or was freed, or the job is gone. Nothing that the handler returns is reported.
	ErrLeaseLost = errors.New("lease lost")

	// ErrCanceled is matched by the [context.Cause] of a handler's context that ended because somebody canceled the job, as
	// [Client.Cancel] does; its text has the reason. A handler that returns nil all the same has completed the job; after
	// any error the job has failed for good.
	ErrCanceled = errors.New("job canceled")
)

// Worker claims jobs, runs their handlers and reports how they went. Make it with [New], register handlers, then call
// Run. Its methods may be called from any goroutine.
type Worker struct {
	pool *pgxpool.Pool
	cfg  Config

	completeAll string     // the statement of a Completion
	schemaKind  schemaKind // for its clients

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
	tasksUnknown signal // for the beat, which tells the database

	mu      sync.Mutex    // also held to change tasks
	misuse  []error       // wrong registrations, reported by Run
	running chan struct{} // closed when the present run ends, nil between runs
}

// New makes a worker on a pool, which stays the caller's to close. It reads the crontabs of cfg and does not touch the
// database; its errors name the fields of cfg that cannot be.
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
		pool: pool,
		cfg:  cfg,
		completeAll: statement.In(pgx.Identifier{cfg.Schema}.Sanitize(),
			`select S._gw_complete_all($1::text, $2::bigint[], $3::bigint[])`),
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

// ID returns the worker's id, which is in locked_by of every job it holds.
func (w *Worker) ID() string { return w.cfg.WorkerID }

// Handle registers the handler of a task. It must be called before the worker runs; [Worker.SetTasks] may be called
// later, too. Jobs of tasks without a handler stay in the queue for others. An empty name, a nil handler, a second handler
// for a task or an option that cannot be make Run return an error.
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

// logger returns the logger for what the worker itself has to say.
func (w *Worker) logger() *slog.Logger {
	return w.cfg.Logger.With("label", "worker", "worker_id", w.cfg.WorkerID)
}

// Run works jobs until ctx ends or Stop is called, then stops claiming, returns the jobs that have not started, waits
// for running handlers as long as Config.Grace, ends their contexts, and leaves when every outcome is written.
//
// It returns nil after such a stop, even if ctx has ended; an error matching [ErrInterrupted] if handlers had to be cut;
// one matching [ErrBreakingMigration] if this worker is too old for the schema; or what else made it impossible to start
// or go on. Losing the database later is none of these: the worker tries again until it is back.
func (w *Worker) Run(ctx context.Context) error { return w.run(ctx, false) }

// RunOnce works jobs until none is runnable, jobs that become runnable meanwhile included, and returns. Jobs due later,
// retries among them, are left. It ends early, and then as Run does, when ctx ends or Stop is called.
func (w *Worker) RunOnce(ctx context.Context) error { return w.run(ctx, true) }

func (w *Worker) run(ctx context.Context, once bool) error {
	w.mu.Lock()
	err := errors.Join(w.misuse...)
	switch {
	case err != nil:
	case len(w.tasks.Load().names) == 0:
		err = errNoHandler
	case w.running != nil:
		err = errors.New("it is running already")
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

// Stop begins the stop that Run describes and waits until it is done or ctx ends, whose error it then returns; the stop
// goes on. A stopped worker does not run again. Do not call it with a handler's own context and wait: the handler would
// wait for itself.
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

// Kill ends the grace time now: the contexts of running handlers end, their jobs are returned. It stops the worker if
// that has not begun, and does not wait.
func (w *Worker) Kill() {
	w.kill()
	w.stop()
}

func newWorkerID() string {
	var id [9]byte
	_, _ = rand.Read(id[:]) // never fails, says its documentation
	return "gw-" + hex.EncodeToString(id[:])
}
