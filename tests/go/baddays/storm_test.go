package baddays

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// A hundred workers lose their server at once. They come back spread out, however long it was away.
func TestAHundredWorkersDoNotComeBackInOneInstant(t *testing.T) {
	t.Parallel()
	const workers = 100
	server := ownServer(t, map[string]string{"max_connections": "700"})
	network, through := newProxy(t, server.URL("postgres"))
	pool := pgtest.Pool(t, server.URL("postgres"))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, workers)
	for i := range workers {
		own := pgtest.Pool(t, through)
		w, err := shim.New(own, shim.Config{WorkerID: fmt.Sprint("w", i), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		w.Handle("work", func(context.Context, *shim.Job) error { return nil })
		go func() { ended <- w.Run(ctx) }()
	}
	defer func() {
		stop()
		for range workers {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}()
	const listening = "select count(*) = $1 from pg_stat_activity where query like 'listen %'"
	pgtest.Await(t, pool, listening, workers)

	if err := server.Halt(true); err != nil {
		t.Fatal(err)
	}
	away := time.Now()
	time.Sleep(3 * time.Second) // the outage itself, there is nothing to wait for
	if err := server.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	back := time.Now()
	pool.Reset()
	pgtest.Await(t, pool, listening, workers)
	t.Logf("all listened again %v after the server was back", time.Since(back).Round(time.Millisecond))

	// Of the tries from the second second on, when chance has spread them.
	var tries []time.Time
	for _, at := range network.arrivals() {
		if at.After(away.Add(2 * time.Second)) {
			tries = append(tries, at)
		}
	}
	slices.SortFunc(tries, time.Time.Compare)
	most, first := 0, 0
	for last, at := range tries {
		for at.Sub(tries[first]) > 100*time.Millisecond {
			first++
		}
		most = max(most, last-first+1)
	}
	t.Logf("%d connections, at most %d within a tenth of a second", len(tries), most)
	if most > workers {
		t.Errorf("%d connections came within a tenth of a second", most)
	}
}
