package connection

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrSilent ends a call whose connection was silent for too long.
var ErrSilent = errors.New("timeout: the connection is silent")

// link is a connection that records how long it has been silent.
type link struct {
	net.Conn
	opened  time.Time
	heard   atomic.Int64 // when data last arrived, in nanoseconds since opened
	patient atomic.Int64 // how long it may be silent, in nanoseconds; 0 means without limit
}

// dialLink returns a function that connects as dial does and returns a link.
func dialLink(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &link{Conn: conn, opened: time.Now()}, nil
	}
}

// linkOf returns the link of a connection, nil if the program that created the pool wraps its connections.
func linkOf(conn *pgx.Conn) *link {
	raw := conn.PgConn().Conn()
	if secure, ok := raw.(*tls.Conn); ok {
		raw = secure.NetConn()
	}
	l, _ := raw.(*link)
	return l
}

// Read fails if the link was silent for too long, even if data arrives at last: the process may have been paused, and
// other parts of it may not have noticed yet.
func (l *link) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if n > 0 {
		if patient := l.patient.Load(); patient > 0 && int64(l.silence()) > patient {
			return 0, ErrSilent
		}
		l.hear()
	}
	return n, err
}

func (l *link) hear() { l.heard.Store(int64(time.Since(l.opened))) }

func (l *link) silence() time.Duration { return time.Since(l.opened) - time.Duration(l.heard.Load()) }

// WhileHeard is whileHeard of the link of a connection.
func WhileHeard(ctx context.Context, conn *pgx.Conn, timeout time.Duration) (heard context.Context, end func()) {
	return linkOf(conn).whileHeard(ctx, timeout)
}

// whileHeard returns a context for a call that may receive any number of bytes: it ends when no data has arrived for
// longer than timeout. Without a link it ends after timeout. The caller calls end after the call.
func (l *link) whileHeard(ctx context.Context, timeout time.Duration) (heard context.Context, end func()) {
	if l == nil {
		return context.WithTimeout(ctx, timeout)
	}
	heard, cancel := context.WithCancelCause(ctx)
	l.hear()
	l.patient.Store(int64(timeout))
	go func() {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		for {
			select {
			case <-heard.Done():
				return
			case <-timer.C:
			}
			left := timeout - l.silence()
			if left <= 0 {
				cancel(ErrSilent)
				return
			}
			timer.Reset(left)
		}
	}()
	return heard, func() {
		l.patient.Store(0)
		cancel(nil)
	}
}
