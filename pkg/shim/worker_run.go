package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	ossignal "os/signal"
	"syscall"
)

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
