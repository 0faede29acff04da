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

// poolerRounds is how often the check for a pooler is repeated; on a busy pooler a single check may by chance see the
// same server process twice.
const poolerRounds = 5

// poolerTimeout limits the wait for a second session, which a small pool may not have.
const poolerTimeout = 10 * time.Second

// findPooler refuses a pooler that does not assign each session a server process of its own: the lock that separates
// migrations apart belongs to a process, and so do the settings they run with.
func (m *Migrator) findPooler(ctx context.Context, conn *pgx.Conn) (*Refusal, error) {
	pid, err := backendPID(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("look for a pooler: %w", err)
	}
	// PostgreSQL reports the id of the process that serves the session; a pooler reports an id of its own.
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
	// If this session has conn's process, conn is not queried: in a pool of one it would wait for this transaction.
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

// poolerRefusal recognizes errors of poolers: they refuse startup parameters that they do not track, and transactions
// in statement mode.
func poolerRefusal(err error) *Refusal {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	if ok && (strings.Contains(pgErr.Message, "unsupported startup parameter") ||
		strings.Contains(pgErr.Message, "pooling mode")) {
		return refusePooler(pgErr.Message)
	}
	return nil
}

// preflight checks for problems that would stop a migration half-way: a read-only server, a missing privilege, a
// pooler. It only reads.
func (m *Migrator) preflight(ctx context.Context, conn *pgx.Conn, state State) (*Refusal, error) {
	var (
		standby, readOnly, mayCreate bool
		user, database               string
	)
	err := conn.QueryRow(ctx, `
		select pg_catalog.pg_is_in_recovery(),
		       pg_catalog.current_setting('transaction_read_only')::boolean,
		       pg_catalog.has_database_privilege(pg_catalog.current_database(), 'create'),
		       current_user::text,
		       pg_catalog.current_database()::text`,
	).Scan(&standby, &readOnly, &mayCreate, &user, &database)
	if err != nil {
		return nil, fmt.Errorf("check connection: %w", err)
	}
	switch {
	case standby:
		return refuse(ReasonReadOnly,
			"connect to its primary; target_session_attrs=read-write finds it among several hosts",
			"the server is a hot standby"), nil
	case readOnly:
		return refuse(ReasonReadOnly,
			"connect as a role that may write, or set PGOPTIONS='-c default_transaction_read_only=off'",
			"the session is read-only (default_transaction_read_only is on)"), nil
	case state == Absent && !mayCreate:
		return refuse(ReasonPrivilege,
			fmt.Sprintf("let the database's owner run: create schema %s authorization %s", m.quoted(), quote(user)),
			"role %s may not create schema %s in database %s", quote(user), m.quoted(), quote(database)), nil
	}
	return m.findPooler(ctx, conn)
}
