package serve

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

// The pause before another try to reach a shard: doubled each time, within these bounds.
const (
	firstTry = 500 * time.Millisecond
	lastTry  = 5 * time.Second
)

// run works the shard until ctx ends. While the shard is away it tries again.
func (m *member) run(ctx, hard context.Context) error {
	for pause := firstTry; ; pause = min(2*pause, lastTry) {
		began := time.Now()
		err := m.work(ctx, hard)
		if ctx.Err() != nil && isAway(err) {
			return nil // it could not be reached, so nothing was running
		}
		if err == nil || ctx.Err() != nil || !isAway(err) || m.o.Once {
			return err
		}
		m.o.Logger.Warn("shard cannot be reached, worker will try again", "error", err)
		if time.Since(began) > time.Minute {
			pause = firstTry
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// work prepares the shard and runs its worker until ctx ends or the shard is away.
func (m *member) work(ctx, hard context.Context) error {
	finder, services := newTaskFinder(m.o.Tasks, m.o.Logger), newServices(&m.o, m.pool)
	defer services.end()
	found, err := load(&m.o, finder, services)
	if err != nil {
		return err
	}
	if err := PrepareSchema(ctx, m.o); err != nil {
		return err
	}
	if err := m.warnOfNames(ctx); err != nil {
		return err
	}
	if err := setLimits(ctx, &m.o, m.pool, m.o.File.Limits); err != nil {
		return err
	}
	flags := &forbiddenFlags{pool: m.pool, log: m.o.Logger}
	worker, err := start(ctx, &m.o, services, found, flags)
	if err != nil {
		return err
	}
	unwatch, err := m.watch(worker)
	if err != nil {
		return err
	}
	defer unwatch()
	r := &reloader{
		worker: worker, log: m.o.Logger, config: m.o.Config, finder: finder, services: services, flags: flags,
		crontab: m.o.Crontab, file: m.o.File, cron: found.cron,
		setLimits: func(ctx context.Context, limits []config.Limit) error { return setLimits(ctx, &m.o, m.pool, limits) },
	}
	unfollow, err := r.follow(ctx, &m.o)
	if err != nil {
		return err
	}
	defer unfollow()
	return work(ctx, hard, worker, m.o.Once)
}

// warnOfNames logs if the database is not the shard that the map says.
func (m *member) warnOfNames(ctx context.Context) error {
	client := shim.NewClient(m.pool, shim.ClientConfig{Schema: m.o.Schema})
	name, err := client.ShardName(ctx)
	switch {
	case err != nil:
		return err
	case name == "":
		m.o.Logger.Warn("the database is not a shard yet: gw-migrate up --shards makes it one")
	case name != m.shard.Name:
		return errors.New("the database is the shard " + name + ": correct the map")
	}
	return nil
}

// watch connects health and metrics to a worker, until unwatch is called.
func (m *member) watch(worker *shim.Worker) (unwatch func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.worker = worker
	m.monitor.watch(worker)
	if m.fleet.web == nil {
		return func() {}, nil
	}
	own := prometheus.NewRegistry() // a member that comes back registers again
	if err := measure(own, worker, m.o.Logger); err != nil {
		return nil, err
	}
	labeled := prometheus.WrapCollectorWith(prometheus.Labels{"shard": m.shard.Name}, gathered{own})
	if err := m.fleet.web.registry.Register(labeled); err != nil {
		return nil, err
	}
	return func() { m.fleet.web.registry.Unregister(labeled) }, nil
}

// isAway returns whether an error is about a database that cannot be reached or does not serve now.
func isAway(err error) bool {
	var (
		unconnected *pgconn.ConnectError
		network     net.Error
	)
	if state := sqlstate.Of(err); state != "" {
		switch state[:2] {
		case "08", "53", "57", "25": // connection, resources, operator intervention, a read-only server
			return true
		}
		return false
	}
	return errors.As(err, &unconnected) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded)
}
