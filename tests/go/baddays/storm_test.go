package baddays

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

var workersFlag = flag.Int("baddays.workers", 30, "how many `workers` lose their server at once")

// Many workers lose their server at once. Their reconnections are spread over time.
func TestWorkersThatLoseTheirServerAtOnceComeBackSpreadOut(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	workers := *workersFlag
	server := ownServer(t, map[string]string{"max_connections": "700"})
	network, through := newProxy(t, server.URL("postgres"))
	pool := pgtest.Pool(t, server.URL("postgres"))
	ctx, stop := context.WithCancel(context.Background())
	started, ended := make(chan struct{}, workers), make(chan error, workers)
	for i := range workers {
		runIdle(ctx, t, through, fmt.Sprint("w", i), started, ended)
	}
	defer func() {
		stop()
		for range workers {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}()
	for range workers { // a worker that has not started when the server stops would end
		select {
		case <-started:
		case err := <-ended:
			ended <- err // read at the end of the test
			t.Fatalf("a worker ended before its server did: %v", err)
		}
	}
	// Each worker has a listening connection and one for heartbeats.
	const connected = "select count(*) >= 2 * $1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
	pgtest.Await(t, pool, connected, workers)

	if err := server.Halt(true); err != nil {
		t.Fatal(err)
	}
	away := time.Now()
	time.Sleep(3 * time.Second) // the duration of the outage
	if err := server.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	back := time.Now()
	pool.Reset()
	pgtest.Await(t, pool, connected, workers)
	t.Logf("all workers were connected %v after the server was back", time.Since(back).Round(time.Millisecond))

	// The attempts from the second second on, which are spread randomly.
	var tries []time.Time
	for _, at := range network.arrivals() {
		if at.After(away.Add(2 * time.Second)) {
			tries = append(tries, at)
		}
	}
	most := mostWithin(100*time.Millisecond, tries)
	t.Logf("%d connections, at most %d within a tenth of a second", len(tries), most)
	if most > len(tries)/4 { // if they were in step, more than a third of them would come at once
		t.Errorf("%d of %d connections came within a tenth of a second", most, len(tries))
	}
}

// mostWithin returns how many of these times at most are within a span.
func mostWithin(span time.Duration, times []time.Time) int {
	slices.SortFunc(times, time.Time.Compare)
	most, first := 0, 0
	for last, at := range times {
		for at.Sub(times[first]) > span {
			first++
		}
		most = max(most, last-first+1)
	}
	return most
}

// runIdle runs a worker until ctx ends, and sends when it has started and ended.
func runIdle(ctx context.Context, t *testing.T, url, id string, started chan<- struct{}, ended chan<- error) {
	t.Helper()
	own := pgtest.Pool(t, url)
	w, err := shim.New(own, shim.Config{WorkerID: id, PollInterval: time.Minute, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	w.Handle("work", func(context.Context, *shim.Job) error { return nil })
	shim.On(w, func(shim.WorkerStarted) { started <- struct{}{} })
	go func() {
		err := w.Run(ctx)
		if err != nil {
			t.Error(err)
		}
		ended <- err
	}()
}
