package shim_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// counter is a tracer that counts what a worker asks the database.
type counter struct {
	beats chan struct{}

	mu     sync.Mutex
	claims int
	ticks  int
	others []string
}

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case strings.Contains(data.SQL, ".heartbeat("):
		c.beats <- struct{}{}
	case strings.Contains(data.SQL, ".get_job_batch("):
		c.claims++
	case strings.Contains(data.SQL, ".run_cron("):
		c.ticks++
	default:
		c.others = append(c.others, data.SQL)
	}
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// takeCounts returns what was asked since the last time.
func (c *counter) takeCounts() (claims, ticks int, others []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	claims, ticks, others = c.claims, c.ticks, c.others
	c.claims, c.ticks, c.others = 0, 0, nil
	return claims, ticks, others
}

func TestAnIdleWorkerCostsTwoConnectionsAQueryAPollABeatAndATickAMinute(t *testing.T) {
	pgtest.OnOneVersion(t)
	server := pgtest.Server(t, nil)
	for _, mode := range []string{"always", "idle"} {
		t.Run(mode, func(t *testing.T) {
			q := newQueueOn(t, server)
			q.exec(setNotify, mode)
			calls := &counter{beats: make(chan struct{}, 100)}
			config := q.pool.Config()
			config.ConnConfig.Tracer = calls
			config.ConnConfig.RuntimeParams["application_name"] = "idle"
			pool := q.poolOf(config)
			const poll = 2 * time.Second
			w := q.workerOn(pool, shim.Config{Concurrency: 10, PollInterval: poll})
			w.Handle("ping", func(context.Context, *shim.Job) error { return nil })
			w.start()

			receive(t, calls.beats) // the first is part of the start
			receive(t, calls.beats) // what a start needs is over by now
			for try := 1; ; try++ { // the machine may be busy with something else
				began := time.Now()
				calls.takeCounts()
				receive(t, calls.beats)
				claims, ticks, others := calls.takeCounts()
				polls := int(time.Since(began)/poll) + 1
				minutes := int(time.Since(began)/time.Minute) + 1
				if claims > 0 && claims <= polls && ticks <= minutes && others == nil {
					break
				}
				if try == 3 {
					t.Fatalf("in the time of %d polls and a beat there were %d claims, %d cron ticks, and %q", polls,
						claims, ticks, others)
				}
			}
			// Whenever a beat meets a poll, there is one more connection for a while.
			q.await(`select count(*) = 2 and bool_or(query like 'listen %' or query = '-- ping') -- which is what keeps it alive
			           from pg_stat_activity where application_name = 'idle' and datname = current_database()`)
		})
	}
}
