package connection

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// PingTimeout is how long a connection may take to answer a ping, and to close.
	PingTimeout = 5 * time.Second
	// silence is the time without a notification after which the connection is tested.
	silence = 30 * time.Second
)

// Like opens a connection as the pool does.
func Like(ctx context.Context, pool *pgxpool.Pool) (*pgx.Conn, error) {
	of := pool.Config()
	config := of.ConnConfig.Copy()
	if of.BeforeConnect != nil { // it may provide a short-lived password
		if err := of.BeforeConnect(ctx, config); err != nil {
			return nil, err
		}
	}
	return pgx.ConnectConfig(ctx, config)
}

// Close closes a connection that is broken or no longer needed.
func Close(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), PingTimeout)
	defer cancel()
	_ = conn.Close(ctx)
}

// WaitForNotification returns the next notification. It pings a connection that was silent for long,
// because the other end may be gone without closing it.
func WaitForNotification(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	for {
		waiting, cancel := context.WithTimeout(ctx, silence)
		notification, err := conn.WaitForNotification(waiting)
		cancel()
		if err == nil {
			return notification, nil
		}
		if ctx.Err() != nil || !pgconn.Timeout(err) {
			return nil, fmt.Errorf("wait for notification: %w", err)
		}
		pinging, cancel := context.WithTimeout(ctx, PingTimeout)
		err = conn.Ping(pinging)
		cancel()
		if err != nil {
			return nil, fmt.Errorf("ping: %w", err)
		}
	}
}
