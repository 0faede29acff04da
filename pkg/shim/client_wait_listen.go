package shim

import (
	"context"
	"crypto/rand"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/rows"
)

// listen passes on the notified ends of jobs until ctx ends, on a connection of its own. It does nothing unless the
// client is on a pool.
func (w *waitingCalls) listen(ctx context.Context, c *Client) {
	pool := rows.PoolOf(c.db)
	if pool == nil {
		return
	}
	var retry connection.Backoff
	for {
		started := time.Now()
		_ = w.listenOnce(ctx, pool) // without notifications, the calls query more often
		w.hears.Store(false)
		if time.Since(started) >= healthy {
			retry.Reset()
		}
		if !retry.Wait(ctx) {
			return
		}
	}
}

func (w *waitingCalls) listenOnce(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := connection.Like(ctx, pool)
	if err != nil {
		return err
	}
	defer connection.Close(ctx, conn)
	if _, err := conn.Exec(ctx, `listen "jobs:end"`); err != nil {
		return err
	}
	// A pooler in transaction mode accepts LISTEN, but passes no notifications on. One that arrives shows that there is
	// none.
	probe := "probe " + rand.Text()
	if _, err := pool.Exec(ctx, `select pg_catalog.pg_notify('jobs:end', '`+probe+`')`,
		pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	for {
		payload, err := connection.WaitForNotification(ctx, conn)
		if err != nil {
			return err
		}
		if payload.Payload == probe {
			w.hears.Store(true)
			w.joined.set() // look again: an end before this may not have been notified
			continue
		}
		if id, err := strconv.ParseInt(payload.Payload, 10, 64); err == nil {
			w.hear(id)
		}
	}
}

// hear records that the end of a job was notified.
func (w *waitingCalls) hear(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for call := range w.calls {
		if call.id == id {
			w.told[id] = true
			w.heard.set()
			return
		}
	}
}
