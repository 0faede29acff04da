package shim

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/sqlstate"
)

// remindEvery is how often it is logged again that the database cannot be reached.
const remindEvery = time.Minute

// outage logs that the database cannot be reached: when that begins, once a minute while it lasts, and when it is over. All
// loops of a worker share one, so that each of them does not log it at each try.
type outage struct {
	logger     *slog.Logger
	gone, back string // the messages

	mu            sync.Mutex
	since, logged time.Time // zero without an outage
}

func newOutage(logger *slog.Logger) *outage {
	return &outage{
		logger: logger,
		gone:   "cannot reach the database, will try again",
		back:   "the database can be reached again",
	}
}

// newListenOutage returns an outage of the database as the listening connection sees it that has a path of its own.
func newListenOutage(logger *slog.Logger) *outage {
	return &outage{logger: logger, gone: "cannot listen, will connect again", back: "listening again"}
}

// found is called with each error of a lost connection, or of one that cannot be made.
func (o *outage) found(err error) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.since.IsZero() {
		o.since = now
	}
	if now.Sub(o.logged) < remindEvery {
		return
	}
	o.logged = now
	o.logger.Warn(o.gone, "error", err)
}

// over is called when the database has answered a call that began at a time, or a connection was made.
func (o *outage) over(began time.Time) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() || began.Before(o.since) { // the answer may be older than the outage
		return
	}
	o.logger.Info(o.back, "lasted", time.Since(o.since).Round(time.Millisecond).String())
	o.since, o.logged = time.Time{}, time.Time{}
}

func (o *outage) lasts() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.since.IsZero()
}

// warn logs that a call failed and will be tried again. While the database cannot be reached or takes no writes, which is
// logged once for all calls, each failure is logged for debugging only.
func (q *queries) warn(logger *slog.Logger, message string, err error, attrs ...any) {
	attrs = append(attrs, "error", err)
	switch {
	case isReadOnly(err): // logged when the call failed
	case isOutage(err):
		q.outage.found(err)
		logger.Debug(message, attrs...)
	case q.outage.lasts():
		logger.Debug(message, attrs...)
	default:
		logger.Warn(message, attrs...)
	}
}

// isOutage reports whether an error is that of a connection that was lost or could not be made because of the network, or
// because the server is stopping, starting or recovering. A call that took too long is none: it may be the call's fault.
func isOutage(err error) bool {
	state := sqlstate.Of(err)
	if state != "" {
		return inClass(err, "08") || slices.Contains([]string{"57P01", "57P02", "57P03"}, state)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if pgconn.Timeout(err) {
		return false
	}
	_, isNetwork := errors.AsType[net.Error](err)
	return isNetwork || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
