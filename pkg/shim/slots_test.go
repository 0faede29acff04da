package shim_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// also returns the queue of another database of the same test.
func (q *queue) also() *queue {
	q.t.Helper()
	url := pgtest.Database(q.t)
	return &queue{t: q.t, url: url, pool: pgtest.Pool(q.t, url)}
}

func TestWorkersShareSlotsFairly(t *testing.T) {
	const slots, jobs = 4, 3000
	a := newQueue(t)
	b := a.also()
	a.add("work", jobs)
	b.add("work", jobs)
	shared := shim.NewSlots(slots)
	var running, most atomic.Int64
	var mu sync.Mutex
	var order strings.Builder
	handler := func(name string) shim.Handler {
		return func(context.Context, *shim.Job) error {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer running.Add(-1)
			mu.Lock()
			order.WriteString(name)
			mu.Unlock()
			time.Sleep(2 * time.Millisecond) // the duration of the handler
			return nil
		}
	}
	for name, q := range map[string]*queue{"a": a, "b": b} {
		w := q.worker(shim.Config{Slots: shared})
		w.Handle("work", handler(name))
		w.start()
	}
	a.await("select count(*) = 0 from graphile_worker.jobs")
	b.await("select count(*) = 0 from graphile_worker.jobs")
	if most.Load() > slots {
		t.Errorf("%d jobs ran at once, more than %d slots", most.Load(), slots)
	}
	// When one worker has started its last job, the other has started a good part of its own.
	mu.Lock()
	all := order.String()
	mu.Unlock()
	first := all[:min(strings.LastIndex(all, "a"), strings.LastIndex(all, "b"))]
	if least := min(strings.Count(first, "a"), strings.Count(first, "b")); least < jobs/5 {
		t.Errorf("while one worker started its %d jobs, the other started %d", jobs, least)
	}
}

func TestAVisitorClaimsOnlyWhileTheOthersHaveNothingToClaim(t *testing.T) {
	home := newQueue(t)
	other := home.also()
	shared := shim.NewSlots(2)
	gate, started := make(chan struct{}), make(chan string, 10)
	build := func(q *queue, name string, cfg shim.Config) *worker {
		cfg.Slots = shared
		w := q.worker(cfg)
		w.Handle("work", func(context.Context, *shim.Job) error {
			started <- name
			<-gate
			return nil
		})
		return w
	}
	defer close(gate)
	homeWorker := build(home, "home", shim.Config{})
	visitor := build(other, "other", shim.Config{Visitor: true, PollOnly: true, PollInterval: 20 * time.Millisecond})
	home.add("work", 3)
	homeWorker.start()
	for range 2 {
		if name := receive(t, started); name != "home" {
			t.Fatalf("a job of %s started", name)
		}
	}
	other.add("work", 1)
	visitor.start()
	visitor.logs.await(t, "worker started")
	gate <- struct{}{}
	if name := receive(t, started); name != "home" { // the third one
		t.Fatalf("a job of %s started before those at home", name)
	}
	gate <- struct{}{}
	if name := receive(t, started); name != "other" {
		t.Fatalf("a job of %s started", name)
	}

	// As a worker that is at home, too, it takes its turn.
	const many = 2000
	home.add("work", many)
	other.add("work", 1)
	visitor.SetVisitor(false)
	for n := 1; ; n++ {
		gate <- struct{}{}
		if receive(t, started) == "other" {
			break
		}
		if n == many {
			t.Fatal("the other worker had no turn while there were jobs at home")
		}
	}
}

func TestSlotsAndAConcurrencyExcludeEachOther(t *testing.T) {
	q := newQueue(t)
	for want, cfg := range map[string]shim.Config{
		"slots and a concurrency exclude each other": {Slots: shim.NewSlots(1), Concurrency: 1},
		"a visitor needs slots":                      {Visitor: true},
	} {
		if _, err := shim.New(q.pool, cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
