package connection

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// newLink returns a link and its other end.
func newLink(t *testing.T) (*link, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	conn, err := dialLink(func(context.Context, string, string) (net.Conn, error) { return near, nil })(t.Context(), "",
		"")
	if err != nil {
		t.Fatal(err)
	}
	return conn.(*link), far
}

func TestACallGoesOnForAsLongAsBytesArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, far := newLink(t)
		time.Sleep(time.Hour) // what came before does not matter
		ctx, end := l.whileHeard(t.Context(), time.Minute)
		for range 100 {
			time.Sleep(50 * time.Second)
			go func() { _, _ = far.Write([]byte{1}) }()
			if _, err := l.Read(make([]byte, 1)); err != nil || ctx.Err() != nil {
				t.Fatal(err, ctx.Err())
			}
		}
		began := time.Now()
		<-ctx.Done()
		if silent := time.Since(began); silent != time.Minute || context.Cause(ctx) != ErrSilent {
			t.Errorf("it ended after %v: %v", silent, context.Cause(ctx))
		}
		end()
	})
}

// The process was paused for so long that it may count as dead, even if data waits to be read.
func TestACallFailsThoughItsBytesComeAfterAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, far := newLink(t)
		_, end := l.whileHeard(t.Context(), time.Minute)
		time.Sleep(time.Minute + 1)
		go func() { _, _ = far.Write([]byte{1, 1}) }()
		if _, err := l.Read(make([]byte, 1)); !errors.Is(err, ErrSilent) {
			t.Errorf("read: %v", err)
		}
		end()
		if _, err := l.Read(make([]byte, 1)); err != nil {
			t.Errorf("between calls it may be silent: %v", err)
		}
	})
}
