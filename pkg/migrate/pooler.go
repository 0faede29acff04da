package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// poolerRounds is how often a pooler gets the chance to show that it moves sessions; on a busy one a single look may
// by chance see the same server process twice.
const poolerRounds = 5

// poolerTimeout bounds the wait for a second session, of which a small pool may have none.
const poolerTimeout = 10 * time.Second

// findPooler refuses a pooler that does not give each session a server process of its own: the lock that keeps
// migrations apart belongs to a process, and so do the settings they run with.
func (m *Migrator) findPooler(ctx context.Context, conn *pgx.Conn) (*Refusal, error) {
	pid, err := backendPID(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("look for a pooler: %w", err)
	}
	// PostgreSQL introduces itself with the id of the process that serves the session, a pooler with one it made up.
	if pid == conn.PgConn().PID() {
		return nil, nil
	}

	ctx, cancel := context.WithTimeout(ctx, poolerTimeout)
	defer cancel()
	second, err := m.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for a pooler: %w", err)
	}
	defer m.disconnect(ctx, second)
	for range poolerRounds {
		shared, err := sharesBackend(ctx, second, conn, pid)
		if err != nil {
			return nil, fmt.Errorf("look for a pooler: %w", err)
		}
		if shared {
			return refusePooler("two sessions were served by the same process, as in transaction mode"), nil
		}
	}
	return nil, nil
}

// sharesBackend reports whether conn, which was served by process pid, loses it to a transaction of another session.
func sharesBackend(ctx context.Context, other, conn *pgx.Conn, pid uint32) (bool, error) {
	tx, err := other.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	otherPID, err := backendPID(ctx, other)
	// conn is not asked if its process was seen here: with a pool of one it would wait for this very transaction.
	if err != nil || otherPID == pid {
		return otherPID == pid, err
	}
	now, err := backendPID(ctx, conn)
	return now != pid, err
}

func backendPID(ctx context.Context, conn *pgx.Conn) (uint32, error) {
	var pid int32
	err := conn.QueryRow(ctx, "select pg_catalog.pg_backend_pid()").Scan(&pid)
	return uint32(pid), err
}

// poolerRefusal recognizes what only a pooler answers: it takes no settings it does not track when a session starts,
// and in statement mode no transactions.
func poolerRefusal(err error) *Refusal {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return nil
	}
	if strings.Contains(pgErr.Message, "unsupported startup parameter") || strings.Contains(pgErr.Message, "pooling mode") {
		return refusePooler(pgErr.Message)
	}
	return nil
}
