package shim

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestAHandlerThatIgnoresItsContextIsLeftBehindAndItsJobReturned(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Database(t))
	if _, err := pool.Exec(t.Context(), `select graphile_worker.add_job('deaf')`); err != nil {
		t.Fatal(err)
	}
	w, err := New(pool, Config{Grace: -1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	defer close(release)
	w.Handle("deaf", func(context.Context, *Job) error {
		w.Kill()
		<-release
		return nil
	})
	s := newSession(w, false)
	s.abandonTime = time.Millisecond
	if err := s.run(t.Context()); !errors.Is(err, ErrInterrupted) {
		t.Errorf("the run returned %v", err)
	}
	var returned bool
	err = pool.QueryRow(t.Context(), `select attempts = 0 and locked_at is null from graphile_worker.jobs`).Scan(&returned)
	if err != nil || !returned {
		t.Errorf("returned %t, %v", returned, err)
	}
}
