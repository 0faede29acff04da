package shim

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/connection"
)

const (
	// ownConnections is the number of connections on which a worker calls the database: one for claims and a second one
	// in a flood, one for outcomes, one for heartbeats, one for the sweep, which is slow in a large table, and one for
	// recurring jobs, which is slow after an outage. An idle worker needs one at a time.
	ownConnections = 6
	// spareTime is how long an unused connection is kept.
	spareTime = 10 * time.Second
	// quietTime is how long a connection may have been idle and still be used without a ping; a ping would add a round
	// trip to a single job. An idle worker polls more often than that, and every call handles a broken connection.
	quietTime = 10 * time.Second
)

// ownPool returns a pool with the configuration of the caller's that only the worker uses, so that no call of the
// worker waits for a connection that a handler holds. It connects on demand. Its sessions use UTF-8 and have only
// pg_catalog in their search_path.
func ownPool(ctx context.Context, callers *pgxpool.Pool) (*pgxpool.Pool, error) {
	config := callers.Config()
	config.MaxConns = min(config.MaxConns, ownConnections)
	config.MinConns, config.MinIdleConns = 0, 0
	config.ConnConfig.DialFunc = dialLink(config.ConnConfig.DialFunc)
	// pgxpool's health check acquires and releases all idle connections, which changes their order and resets their
	// idle times. So the interval between two checks must be longer than the maximum idle time, or no connection would
	// ever be closed.
	config.MaxConnIdleTime = spareTime
	config.HealthCheckPeriod = 2 * spareTime
	config.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool { return p.IdleDuration > quietTime }
	config.PingTimeout = pingTimeout
	pinSettings(config)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("make the worker's own pool: %w", err)
	}
	return pool, nil
}

// pinSettings gives connections the settings of [connection.Pin] until a pooler refuses one because of them. From then on they
// have only those that poolers know, and only the schema-qualified names in our statements prevent the use of foreign objects.
func pinSettings(config *pgxpool.Config) {
	var isRefused atomic.Bool
	before, onError := config.BeforeConnect, config.ConnConfig.OnPgError
	config.BeforeConnect = func(ctx context.Context, conn *pgx.ConnConfig) error {
		connection.Pin(conn, isRefused.Load())
		if before == nil {
			return nil
		}
		return before(ctx, conn)
	}
	config.ConnConfig.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		if connection.RefusesSettings(err) {
			isRefused.Store(true)
		}
		return onError == nil || onError(conn, err)
	}
}
