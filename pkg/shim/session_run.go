package shim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/sqlstate"
)

func (s *session) run(ctx context.Context) error {
	// Work in progress when ctx ends is still finished in order, so nothing below depends on ctx itself.
	base := context.WithoutCancel(ctx)
	own, err := connection.OwnPool(base, s.worker.pool, ownConnections)
	if err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	defer own.Close()
	s.queries.pool = own
	listens := s.listens() && s.worker.cfg.ListenConfig == nil
	if err := connection.CheckPooler(ctx, own, s.connectLikePool, listens); err != nil {
		return fmt.Errorf("start worker: %w", err)
	}

	claiming, stop := context.WithCancelCause(base)
	defer stop(errStopped)
	keeper := s.newKeeper(stop)
	heartbeater := s.newHeartbeater(keeper)
	if enrolled, err := s.enroll(ctx, keeper, heartbeater); !enrolled {
		return err
	}

	keeping, stopKeeping := context.WithCancel(base)
	defer stopKeeping()
	var background sync.WaitGroup
	background.Go(func() { keeper.run(keeping) })
	background.Go(func() { heartbeater.run(keeping) })
	if s.listens() {
		background.Go(func() { s.newListener().run(claiming) })
	}
	if !s.once {
		background.Go(func() { s.newCron(stop).run(claiming) })
	}
	fetcher, finisher := s.newFetcher(stop), s.newFinisher(stop)
	finish := s.startFinisher(base, finisher)

	s.work(ctx, claiming, stop, fetcher)

	finish()
	stopKeeping()
	background.Wait()
	s.leave(base, fetcher.lost.pending() || finisher.unwritten+finisher.refused > 0)
	return s.result(context.Cause(claiming), finisher)
}

// enroll registers the worker and sends its first heartbeat. It waits for a server that takes writes. It returns false
// if that failed or if the worker was told to stop before it began, which is not an error.
func (s *session) enroll(ctx context.Context, keeper *keeper, heartbeater *heartbeater) (enrolled bool, err error) {
	tasks := s.worker.tasks.Load().names
	enrolling, release := s.untilStopped(ctx)
	defer release()
	var retry connection.Backoff
	for {
		err = keeper.start(enrolling)
		if err == nil {
			_, err = heartbeater.beat(enrolling)
		}
		if !sqlstate.IsReadOnly(err) || !retry.Wait(enrolling) {
			break
		}
	}
	if err != nil && errors.Is(enrolling.Err(), context.Canceled) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("start worker: %w", connection.Advised(err))
	}
	s.logger.Info("worker started", "tasks", tasks, "concurrency", s.worker.cfg.Concurrency)
	emit(s.events, WorkerStarted{WorkerID: s.worker.ID(), Tasks: tasks, Concurrency: s.worker.cfg.Concurrency})
	return true, nil
}

// startFinisher starts the finisher. The function that it returns is called when no outcome will follow, and waits
// until all are written, for no longer than finishTimeout.
func (s *session) startFinisher(ctx context.Context, finisher *finisher) (finish func()) {
	writing, stopWriting := context.WithCancel(ctx)
	written := make(chan struct{})
	go func() {
		defer close(written)
		finisher.run(writing)
	}()
	return func() {
		close(s.outcomes)
		giveUp := time.AfterFunc(finishTimeout, stopWriting)
		<-written
		giveUp.Stop()
		stopWriting()
	}
}

// result returns the errors of a session that has ended for this cause.
func (s *session) result(cause error, finisher *finisher) error {
	var errs []error
	if !errors.Is(cause, errStopped) {
		errs = append(errs, fmt.Errorf("run worker: %w", connection.Advised(cause)))
	}
	if n := finisher.unwritten + finisher.left; n > 0 {
		errs = append(errs, fmt.Errorf("run worker: outcomes of %d jobs were not written", n))
	}
	if n := finisher.interrupted; n > 0 {
		errs = append(errs, fmt.Errorf("run worker: %w: %d of them", ErrInterrupted, n))
	}
	err := errors.Join(errs...)
	if finisher.unwritten+finisher.left+finisher.interrupted > 0 {
		emit(s.events, ShutdownFailed{Err: err})
	}
	return err
}

// untilStopped returns a context that also ends when the worker is told to stop.
func (s *session) untilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-s.worker.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// work claims and executes jobs until the worker is told to stop and the last handler has returned or was given up.
func (s *session) work(ctx, claiming context.Context, stop context.CancelCauseFunc, fetcher *fetcher) {
	handling, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(ErrShutdown)

	var working sync.WaitGroup
	working.Go(func() {
		fetcher.run(claiming)
		stop(errStopped)
	})
	s.crew.handling = handling
	s.startExecutors(&working)
	drained := make(chan struct{})
	go func() {
		working.Wait()
		close(drained)
	}()

	s.awaitStop(ctx, claiming)
	stop(errStopped)
	s.drain(drained, cut)
}

// startExecutors starts as many executors as the concurrency.
func (s *session) startExecutors(working *sync.WaitGroup) {
	for i := range s.worker.cfg.Concurrency {
		e := s.crew.newExecutor(func() {
			emit(s.events, ExecutorStopped{Executor: i})
			working.Done()
		})
		working.Add(1)
		go func() {
			emit(s.events, ExecutorStarted{Executor: i})
			e.run()
		}()
	}
}

// awaitStop waits until the worker is told to stop, a loop has failed, or RunOnce has nothing left to do.
func (s *session) awaitStop(ctx, claiming context.Context) {
	select {
	case <-ctx.Done():
		emit(s.events, StopRequested{})
	case <-s.worker.stopping:
		emit(s.events, StopRequested{})
	case <-claiming.Done():
		if cause := context.Cause(claiming); !errors.Is(cause, errStopped) {
			emit(s.events, WorkerFailed{Err: cause})
		}
	}
}

// drain waits until the executors have nothing left to do. Running handlers have the grace period; then their contexts
// end, and after abandonTime their jobs are returned to the queue without waiting for them.
func (s *session) drain(drained <-chan struct{}, cut context.CancelCauseFunc) {
	s.logger.Info("worker is stopping", "grace", s.worker.cfg.Grace.String())
	emit(s.events, ShutdownStarted{Grace: max(s.worker.cfg.Grace, 0)})
	for i := range s.worker.cfg.Concurrency {
		emit(s.events, ExecutorReleased{Executor: i})
	}

	select {
	case <-drained:
		return
	case <-s.worker.killing:
	case <-time.After(s.worker.cfg.Grace):
	}
	s.logger.Warn("grace period is over, running jobs are interrupted")
	emit(s.events, ShutdownForced{})
	cut(ErrShutdown)

	select {
	case <-drained:
		return
	case <-time.After(s.abandonTime):
	}
	s.logger.Error("handlers did not return after their contexts ended, their jobs are returned to the queue")
	for _, e := range s.crew.executors {
		e.abandon()
	}
	<-drained
}

// leave deregisters the worker. At this point the worker knows of no job that it holds; jobs that are still locked in
// its name are freed.
func (s *session) leave(ctx context.Context, orphaned bool) {
	ctx, cancel := context.WithTimeout(ctx, deregisterTimeout)
	defer cancel()
	if orphaned {
		if err := s.queries.unlock(ctx); err != nil {
			// It stays registered, so that other workers detect its death and recover its jobs.
			s.logger.Error("jobs of the worker could not be unlocked, another worker will recover them", "error", err)
			return
		}
	}
	if err := s.queries.deregister(ctx); err != nil {
		s.logger.Warn("worker could not be deregistered", "error", err)
	}
	s.logger.Info("worker stopped")
}
