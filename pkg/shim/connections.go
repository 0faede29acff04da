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
	// ownConnections is how many connections a worker calls the core on: one that claims and in a flood another one, one
	// that writes outcomes, one that beats, one that sweeps, which takes long in a large table, and one that looks after
	// recurring jobs, which takes long after an outage. An idle worker needs one at a time.
	ownConnections = 6
	// spareTime is how long a connection that is not needed is kept.
	spareTime = 10 * time.Second
	// quietTime is how long a connection may have been idle and still be used without a ping, which would cost a job that
	// comes alone a round trip. An idle worker polls more often than that, and every call is ready to find it broken.
	quietTime = 10 * time.Second
)

// ownPool makes a pool that is like the caller's and nobody else uses, so that no call of the core waits for a connection
// that a handler has. It connects when it must. Its sessions speak UTF-8 and look for names in pg_catalog alone.
func ownPool(ctx context.Context, callers *pgxpool.Pool) (*pgxpool.Pool, error) {
	config := callers.Config()
	config.MaxConns = min(config.MaxConns, ownConnections)
	config.MinConns, config.MinIdleConns = 0, 0
	config.ConnConfig.DialFunc = dialLink(config.ConnConfig.DialFunc)
	// The check takes up and lays down all that are idle, after which another one may be on top and used from then on. So
	// between two checks there must be more time than one may be idle, or none would ever be too long.
	config.MaxConnIdleTime = spareTime
	config.HealthCheckPeriod = 2 * spareTime
	config.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool { return p.IdleDuration > quietTime }
	config.PingTimeout = pingTimeout
	connection.SpeakUTF8(config.ConnConfig)
	pinPath(config)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("make the worker's own pool: %w", err)
	}
	return pool, nil
}

// pinPath gives connections [connection.OwnPath], until a pooler refuses one for it: from then on they have none, and only the
// names in our statements, which are all qualified, keep those of others out.
func pinPath(config *pgxpool.Config) {
	var isRefused atomic.Bool
	before, onError := config.BeforeConnect, config.ConnConfig.OnPgError
	config.BeforeConnect = func(ctx context.Context, conn *pgx.ConnConfig) error {
		if !isRefused.Load() {
			conn.RuntimeParams["search_path"] = connection.OwnPath
		}
		if before == nil {
			return nil
		}
		return before(ctx, conn)
	}
	config.ConnConfig.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		if connection.RefusesPath(err) {
			isRefused.Store(true)
		}
		return onError == nil || onError(conn, err)
	}
}
