package shim

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/statement"
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
