//go:build ha

package ha

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// producer adds one job after the other, on a connection that it replaces after each error. It does not try a job again.
type producer struct {
	name, url string
	first     int // the number of its first job; it counts by two
	stop      func()

	mu         sync.Mutex
	acked      map[int]time.Time // when add_job answered, by the number of the job
	times      []time.Time       // the same, in order
	unanswered []int             // the jobs of which it is not known whether they were added
}

func startProducer(t *testing.T, name, url string, first int) *producer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p := &producer{name: name, url: url, first: first, acked: make(map[int]time.Time)}
	done := make(chan struct{})
	p.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(p.stop)
	go func() {
		defer close(done)
		p.run(ctx)
	}()
	return p
}

func (p *producer) run(ctx context.Context) {
	var conn *pgx.Conn
	pause := time.NewTicker(30 * time.Millisecond)
	defer pause.Stop()
	for n := p.first; ; n += 2 {
		select {
		case <-ctx.Done():
			if conn != nil {
				_ = conn.Close(context.Background())
			}
			return
		case <-pause.C:
		}
		if conn == nil {
			conn = p.connect()
		}
		if conn != nil && !p.add(conn, n) {
			conn = nil
		}
	}
}

func (p *producer) connect() *pgx.Conn {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, p.url)
	if err != nil {
		return nil
	}
	return conn
}

// add adds a job, every seventh in a named queue. It returns false, with the connection closed, after an error.
func (p *producer) add(conn *pgx.Conn, n int) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	queue := ""
	if n%7 == 0 {
		queue = fmt.Sprint("q", n%3)
	}
	_, err := conn.Exec(ctx, "select graphile_worker.add_job('record', json_build_object('n', $1::integer), queue_name => nullif($2, ''))",
		n, queue)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		now := time.Now()
		p.acked[n] = now
		p.times = append(p.times, now)
		return true
	}
	if _, refused := errors.AsType[*pgconn.PgError](err); !refused {
		p.unanswered = append(p.unanswered, n)
	}
	_ = conn.Close(context.Background())
	return false
}

// since returns the times since a time at which jobs were added.
func (p *producer) since(start time.Time) []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return after(p.times, start)
}
