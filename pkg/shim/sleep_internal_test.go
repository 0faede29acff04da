package shim

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestOldTransactionsAreLookedAtSeldom(t *testing.T) {
	for _, c := range []struct{ age, pause time.Duration }{
		{0, 200 * time.Microsecond},
		{4 * time.Millisecond, time.Millisecond},
		{50 * time.Millisecond, 2 * time.Millisecond},
		{400 * time.Millisecond, 2 * time.Millisecond},
		{3 * time.Second, 15 * time.Millisecond},
		{time.Hour, 18 * time.Second},
	} {
		if got := pauseAt(c.age); got != c.pause {
			t.Errorf("at the age of %s the pause is %s, want %s", c.age, got, c.pause)
		}
	}
	s := &sleep{pollInterval: 2 * time.Second}
	first := time.Now().Add(-time.Hour)
	s.inFlight = map[int64]time.Time{1: first}
	pause := func(transactions ...int64) time.Duration {
		s.expect(transactions)
		return time.Until(s.lookAt).Round(100 * time.Millisecond)
	}
	if got := pause(1); got != 2*time.Second {
		t.Errorf("an old transaction is looked at after %s, want the poll interval", got)
	}
	if got := pause(1, 2); got != 0 {
		t.Errorf("beside a new one, it is looked at after %s, want at once", got)
	}
	if got := pause(1); got != 2*time.Second {
		t.Errorf("when the new one has ended, it is looked at after %s, want the poll interval", got)
	}
}

// The worker takes its mark away whenever it finds a job, so that it falls asleep anew hundreds of times amid transactions
// that add jobs and stay open for a moment. It never polls.
func TestNoJobIsMissedByAWorkerThatKeepsFallingAsleep(t *testing.T) {
	t.Parallel()
	const producers, each, patience = 4, 200, time.Minute
	url := pgtest.Database(t)
	pool := pgtest.Pool(t, url)
	pgtest.Exec(t, pool, `select graphile_worker.set_setting('notify', 'idle')`)
	w, err := New(pgtest.Pool(t, url), Config{
		Concurrency: 2, PollInterval: time.Hour, QuietSuccess: true, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	var ran atomic.Int64
	all := make(chan struct{})
	s := newSession(w, map[string]Handler{"ping": func(context.Context, *Job) error {
		if ran.Add(1) == producers*each {
			close(all)
		}
		return nil
	}}, false)
	s.backlogTime = 0
	ended := make(chan error, 1)
	go func() { ended <- s.run(context.Background()) }()
	defer func() {
		w.Kill()
		if err := <-ended; err != nil {
			t.Errorf("the run returned %v", err)
		}
	}()
	// A job of its own for the start: by then the worker listens.
	pgtest.Await(t, pool, `select exists (select from graphile_worker._gw_sleepers)`)
	pgtest.Await(t, pool, `select exists (select from pg_stat_activity
		where datname = current_database() and query like 'listen %' and state = 'idle')`)

	var working sync.WaitGroup
	for range producers {
		working.Go(func() {
			for range each {
				if _, err := pool.Exec(context.Background(), `
					do $$
					begin
					  perform pg_sleep(0.01 * random());
					  perform graphile_worker.add_job('ping');
					  perform pg_sleep(0.005 * random());
					end
					$$`); err != nil {
					t.Error(err)
				}
			}
		})
	}
	working.Wait()
	select {
	case <-all:
	case <-time.After(patience):
		t.Errorf("%d of %d jobs ran", ran.Load(), producers*each)
	}
}
