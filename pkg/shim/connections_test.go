package shim_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/shim"
)

func TestHandlersThatHoldEveryConnectionOfThePoolKeepNothingElseWaiting(t *testing.T) {
	q := newQueue(t)
	config := q.pool.Config()
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	w := q.workerOn(pool, shim.Config{Concurrency: 2})
	holding, release := make(chan struct{}), make(chan struct{})
	w.Handle("hold", func(ctx context.Context, _ *shim.Job) error {
		return pool.AcquireFunc(ctx, func(*pgxpool.Conn) error {
			close(holding)
			<-release
			return nil
		})
	})
	ran := make(chan int64, 1)
	w.Handle("ping", func(_ context.Context, job *shim.Job) error {
		ran <- job.ID
		return nil
	})
	q.add("hold", 1)
	w.start()
	receive(t, holding)
	for range 2 {
		id := q.add("ping", 1)
		if got := receive(t, ran); got != id {
			t.Errorf("job %d ran, want %d", got, id)
		}
		q.await(`select not exists (select from graphile_worker.jobs where id = $1)`, id)
	}
	q.exec(`update graphile_worker._gw_workers set last_seen_at = 'epoch'`)
	q.await(`select last_seen_at > 'epoch' from graphile_worker._gw_workers`)
	close(release)
	w.stop()
}
