package shim

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/sqlstate"
)

const (
	connectTimeout = 10 * time.Second
	// healthy is how long a connection must have lived so that its loss resets the back-off.
	healthy = time.Minute
)

// errMoved closes a listening connection to a server that may no longer receive the notifications.
var errMoved = errors.New("the server was read-only, reconnecting to the primary")

type notices struct {
	inserted signal      // "jobs:insert"
	migrated signal      // "worker:migrate", or one may have been missed
	listens  signal      // notifications arrive from now on; earlier ones may have been missed
	anew     atomic.Bool // it listens again after a failure: the server may be a different one; set before listens
	broke    atomic.Bool // a healthy connection broke
}

func newNotices() *notices {
	return &notices{inserted: newSignal(), migrated: newSignal(), listens: newSignal()}
}

// listener passes notifications on. It has a connection of its own that does nothing else, so that notifications are
// always read.
type listener struct {
	loop
	*notices
	connect func(context.Context) (*pgx.Conn, error)
	moved   signal // writes may go to another server now
	outage  *connection.Outage
}

// run listens until ctx ends. It replaces a lost connection.
func (l *listener) run(ctx context.Context) {
	var retry connection.Backoff
	first := true
	for attempt := 1; ; attempt++ {
		emit(l.events, ListenConnecting{Attempt: attempt})
		connected, err := l.listen(ctx, first)
		first = false
		if ctx.Err() != nil {
			return
		}
		emit(l.events, ListenFailed{Err: err})
		if sqlstate.IsOutage(err) {
			l.outage.Found(err)
		} else {
			l.logger.Warn("listening connection failed, worker will connect again", "error", err)
		}
		if connected >= healthy {
			retry.Reset()
			attempt = 0
			l.broke.Store(true)
		}
		if !retry.Wait(ctx) {
			return
		}
	}
}

// listen uses a connection, given or new, until it breaks, and returns how long it lived.
func (l *listener) listen(ctx context.Context, first bool) (time.Duration, error) {
	started := time.Now()
	conn, err := l.open(ctx)
	if err != nil {
		return 0, err
	}
	l.outage.Over(started)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-l.moved:
			cancel(errMoved)
		case <-ctx.Done():
		}
	}()
	defer connection.Close(ctx, conn)

	emit(l.events, ListenConnected{})

	// Jobs announced while the worker was not listening are found by a search. Two of these signals may be merged into
	// one.
	if !first {
		l.anew.Store(true)
	}
	l.listens.set()
	l.migrated.set()
	for {
		notification, err := connection.WaitForNotification(ctx, conn)
		if err != nil {
			if cause := context.Cause(ctx); errors.Is(cause, errMoved) {
				err = cause
			}
			return time.Since(started), err
		}
		switch notification.Channel {
		case "jobs:insert":
			l.inserted.set()
		case "worker:migrate":
			l.migrated.set()
		}
	}
}

func (l *listener) open(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, `listen "jobs:insert"; listen "worker:migrate"`); err != nil {
		_ = conn.Close(ctx)
		return nil, fmt.Errorf("listen: %w", err)
	}
	return conn, nil
}
