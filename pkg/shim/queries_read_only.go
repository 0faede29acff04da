package shim

import (
	"log/slog"
	"sync/atomic"
)

// readOnly records that the server is read-only, so that this is logged once and not by each loop at each attempt. Such
// a server was the primary before a failover, or will become it. Connections to it are closed, because the next one may
// lead to another server.
type readOnly struct {
	is     atomic.Bool
	logger *slog.Logger
	moved  signal // for the listener, which would not notice that writes go to another server now
}

// found is called with each refusal.
func (r *readOnly) found() {
	if r != nil && !r.is.Swap(true) {
		r.logger.Warn("server is read-only, worker waits for a server that accepts writes")
	}
}

// over is called after a successful write.
func (r *readOnly) over() {
	if r != nil && r.is.CompareAndSwap(true, false) {
		r.logger.Info("server accepts writes again")
		r.moved.set()
	}
}
