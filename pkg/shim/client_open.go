package shim

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/connection"
)

// Open opens a pool for a [Worker] or a [Client], and connects once to check that it can. The caller closes it.
//
// connString is a URL, a list of key=value or the name of a database, with the settings of [pgxpool.ParseConfig] such
// as pool_max_conns. If it is empty, Open uses DATABASE_URL, or else PGHOST, PGDATABASE and the other variables of
// PostgreSQL; if none of these is set, it returns an error. Errors do not contain passwords. Text is sent as UTF-8,
// whatever the encoding of the database and of the role.
func Open(ctx context.Context, connString string) (*pgxpool.Pool, error) {
	text, err := connection.Find(connString, "a connection string", os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	config, err := pgxpool.ParseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	connection.Speak(config.ConnConfig)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open database: %w", err)
	}
	return pool, nil
}

// QuickAdd connects as [Open] does, adds one job as [Client.Add] does, and disconnects; it is meant for scripts. The
// queue is in the schema graphile_worker. For another schema, and for more than one job, create a [Client].
func QuickAdd(ctx context.Context, connString, task string, payload any, opts *AddOptions) (job *JobInfo, err error) {
	text, err := connection.Find(connString, "a connection string", os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("add job %q: %w", task, err)
	}
	config, err := pgxpool.ParseConfig(text) // it accepts the settings of a pool, too
	if err != nil {
		return nil, fmt.Errorf("add job %q: %w", task, err)
	}
	connection.Speak(config.ConnConfig)
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("add job %q: %w", task, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return NewClient(conn, ClientConfig{}).Add(ctx, task, payload, opts)
}
