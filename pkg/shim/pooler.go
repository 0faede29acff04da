package shim

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/sqlstate"
)

const (
	// poolerRounds is how often a pooler gets the chance to show that sessions share its connections; on a busy one they may
	// by chance not meet.
	poolerRounds = 5
	// poolerTimeout bounds the look for a pooler. One that takes longer is believed to be in session mode.
	poolerTimeout = 5 * time.Second
)

const (
	statementAdvice = "it goes through a pooler in transaction mode that does not keep prepared statements: " +
		"set DefaultQueryExecMode to QueryExecModeCacheDescribe (default_query_exec_mode=cache_describe in the connection " +
		"string, --no-prepared-statements of gw-run)"
	listenAdvice = "it goes through a pooler in transaction mode, where LISTEN is lost: set ListenConfig to the server's own " +
		"address (--listen-url of gw-run), or PollOnly (--no-listen)"
	parameterAdvice = "it goes through a pooler that takes no such setting from a connection: leave it out of the connection " +
		"string, or name it in the pooler's ignore_startup_parameters"
)

// advised adds to an error that only a pooler causes what to do about it.
func advised(err error) error {
	advice := ""
	switch state := sqlstate.Of(err); {
	case isLostStatement(state):
		advice = statementAdvice
	case state != "" && strings.Contains(err.Error(), "unsupported startup parameter"):
		advice = parameterAdvice
	default:
		return err
	}
	return fmt.Errorf("%w: %s", err, advice)
}

// isLostStatement reports whether a state says that a prepared statement is another session's, or gone. In a session of
// one's own it is neither.
func isLostStatement(state string) bool { return state == "26000" || state == "42P05" }

// pooler finds out whether the worker's connections share those of a pooler, as in transaction mode.
type pooler struct {
	pool    *pgxpool.Pool
	connect func(context.Context) (*pgx.Conn, error) // makes one more connection to where the pool's go
	listens bool                                     // over such a connection
}

// check refuses what cannot work. Without a pooler it costs a query.
func (p *pooler) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, poolerTimeout)
	defer cancel()
	first, err := p.pool.Acquire(ctx)
	if connection.RefusesPath(err) {
		first, err = p.pool.Acquire(ctx) // which does not ask for it again
	}
	if err != nil {
		return nil // whoever needs a connection next says why there is none
	}
	defer first.Release()
	pid, err := ask[int32](ctx, first.Conn(), `select pg_catalog.pg_backend_pid()`)
	// PostgreSQL introduces itself with the id of the process that serves the session, a pooler with one it made up.
	if err != nil || uint32(pid) == first.Conn().PgConn().PID() {
		return nil
	}
	second, err := p.connect(ctx)
	if err != nil {
		return nil
	}
	defer func() { _ = second.Close(ctx) }()
	for range poolerRounds {
		if p.prepares() && losesStatements(ctx, first.Conn(), second) {
			return errors.New(statementAdvice)
		}
		if p.listens && isShared(ctx, first.Conn(), second) {
			return errors.New(listenAdvice)
		}
	}
	return nil
}

// prepares reports whether statements outlive the exchange in which they are prepared.
func (p *pooler) prepares() bool {
	mode := p.pool.Config().ConnConfig.DefaultQueryExecMode
	return mode == pgx.QueryExecModeCacheStatement || mode == pgx.QueryExecModeDescribeExec
}

// isShared reports whether one session sees a setting of the other's.
func isShared(ctx context.Context, one, other *pgx.Conn) bool {
	mark := rand.Text()
	if _, err := ask[string](ctx, one, `select pg_catalog.set_config('gw.probe', '`+mark+`', false)`); err != nil {
		return false
	}
	seen, err := ask[*string](ctx, other, `select pg_catalog.current_setting('gw.probe', true)`)
	return err == nil && seen != nil && *seen == mark
}

// losesStatements reports whether one session meets a prepared statement of the other's.
func losesStatements(ctx context.Context, one, other *pgx.Conn) bool {
	name := "gw_probe_" + rand.Text()
	if _, err := one.PgConn().Prepare(ctx, name, `select 1`, nil); err != nil {
		return isLostStatement(sqlstate.Of(err))
	}
	_, err := other.PgConn().Prepare(ctx, name, `select 1`, nil)
	return isLostStatement(sqlstate.Of(err))
}

// ask returns the only value of a query, in a way that every pooler lets pass.
func ask[T any](ctx context.Context, conn *pgx.Conn, sql string) (value T, err error) {
	err = conn.QueryRow(ctx, sql, pgx.QueryExecModeSimpleProtocol).Scan(&value)
	return value, err
}
