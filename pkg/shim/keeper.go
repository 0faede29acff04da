package shim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"
)

const (
	beatInterval  = 5 * time.Second
	sweepInterval = time.Minute
	// renewAfter is the age from which on the lock of a running job is renewed. Others free locks after four hours.
	renewAfter = time.Hour

	// contractRevision is the newest revision of the shared tables that this worker knows.
	contractRevision = 20
)

// keeper tells the fleet that the worker lives, frees what dead ones left behind, and watches the schema's revision.
type keeper struct {
	queries    *queries
	tasks      *atomic.Pointer[taskSet]
	me         identity // with the tasks that the database knows
	unknown    signal   // the tasks are others
	migrated   signal   // the schema may have been migrated
	running    *running
	logger     *slog.Logger
	events     *eventBus
	renewAfter time.Duration
	fail       func(error) // ends the worker
}

// start checks that the worker fits the schema and registers it.
func (k *keeper) start(ctx context.Context) error {
	err := k.checkRevision(ctx)
	switch sqlState(err) {
	case "42P01", "3F000":
		return fmt.Errorf("schema %s is not installed, run gw-migrate first: %w", k.queries.schema, err)
	}
	if err != nil {
		return err
	}
	return k.register(ctx)
}

// run ends with ctx. What fails is tried again at the next turn.
func (k *keeper) run(ctx context.Context) {
	beat := time.NewTicker(beatInterval)
	defer beat.Stop()
	sweep := time.NewTimer(0)
	defer sweep.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			err = errors.Join(k.beat(ctx), k.renew(ctx))
		case <-k.unknown:
			err = k.beat(ctx)
		case <-k.migrated:
			err = k.checkRevision(ctx)
		case <-sweep.C:
			err = errors.Join(k.sweep(ctx), k.checkRevision(ctx)) // without a listener nobody else asks for the check
			sweep.Reset(jittered(sweepInterval))
		}
		switch {
		case err == nil || ctx.Err() != nil:
		case isMistake(err) || isRefusal(err) || errors.Is(err, ErrBreakingMigration):
			k.fail(err)
		default:
			k.logger.Warn("cannot reach the database, will try again", "error", err)
		}
	}
}

func (k *keeper) register(ctx context.Context) error {
	me := k.me
	me.tasks = k.tasks.Load().names
	if err := k.queries.register(ctx, me); err != nil {
		return fmt.Errorf("register worker: %w", err)
	}
	k.me = me
	return nil
}

func (k *keeper) beat(ctx context.Context) error {
	registered, err := k.queries.heartbeat(ctx)
	if err != nil {
		return fmt.Errorf("send heartbeat: %w", err)
	}
	if !registered {
		k.logger.Warn("worker was not registered any more, registers again")
		return k.register(ctx)
	}
	if !slices.Equal(k.me.tasks, k.tasks.Load().names) {
		return k.register(ctx)
	}
	return nil
}

// renew keeps the locks of running jobs young, and ends the handlers of those that were lost.
func (k *keeper) renew(ctx context.Context) error {
	var jobs []*Job
	for _, job := range k.running.lasting(beatInterval) {
		job.hold.renewing.Lock()
		defer job.hold.renewing.Unlock()
		if !job.hold.isCompleting() {
			jobs = append(jobs, job)
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	leases, err := k.queries.renew(ctx, jobs, k.renewAfter)
	if err != nil {
		return fmt.Errorf("renew leases: %w", err)
	}
	for _, job := range jobs {
		if lease, held := leases[job.ID]; held {
			job.hold.lease.Store(lease)
		} else {
			k.running.lose(job)
		}
	}
	return nil
}

func (k *keeper) sweep(ctx context.Context) error {
	started := time.Now()
	emit(k.events, SweepStarted{})
	freed, err := k.queries.staleSweep(ctx)
	if err != nil {
		emit(k.events, SweepFailed{Err: err, Duration: time.Since(started)})
		return fmt.Errorf("sweep stale locks: %w", err)
	}
	emit(k.events, SweepSucceeded{Freed: int(freed), Duration: time.Since(started)})
	if freed > 0 {
		k.logger.Warn("freed jobs of workers that are gone", "jobs", freed)
	}
	return nil
}

func (k *keeper) checkRevision(ctx context.Context) error {
	revision, err := k.queries.breakingRevision(ctx)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if revision > contractRevision {
		return fmt.Errorf("%w: the schema is at revision %d, this worker knows revisions up to %d, upgrade it",
			ErrBreakingMigration, revision, contractRevision)
	}
	return nil
}

// identify says who this process is.
func identify(concurrency int) identity {
	me := identity{concurrency: concurrency, pid: os.Getpid()}
	if host, err := os.Hostname(); err == nil {
		me.host = host
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		me.version = build.Main.Path + "@" + build.Main.Version
	}
	return me
}
