//go:build unix

package shim_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

func TestTheFirstSignalStopsAndTheSecondKills(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{HandleSignals: true, Grace: time.Hour})
	other := q.worker(shim.Config{}) // does not mind
	sub := w.Subscribe(1000)
	running := make(chan struct{})
	w.Handle("long", func(ctx context.Context, _ *shim.Job) error {
		close(running)
		<-ctx.Done()
		return ctx.Err()
	})
	other.Handle("long", func(context.Context, *shim.Job) error { return nil })
	q.add("long", 1)
	w.start()
	receive(t, running)
	other.start()
	raise := func() {
		t.Helper()
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	raise()
	next[shim.ShutdownStarted](t, sub)
	raise()
	next[shim.ShutdownForced](t, sub)
	if err := w.wait(); !errors.Is(err, shim.ErrInterrupted) {
		t.Errorf("Run returned %v", err)
	}
	q.await(`select not exists (select from graphile_worker.jobs)`) // by the other worker
	other.stop()
}
