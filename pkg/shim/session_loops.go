package shim

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/connection"
)

// loop is what the loops of a session have in common.
type loop struct {
	queries *queries
	logger  *slog.Logger
	events  *eventBus
	fail    func(error) // ends the worker
}

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
		lost = &outage{logger: s.logger}
		lost.gone, lost.back = "listening connection failed, worker will connect again", "listening again"
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
