package shim

import (
	"context"
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

// Propagator carries values of a context, such as a trace, from the caller that adds a job to the handler that runs it.
// They are stored beside the job, so payloads are unchanged. They belong to one request for the job: a request that
// replaces the job under its key stores its own values or none. pkg/gwotel implements one for OpenTelemetry.
type Propagator interface {
	// Inject returns the values to store with a job that is added under ctx; nothing is stored if the map is empty.
	// Names and values with a zero byte are ignored.
	Inject(ctx context.Context) map[string]string

	// Extract returns ctx, the context of a handler, with the values stored with its job. It is not called for a job
	// without any.
	Extract(ctx context.Context, carried map[string]string) context.Context
}
