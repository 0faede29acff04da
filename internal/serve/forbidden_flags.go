package serve

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/config"
)

const (
	// flagsInterval is the interval between runs of a query for forbidden flags.
	flagsInterval = time.Second
	// flagsTimeout is its timeout.
	flagsTimeout = 10 * time.Second
)

// forbiddenFlags are the flags of jobs that the worker does not claim, of all tasks or of one. A query for them is run
// repeatedly; while it fails, its last result stays in use.
type forbiddenFlags struct {
	pool   *pgxpool.Pool
	log    *slog.Logger
	asking atomic.Bool // the query is running

	mu     sync.Mutex
	source config.ForbiddenFlags
	flags  []string
	broken bool // the last query failed
}

// use sets a list, or the result of a query; if the query fails, nothing changes.
func (f *forbiddenFlags) use(ctx context.Context, source config.ForbiddenFlags) error {
	flags, err := f.read(ctx, source)
	if err != nil {
		return config.Problem{Position: source.Position, Message: err.Error()}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.source, f.flags, f.broken = source, flags, false
	return nil
}

// ask returns the last known flags.
func (f *forbiddenFlags) ask(context.Context) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.flags, nil
}

// keepAsking runs the current queries every second until ctx ends. A slow one does not delay the others.
func keepAsking(ctx context.Context, queries func() []*forbiddenFlags) {
	var asked sync.WaitGroup
	defer asked.Wait()
	tick := time.NewTicker(flagsInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			for _, f := range queries() {
				asked.Go(func() { f.askAgain(ctx) })
			}
		}
	}
}

// askAgain runs the query, unless it is already running.
func (f *forbiddenFlags) askAgain(ctx context.Context) {
	if !f.asking.CompareAndSwap(false, true) {
		return
	}
	defer f.asking.Store(false)
	f.mu.Lock()
	source := f.source
	f.mu.Unlock()
	if source.Query == "" {
		return
	}
	flags, err := f.read(ctx, source)
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.source.Query != source.Query: // it was replaced in the meantime
		return
	case err != nil && !f.broken:
		f.log.Error("query for forbidden flags failed, previous flags stay in use", "at", source.Position.String(),
			"error", err)
	case err == nil && f.broken:
		f.log.Info("query for forbidden flags succeeds again")
	}
	f.broken = err != nil
	if err == nil {
		f.flags = flags
	}
}

// read returns the flags of a source.
func (f *forbiddenFlags) read(ctx context.Context, source config.ForbiddenFlags) ([]string, error) {
	if source.Query == "" {
		return source.List, nil
	}
	ctx, cancel := context.WithTimeout(ctx, flagsTimeout)
	defer cancel()
	rows, _ := f.pool.Query(ctx, source.Query, pgx.QueryExecModeExec) // tables in it may change; the error comes again
	flags, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("ask for forbidden flags: %w", err)
	}
	return flags, nil
}
