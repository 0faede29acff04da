package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/build"
	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

const (
	// ownConnections is the number of connections on which a worker calls the database, so that none of its calls waits
	// for one that a handler holds: one for claims and a second one in a flood, one for outcomes, one for heartbeats,
	// one for the sweep, which is slow in a large table, and one for recurring jobs, which is slow after an outage. An
	// idle worker needs one at a time.
	ownConnections = 6
	// abandonTime is how long handlers may continue after their contexts ended before their jobs are returned without
	// them.
	abandonTime = 10 * time.Second
	// finishTimeout is how long a stopping worker tries to write the last outcomes.
	finishTimeout = 15 * time.Second
	// deregisterTimeout is how long it tries to deregister.
	deregisterTimeout = 5 * time.Second
)

// errStopped ends a session without an error.
var errStopped = errors.New("stopped")

// session is one run of a worker: its loops and the channels between them.
//
//	listener ──wake──▶ fetcher ◀──backlog──▶ executors ──outcomes──▶ finisher
//	                      ▲                                             │
//	                      └───────────────────settled───────────────────┘
//
// The fetcher counts the jobs in flight and claims no more than the channel outcomes can hold, so no send blocks.
type session struct {
	loop   // what its loops have in common
	worker *Worker
	once   bool

	notices  *notices
	backlog  *backlog
	crew     *crew
	outcomes chan outcome
	settled  chan settlement
	advice   adviceBox

	abandonTime time.Duration // the constant, except in a test
}

func newSession(w *Worker, once bool) *session {
	logger := w.ownLogger()
	held := w.cfg.Concurrency + ration.MaxAhead + maxUnwritten
	s := &session{
		worker: w, once: once,
		loop: loop{logger: logger, events: &w.events, queries: &queries{
			schema: pgx.Identifier{w.cfg.Schema}.Sanitize(), workerID: w.cfg.WorkerID, worker: w.host,
			readOnly: &readOnly{logger: logger, moved: newSignal()},
			outage: &connection.Outage{
				Logger: logger, Gone: "database cannot be reached, worker will try again",
				Back: "database can be reached again",
			},
		}},
		notices: newNotices(), backlog: newBacklog(ration.New(w.cfg.Concurrency, w.cfg.QueueBatch)),
		outcomes: make(chan outcome, held), settled: make(chan settlement, held), advice: newAdviceBox(),
		abandonTime: abandonTime,
	}
	s.crew = &crew{
		tasks: &w.tasks, backlog: s.backlog, pool: w.pool, outcomes: s.outcomes, events: s.events,
		canceled: &cancellations{queries: s.queries},
	}
	return s
}

func (s *session) listens() bool { return !s.once && !s.worker.cfg.PollOnly }

func (s *session) newCron() *cron {
	return &cron{
		loop: s.loop, offered: &s.worker.cronItems, changed: s.worker.cronChanged, clock: s.worker.cronClock,
	}
}

func (s *session) newListener() *listener {
	lost := s.queries.outage              // to which the listening connection reports its loss
	if s.worker.cfg.ListenConfig != nil { // with another address than the other connections
		lost = &connection.Outage{Logger: s.logger}
		lost.Gone, lost.Back = "listening connection failed, worker will connect again", "listening again"
	}
	return &listener{
		loop: s.loop, notices: s.notices, connect: s.connect, moved: s.queries.readOnly.moved, outage: lost,
	}
}

func (s *session) newFetcher() *fetcher {
	cfg := s.worker.cfg
	f := newFetcher(&intake{
		loop: s.loop, tasks: &s.worker.tasks, backlog: s.backlog, outcomes: s.outcomes, once: s.once,
		forbidden: forbiddenFlags{list: cfg.ForbiddenFlags, fn: cfg.ForbiddenFlagsFunc},
		sleep:     newSleep(s.queries, cfg.PollInterval, s.listens()),
	})
	f.notices, f.changed, f.settled, f.advice = s.notices, s.worker.tasksChanged, s.settled, s.advice
	return f
}

func (s *session) connect(ctx context.Context) (*pgx.Conn, error) {
	if config := s.worker.cfg.ListenConfig; config != nil {
		return pgx.ConnectConfig(ctx, config.Copy())
	}
	return s.connectLikePool(ctx)
}

// connectLikePool opens a connection with the configuration of the pool's.
func (s *session) connectLikePool(ctx context.Context) (*pgx.Conn, error) {
	return connection.Like(ctx, s.worker.pool)
}

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
	s.fail = stop
	hostname, _ := os.Hostname() // empty if it is not known
	keeper := &keeper{
		loop: s.loop, tasks: &s.worker.tasks, migrated: s.notices.migrated,
		me: identity{
			concurrency: s.worker.cfg.Concurrency, hostname: hostname, pid: os.Getpid(),
			version: build.Read().Program(),
		},
	}
	heartbeater := &heartbeater{
		keeper: keeper, changed: s.worker.tasksUnknown, crew: s.crew, advice: s.advice,
		listenBroke: &s.notices.broke,
	}
	if enrolled, err := s.enroll(ctx, heartbeater); !enrolled {
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
		background.Go(func() { s.newCron().run(claiming) })
	}
	fetcher := s.newFetcher()
	finisher := &finisher{
		loop: s.loop, quiet: s.worker.cfg.QuietSuccess, outcomes: s.outcomes, settled: s.settled,
	}
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
func (s *session) enroll(ctx context.Context, h *heartbeater) (enrolled bool, err error) {
	tasks := s.worker.tasks.Load().names
	enrolling, release := context.WithCancel(ctx)
	defer release()
	defer context.AfterFunc(s.worker.stopping, release)()
	var retry connection.Backoff
	for {
		err = h.start(enrolling)
		if err == nil {
			_, err = h.beat(enrolling)
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
	drained := make(chan struct{})
	go func() {
		working.Wait()
		close(drained)
	}()

	s.awaitStop(ctx, claiming)
	stop(errStopped)
	s.drain(drained, cut)
}

// awaitStop waits until the worker is told to stop, a loop has failed, or RunOnce has nothing left to do.
func (s *session) awaitStop(ctx, claiming context.Context) {
	select {
	case <-ctx.Done():
		emit(s.events, StopRequested{})
	case <-s.worker.stopping.Done():
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
	case <-s.worker.killing.Done():
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
