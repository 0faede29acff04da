package shim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	connectTimeout = 10 * time.Second
	pingTimeout    = 5 * time.Second
	// silence is how long no notification may come before the connection is tested.
	silence = 30 * time.Second
	// healthy is how long a connection must have lived for the next loss to count as the first.
	healthy = time.Minute
)

// errMoved ends a listening connection to where nothing may be announced any more.
var errMoved = errors.New("the server was read-only, listens where it is not")

// listener passes notifications on. It has a connection of its own, which does nothing else, so that it is always
// drained.
type listener struct {
	connect  func(context.Context) (*pgx.Conn, error)
	listens  signal       // from now on there are notifications; what came before may have been missed
	inserted signal       // "jobs:insert"
	migrated signal       // "worker:migrate", or it may have been missed
	moved    signal       // writes go to another server now, perhaps
	broke    *atomic.Bool // a connection that had lasted did
	anew     *atomic.Bool // it listens, but not by its first try: the server may have become another
	outage   *outage
	logger   *slog.Logger
	events   *eventBus
}

// run listens until ctx ends. A lost connection is made anew.
func (l *listener) run(ctx context.Context) {
	var retry backoff
	first := true
	for attempt := 1; ; attempt++ {
		emit(l.events, ListenConnecting{Attempt: attempt})
		connected, err := l.listen(ctx, first)
		first = false
		if ctx.Err() != nil {
			return
		}
		emit(l.events, ListenFailed{Err: err})
		if isOutage(err) {
			l.outage.found(err)
		} else {
			l.logger.Warn("cannot listen, will connect again", "error", err)
		}
		if connected >= healthy {
			retry.reset()
			attempt = 0
			l.broke.Store(true)
		}
		if !retry.wait(ctx) {
			return
		}
	}
}

// listen makes a connection, the first or another, and uses it until it breaks, and returns how long it lived.
func (l *listener) listen(ctx context.Context, first bool) (time.Duration, error) {
	started := time.Now()
	conn, err := l.open(ctx)
	if err != nil {
		return 0, err
	}
	l.outage.over(started)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-l.moved:
			cancel(errMoved)
		case <-ctx.Done():
		}
	}()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTimeout)
		defer cancel()
		_ = conn.Close(ctx) // it is broken or not needed any more
	}()

	emit(l.events, ListenConnected{})

	// What was announced while nobody listened is found by looking. Two of these signals may be taken for one.
	if !first {
		l.anew.Store(true)
	}
	l.listens.set()
	l.migrated.set()
	for {
		channel, err := waitForNotification(ctx, conn)
		if err != nil {
			if cause := context.Cause(ctx); errors.Is(cause, errMoved) {
				err = cause
			}
			return time.Since(started), err
		}
		switch channel {
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

// waitForNotification returns the channel of the next notification. A connection that says nothing for long is pinged:
// the other end may be gone without a word.
func waitForNotification(ctx context.Context, conn *pgx.Conn) (string, error) {
	for {
		waiting, cancel := context.WithTimeout(ctx, silence)
		notification, err := conn.WaitForNotification(waiting)
		cancel()
		if err == nil {
			return notification.Channel, nil
		}
		if ctx.Err() != nil || !pgconn.Timeout(err) {
			return "", fmt.Errorf("wait for notification: %w", err)
		}
		pinging, cancel := context.WithTimeout(ctx, pingTimeout)
		err = conn.Ping(pinging)
		cancel()
		if err != nil {
			return "", fmt.Errorf("ping: %w", err)
		}
	}
}
