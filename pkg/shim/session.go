package shim

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/connection"
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
	worker  *Worker
	once    bool
	logger  *slog.Logger
	queries *queries

	notices  *notices
	backlog  *backlog
	crew     *crew
	outcomes chan outcome
	settled  chan settlement

	advice      adviceBox
	events      *eventBus
	abandonTime time.Duration // the constant, except in a test
}

func newSession(w *Worker, once bool) *session {
	logger := w.ownLogger()
	held := w.cfg.Concurrency + ration.MaxAhead + maxUnwritten
	s := &session{
		worker: w,
		once:   once,
		logger: logger,
		queries: &queries{
			schema:   pgx.Identifier{w.cfg.Schema}.Sanitize(),
			workerID: w.cfg.WorkerID,
			worker:   w.host,
			readOnly: &readOnly{logger: logger, moved: newSignal()},
			outage: &connection.Outage{
				Logger: logger, Gone: "database cannot be reached, worker will try again",
				Back: "database can be reached again",
			},
		},
		notices:  newNotices(),
		backlog:  newBacklog(ration.New(w.cfg.Concurrency, w.cfg.QueueBatch)),
		outcomes: make(chan outcome, held),
		settled:  make(chan settlement, held),

		advice:      newAdviceBox(),
		events:      &w.events,
		abandonTime: abandonTime,
	}
	s.crew = &crew{
		tasks: &w.tasks, backlog: s.backlog, pool: w.pool, outcomes: s.outcomes, events: s.events,
		canceled: &cancellations{queries: s.queries},
	}
	return s
}

// listens reports whether the worker receives notifications.
func (s *session) listens() bool { return !s.once && !s.worker.cfg.PollOnly }

func (s *session) newLoop(fail func(error)) loop {
	return loop{queries: s.queries, logger: s.logger, events: s.events, fail: fail}
}

func (s *session) newKeeper(fail func(error)) *keeper {
	return &keeper{
		loop:     s.newLoop(fail),
		tasks:    &s.worker.tasks,
		me:       identify(s.worker.cfg.Concurrency),
		migrated: s.notices.migrated,
	}
}

func (s *session) newHeartbeater(k *keeper) *heartbeater {
	return &heartbeater{
		loop:        k.loop,
		register:    k.register,
		isOutdated:  k.isOutdated,
		changed:     s.worker.tasksUnknown,
		complain:    k.complain,
		crew:        s.crew,
		advice:      s.advice,
		backlog:     s.backlog,
		listenBroke: &s.notices.broke,
	}
}

func (s *session) newCron(fail func(error)) *cron {
	return &cron{
		loop:    s.newLoop(fail),
		offered: &s.worker.cronItems,
		changed: s.worker.cronChanged,
		clock:   s.worker.cronClock,
	}
}

func (s *session) newListener() *listener {
	lost := s.queries.outage              // to which the listening connection reports its loss
	if s.worker.cfg.ListenConfig != nil { // with another address than the other connections
		lost = &connection.Outage{Logger: s.logger}
		lost.Gone, lost.Back = "listening connection failed, worker will connect again", "listening again"
	}
	return &listener{
		notices: s.notices,
		connect: s.connect,
		moved:   s.queries.readOnly.moved,
		outage:  lost,
		logger:  s.logger,
		events:  s.events,
	}
}

func (s *session) newFetcher(fail func(error)) *fetcher {
	cfg := s.worker.cfg
	f := newFetcher(&intake{
		loop:      s.newLoop(fail),
		tasks:     &s.worker.tasks,
		forbidden: forbiddenFlags{list: cfg.ForbiddenFlags, fn: cfg.ForbiddenFlagsFunc},
		backlog:   s.backlog,
		outcomes:  s.outcomes,
		sleep:     newSleep(s.queries, cfg.PollInterval, s.listens()),
		once:      s.once,
	}, cfg.PollInterval, s.advice)
	f.notices, f.changed, f.settled = s.notices, s.worker.tasksChanged, s.settled
	return f
}

func (s *session) newFinisher(fail func(error)) *finisher {
	return &finisher{
		loop:     s.newLoop(fail),
		quiet:    s.worker.cfg.QuietSuccess,
		outcomes: s.outcomes,
		settled:  s.settled,
	}
}

// connect opens the listening connection.
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
