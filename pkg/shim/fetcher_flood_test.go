package shim_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/shim"
)

// claimsUnderWay is a tracer that counts how many claims are under way at once, and makes each take a while, as on a
// slow link. Without that, a machine that is busy with other things may answer each claim before the worker begins the
// next.
type claimsUnderWay struct{ now, most atomic.Int64 }

type isClaim struct{}

func (c *claimsUnderWay) TraceQueryStart(ctx context.Context, _ *pgx.Conn,
	data pgx.TraceQueryStartData) context.Context {
	if !strings.Contains(data.SQL, ".get_job_batch(") {
		return ctx
	}
	c.most.Store(max(c.most.Load(), c.now.Add(1)))
	time.Sleep(10 * time.Millisecond)
	return context.WithValue(ctx, isClaim{}, true)
}

func (c *claimsUnderWay) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if ctx.Value(isClaim{}) != nil {
		c.now.Add(-1)
	}
}

// executions counts how often each job ran.
type executions struct {
	mu    sync.Mutex
	times map[int64]int
	seen  chan int // how many jobs have run so far; a test may look away
}

func newExecutions() *executions {
	return &executions{times: make(map[int64]int), seen: make(chan int, 1)}
}

func (e *executions) handle(_ context.Context, job *shim.Job) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.times[job.ID]++
	select {
	case <-e.seen:
	default:
	}
	e.seen <- len(e.times)
	return nil
}

// await waits until n jobs have run.
func (e *executions) await(t *testing.T, n int) {
	t.Helper()
	for receive(t, e.seen) < n {
	}
}

// expectOnce expects that n jobs ran, each of them once.
func (e *executions) expectOnce(t *testing.T, n int) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.times) != n {
		t.Errorf("%d jobs ran, want %d", len(e.times), n)
	}
	for id, times := range e.times {
		if times != 1 {
			t.Errorf("job %d ran %d times", id, times)
		}
	}
}

const floodJobs = 20_000

func TestInAFloodTwoClaimsAreUnderWayAndAfterItTheWorkerSleeps(t *testing.T) {
	q := newQueue(t)
	q.add("drop", floodJobs)
	claims := &claimsUnderWay{}
	config := q.pool.Config()
	config.ConnConfig.Tracer = claims
	pool := q.poolOf(config)
	ran := newExecutions()
	w := q.workerOn(pool, shim.Config{Concurrency: 50, QuietSuccess: true})
	w.Handle("drop", ran.handle)
	w.start()
	ran.await(t, floodJobs)
	total := floodJobs
	for deadline := time.Now().Add(patience); claims.most.Load() < 2; total += floodJobs { // its handlers had been cut short
		if time.Now().After(deadline) {
			t.Fatal("claims were under way one at a time")
		}
		q.add("drop", floodJobs)
		ran.await(t, total+floodJobs)
	}
	if most := claims.most.Load(); most > 2 {
		t.Errorf("%d claims were under way at once", most)
	}
	q.await(`select count(*) = 0 from graphile_worker.jobs`)
	q.add("drop", 1)
	ran.await(t, total+1)
	w.stop()
	ran.expectOnce(t, total+1)
}

func TestAWorkerStoppedInAFloodReturnsWhatHasNotStarted(t *testing.T) {
	q := newQueue(t)
	q.add("drop", floodJobs)
	ran := newExecutions()
	w := q.worker(shim.Config{Concurrency: 50, QuietSuccess: true})
	w.Handle("drop", ran.handle)
	w.start()
	ran.await(t, floodJobs/2)
	w.stop()
	left := value[int](q, `select count(*) from graphile_worker.jobs where locked_at is null and attempts = 0`)
	if left == 0 || left != q.jobs() {
		t.Errorf("%d of %d jobs that are left can run as if nothing had been", left, q.jobs())
	}
	ran.expectOnce(t, floodJobs-left)
}
