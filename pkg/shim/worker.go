package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	ossignal "os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/statement"
)

// Worker claims jobs, runs their handlers and reports the outcomes. Create it with [New], register handlers, then call
// Run. Its methods may be called from any goroutine.
type Worker struct {
	*host
	cfg Config

	stopping context.Context // ended by Stop and Kill
	killing  context.Context // ended by Kill
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
		cfg: cfg, tasksChanged: newSignal(), tasksUnknown: newSignal(), cronChanged: newSignal(),
		cronClock: cronClock{now: func() *time.Time { return nil }, after: time.After},
	}
	w.tasks.Store(&taskSet{})
	w.cronItems.Store(items)
	w.stopping, w.stop = context.WithCancel(context.Background())
	w.killing, w.kill = context.WithCancel(context.Background())
	return w, nil
}

// ID returns the worker's id, as in locked_by of every job that it holds.
func (w *Worker) ID() string { return w.cfg.WorkerID }

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

// handleSignals makes the first signal call Stop and the second one Kill, until release is called.
func (w *Worker) handleSignals() (release func()) {
	signals := make(chan os.Signal, 2)
	ossignal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for _, react := range []func(){w.stop, w.Kill} {
			select {
			case received := <-signals:
				w.ownLogger().Info("stop requested", "signal", received.String())
				react()
			case <-done:
				return
			}
		}
	}()
	return func() {
		ossignal.Stop(signals)
		close(done)
	}
}

// On calls fn with every further event of type E; with E = [Event], with every event. The calls are made in a goroutine
// of their own, one after the other and in order. [Worker.Run] and [Worker.RunOnce] return after the calls for all
// events, but wait at most five seconds for them.
//
// A slow fn delays only itself: when 10 000 events are waiting for it, further ones are dropped and counted. If fn
// panics, the panic is logged, and fn is called with the next event. fn may call [Worker.Kill], but must not wait for
// the worker to stop.
func On[E Event](w *Worker, fn func(E)) *Hook {
	h := &Hook{
		bus:    &w.events,
		isMine: func(e Event) bool { _, ok := e.(E); return ok },
		call:   func(e Event) { fn(e.(E)) },
		logger: w.ownLogger(),
	}
	w.events.add(h)
	return h
}

// Subscribe returns a stream of the worker's events, before, during and after its runs. The worker never waits for the
// reader: if buffer events are unread, further ones are dropped and counted. A busy worker emits four events per job,
// so a buffer of some thousands tolerates a reader that pauses for a moment. A buffer below 1 becomes 1.
//
// Close the subscription when it is no longer needed.
func (w *Worker) Subscribe(buffer int) *Subscription {
	s := &Subscription{bus: &w.events, events: make(chan Event, max(buffer, 1))}
	w.events.add(s)
	return s
}
