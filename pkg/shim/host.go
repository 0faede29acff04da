package shim

import (
	"log/slog"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"
)

// host is what jobs know of the worker that has claimed them.
type host struct {
	pool       *pgxpool.Pool
	schema     string // of the queue, not quoted
	workerID   string
	propagator Propagator   // nil without
	logger     *slog.Logger // of the program

	completeAll string       // the statement of a Completion
	encoding    atomic.Value // of the database, a string, once it is known
	isQueue     atomic.Bool  // for clients
}

// ownLogger returns the logger of the worker itself.
func (h *host) ownLogger() *slog.Logger {
	return h.logger.With("label", "worker", "worker_id", h.workerID)
}

func (h *host) client() *Client {
	client := &Client{cfg: ClientConfig{Schema: h.schema, Propagator: h.propagator}, isQueue: &h.isQueue}
	return client.With(h.pool)
}
