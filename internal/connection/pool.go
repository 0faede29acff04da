package connection

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// SpareTime is how long an unused connection is kept.
	SpareTime = 10 * time.Second
	// quietTime is how long a connection may have been idle and still be used without a ping; a ping would add a round
	// trip to a single job. An idle worker polls more often than that, and every call handles a broken
	quietTime = 10 * time.Second
)

// OwnPool returns a pool of at most most connections with the configuration of another one, which the program uses for
// other things. It connects on demand. Its sessions use UTF-8 and have only pg_catalog in their search_path.
func OwnPool(ctx context.Context, callers *pgxpool.Pool, most int32) (*pgxpool.Pool, error) {
	config := callers.Config()
	config.MaxConns = min(config.MaxConns, most)
	config.MinConns, config.MinIdleConns = 0, 0
	config.ConnConfig.DialFunc = dialLink(config.ConnConfig.DialFunc)
	// pgxpool's health check acquires and releases all idle connections, which changes their order and resets their
	// idle times. So the interval between two checks must be longer than the maximum idle time, or no connection would
	// ever be closed.
	config.MaxConnIdleTime = SpareTime
	config.HealthCheckPeriod = 2 * SpareTime
	config.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool { return p.IdleDuration > quietTime }
	config.PingTimeout = PingTimeout
	pinSettings(config)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("make an own pool: %w", err)
	}
	return pool, nil
}

// pinSettings gives connections the settings of [Pin] until a pooler refuses one because of them. From then on they
// have only those that poolers know, and only the schema-qualified names in our statements prevent the use of foreign
// objects.
func pinSettings(config *pgxpool.Config) {
	var isRefused atomic.Bool
	before, onError := config.BeforeConnect, config.ConnConfig.OnPgError
	config.BeforeConnect = func(ctx context.Context, conn *pgx.ConnConfig) error {
		Pin(conn, isRefused.Load())
		if before == nil {
			return nil
		}
		return before(ctx, conn)
	}
	config.ConnConfig.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		if RefusesSettings(err) {
			isRefused.Store(true)
		}
		return onError == nil || onError(conn, err)
	}
}

const (
	// mostPause limits the pause between calls that lose their connections.
	mostPause = time.Second
	// brokenAge limits the age of the number of broken connections of the pool that an attempt begins with.
	brokenAge = 100 * time.Millisecond
	// closeTime is how long the worker waits until the pool has given up a broken connection.
	closeTime = time.Second
)

// broken returns how many connections the pool could not open or has given up because they were broken.
func broken(pool *pgxpool.Pool) int64 {
	s := pool.Stat()
	return s.NewConnsCount() - int64(s.TotalConns()) - s.MaxLifetimeDestroyCount() - s.MaxIdleDestroyCount()
}

// PoolWatch knows whether the pool has lost connections while a handler ran that may use it.
type PoolWatch struct {
	pool                *pgxpool.Pool // nil before the first call
	broken              int64         // connections that the pool had lost at a time shortly before the call
	brokenAt            time.Time
	hasLost, lostBefore bool // this call and the one before it have lost their connections
	retry               Backoff
}

// Begin is called before a handler.
func (p *PoolWatch) Begin(pool *pgxpool.Pool, now time.Time) {
	if pool != nil && now.Sub(p.brokenAt) > brokenAge {
		p.pool, p.broken, p.brokenAt = pool, broken(pool), now
	}
}

// HasLost reports whether the pool has lost a connection since the handler was called. The pool may still be closing
// it.
func (p *PoolWatch) HasLost() bool {
	if p.pool == nil {
		return false
	}
	for end := time.Now().Add(closeTime); broken(p.pool) <= p.broken; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Pause waits after a call that has lost its connection, if the one before it had, too. Meanwhile the job is not
// claimed again.
func (p *PoolWatch) Pause(handling context.Context) {
	if !p.hasLost && p.lostBefore {
		sleep(handling, min(p.retry.Next(), mostPause))
	}
	p.hasLost = true
}

// End is called after each call of a handler.
func (p *PoolWatch) End() {
	if !p.hasLost {
		p.retry.Reset()
	}
	p.lostBefore, p.hasLost = p.hasLost, false
}
