package shim_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/shim"
)

func TestHandlersThatHoldEveryConnectionOfThePoolKeepNothingElseWaiting(t *testing.T) {
	q := newQueue(t)
	config := q.pool.Config()
	config.MaxConns = 1
	pool := q.poolOf(config)
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

func TestHundredsOfHandlersNeedNoConnectionsOfTheirOwn(t *testing.T) {
	const concurrency = 300
	q := newQueue(t)
	config := q.pool.Config()
	config.ConnConfig.RuntimeParams["application_name"] = "many"
	pool := q.poolOf(config)
	w := q.workerOn(pool, shim.Config{Concurrency: concurrency})
	running, release := make(chan struct{}, concurrency), make(chan struct{})
	w.Handle("long", func(context.Context, *shim.Job) error {
		running <- struct{}{}
		<-release
		return nil
	})
	q.add("long", concurrency)
	w.start()
	for range concurrency {
		receive(t, running)
	}
	if n := value[int](q, `select count(*) from pg_stat_activity where application_name = 'many' and datname = current_database()`); n > 6 {
		t.Errorf("the worker has %d connections", n)
	}
	close(release)
	w.stop()
}

func TestWhatHasNotStartedIsReturnedOnTheNextConnectionWhenThisOneIsLost(t *testing.T) {
	q := newQueue(t)
	config := q.pool.Config()
	config.ConnConfig.RuntimeParams["application_name"] = "cut"
	var cut atomic.Bool
	config.BeforeConnect = func(context.Context, *pgx.ConnConfig) error {
		if cut.Load() {
			return errors.New("no way through")
		}
		return nil
	}
	pool := q.poolOf(config)
	w := q.workerOn(pool, shim.Config{})
	const total, blocking = 300, 150
	release := make(chan struct{})
	ran := 0
	w.Handle("short", func(ctx context.Context, _ *shim.Job) error {
		if ran++; ran != blocking {
			return nil
		}
		cut.Store(true)
		_, err := q.pool.Exec(ctx, `
			select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'cut' and datname = current_database()`)
		<-release
		return err
	})
	q.add("short", total)
	w.start()
	w.logs.await(t, "DEBUG outcomes could not be written, worker will try again")
	if n := value[int](q, `select count(*) from graphile_worker.jobs where locked_at is not null`); n < 2 {
		t.Fatalf("the worker holds %d jobs, nothing is to be returned", n)
	}
	cut.Store(false)
	q.await(`select count(*) <= 1 from graphile_worker.jobs where locked_at is not null`)
	close(release)
	w.stop()
}
