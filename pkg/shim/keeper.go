package shim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/graphile"
	"github.com/gwsql/gw/internal/sqlstate"
)

const (
	sweepInterval = time.Minute

	// schemaVersion is the newest version of our schema that this worker knows: the number of the last migration.
	schemaVersion = 4
)

// keeper registers the worker, sweeps stale locks, and checks the schema's revision.
type keeper struct {
	loop
	tasks    *atomic.Pointer[taskSet]
	me       identity // with the tasks that the database has
	migrated signal   // the schema may have been migrated
}

// start checks that the worker supports the schema, and registers it.
func (k *keeper) start(ctx context.Context) error {
	err := k.checkRevision(ctx)
	switch sqlstate.Of(err) {
	case "42P01", "3F000":
		return fmt.Errorf("schema %s is not installed, run gw-migrate first: %w", k.queries.schema, err)
	case "42883":
		return fmt.Errorf("schema %s is older than this worker, run gw-migrate first: %w", k.queries.schema, err)
	}
	if err != nil {
		return err
	}
	return k.register(ctx)
}

// run ends with ctx. What fails is tried again at the next interval.
func (k *keeper) run(ctx context.Context) {
	sweep := time.NewTimer(0)
	defer sweep.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-k.migrated:
			err = k.checkRevision(ctx)
		case <-sweep.C:
			err = errors.Join(k.sweep(ctx), k.checkRevision(ctx)) // without a listener nothing else triggers the check
			k.tidy(ctx)
			sweep.Reset(connection.Jittered(sweepInterval))
		}
		if err != nil {
			k.complain(ctx, err)
		}
	}
}

// complain logs an error, or ends the worker if trying again cannot help.
func (k *keeper) complain(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case sqlstate.IsMistake(err) || sqlstate.IsRefusal(err) || errors.Is(err, ErrBreakingMigration):
		k.fail(err)
	default:
		k.queries.warn(k.logger, "call of the database failed, worker will try again", err)
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

func (k *keeper) isOutdated() bool { return !slices.Equal(k.me.tasks, k.tasks.Load().names) }

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
		k.logger.Warn("jobs with stale locks freed", "jobs", freed)
	}
	return nil
}

// tidy does what may wait, in a call of its own, so that its failure undoes no sweep and ends no worker.
func (k *keeper) tidy(ctx context.Context) {
	if err := k.queries.tidy(ctx); err != nil && ctx.Err() == nil {
		k.queries.warn(k.logger, "side tables could not be tidied, worker will try again", err)
	}
}

func (k *keeper) checkRevision(ctx context.Context) error {
	revision, err := k.queries.breakingRevision(ctx)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if revision > graphile.Revision {
		return fmt.Errorf("%w: the schema is at revision %d, and this worker supports revisions up to %d only; upgrade the worker",
			ErrBreakingMigration, revision, graphile.Revision)
	}
	version, err := k.queries.breakingVersion(ctx)
	if err != nil {
		return fmt.Errorf("read breaking versions: %w", err)
	}
	if version > schemaVersion {
		return fmt.Errorf("%w: the schema contains version %d, which breaks older workers, and this worker supports versions up to %d "+
			"only; upgrade the worker", ErrBreakingMigration, version, schemaVersion)
	}
	return nil
}
