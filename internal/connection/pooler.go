package connection

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/sqlstate"
)

const (
	// poolerRounds is how often the check for a pooler is repeated; on a busy pooler the two sessions may happen not to
	// share a connection.
	poolerRounds = 5
	// poolerTimeout limits the check for a pooler. A pooler that takes longer is assumed to be in session mode.
	poolerTimeout = 5 * time.Second
)

const (
	statementAdvice = "the connection uses a pooler in transaction mode that does not support prepared statements: " +
		"set DefaultQueryExecMode to QueryExecModeCacheDescribe (default_query_exec_mode=cache_describe in the connection " +
		"string, --no-prepared-statements of gw-run)"
	listenAdvice = "the connection uses a pooler in transaction mode, which does not support LISTEN: set ListenConfig to the " +
		"server's own address (--listen-url of gw-run), or PollOnly (--no-listen)"
	parameterAdvice = "the connection uses a pooler that does not accept this parameter: remove it from the connection " +
		"string, or add it to the pooler's ignore_startup_parameters"
)

// Advised adds a remedy to an error that only a pooler causes.
func Advised(err error) error {
	advice := ""
	switch state := sqlstate.Of(err); {
	case IsLostStatement(state):
		advice = statementAdvice
	case state != "" && strings.Contains(err.Error(), "unsupported startup parameter"):
		advice = parameterAdvice
	case state == "42501" && strings.Contains(err.Error(), "row-level security"):
		advice = ownerAdvice
	default:
		return err
	}
	return fmt.Errorf("%w: %s", err, advice)
}

const ownerAdvice = "privileges on the tables are not enough; run the worker as the owner of the queue, or as a role of gw-migrate grants --worker"

// IsLostStatement reports whether an SQLSTATE means that a prepared statement is missing or belongs to another session.
// Neither happens in a session that is not shared.
func IsLostStatement(state string) bool { return state == "26000" || state == "42P05" }

// CheckPooler refuses a pool that cannot work because a pooler shares its connections, as in transaction mode. connect
// opens one more connection to the pool's address; listens tells whether a program listens on such a connection.
// Without a pooler the check costs one query.
func CheckPooler(ctx context.Context, pool *pgxpool.Pool,
	connect func(context.Context) (*pgx.Conn, error), listens bool) error {
	ctx, cancel := context.WithTimeout(ctx, poolerTimeout)
	defer cancel()
	first, err := pool.Acquire(ctx)
	if RefusesSettings(err) {
		first, err = pool.Acquire(ctx) // which does not query it again
	}
	if err != nil {
		return nil // the next call that needs a connection reports the error
	}
	defer first.Release()
	pid, err := ask[int32](ctx, first.Conn(), `select pg_catalog.pg_backend_pid()`)
	// PostgreSQL reports the id of the process that serves the session; a pooler reports an id of its own.
	if err != nil || uint32(pid) == first.Conn().PgConn().PID() {
		return nil
	}
	second, err := connect(ctx)
	if err != nil {
		return nil
	}
	defer func() { _ = second.Close(ctx) }()
	for range poolerRounds {
		if prepares(pool) && losesStatements(ctx, first.Conn(), second) {
			return errors.New(statementAdvice)
		}
		if listens && isShared(ctx, first.Conn(), second) {
			return errors.New(listenAdvice)
		}
	}
	return nil
}

// prepares reports whether prepared statements are used across round trips.
func prepares(pool *pgxpool.Pool) bool {
	mode := pool.Config().ConnConfig.DefaultQueryExecMode
	return mode == pgx.QueryExecModeCacheStatement || mode == pgx.QueryExecModeDescribeExec
}

// isShared reports whether one session sees a setting of the other one.
func isShared(ctx context.Context, one, other *pgx.Conn) bool {
	mark := rand.Text()
	if _, err := ask[string](ctx, one, `select pg_catalog.set_config('gw.probe', '`+mark+`', false)`); err != nil {
		return false
	}
	seen, err := ask[*string](ctx, other, `select pg_catalog.current_setting('gw.probe', true)`)
	return err == nil && seen != nil && *seen == mark
}

// losesStatements reports whether one session sees a prepared statement of the other one.
func losesStatements(ctx context.Context, one, other *pgx.Conn) bool {
	name := "gw_probe_" + rand.Text()
	if _, err := one.PgConn().Prepare(ctx, name, `select 1`, nil); err != nil {
		return IsLostStatement(sqlstate.Of(err))
	}
	_, err := other.PgConn().Prepare(ctx, name, `select 1`, nil)
	return IsLostStatement(sqlstate.Of(err))
}

// ask returns the only value of a query, in a mode that every pooler supports.
func ask[T any](ctx context.Context, conn *pgx.Conn, sql string) (value T, err error) {
	err = conn.QueryRow(ctx, sql, pgx.QueryExecModeSimpleProtocol).Scan(&value)
	return value, err
}
