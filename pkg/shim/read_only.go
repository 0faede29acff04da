package shim

import (
	"log/slog"
	"sync/atomic"

	"github.com/gwsql/gw/internal/sqlstate"
)

// readOnlyState is the code with which a hot standby, or a server that was told to take no writes, refuses every call.
const readOnlyState = "25006"

// readOnly remembers that the server takes no writes, so that it is said once and not by each loop at each try. Such a
// server was the primary until a failover, or will be: connections to it are given up, for the next may lead elsewhere.
type readOnly struct {
	is     atomic.Bool
	logger *slog.Logger
	moved  signal // for the listener, which would not notice that writes go elsewhere now
}

// found is called with each refusal.
func (r *readOnly) found() {
	if r != nil && !r.is.Swap(true) {
		r.logger.Warn("the server is read-only, waits for one that takes writes")
	}
}

// over is called when a write went well.
func (r *readOnly) over() {
	if r != nil && r.is.CompareAndSwap(true, false) {
		r.logger.Info("the server takes writes again")
		r.moved.set()
	}
}

// isReadOnly reports whether the server takes no writes, about which something has been said already.
func isReadOnly(err error) bool { return sqlstate.Of(err) == readOnlyState }
