package shim_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/shim"
)

// inServer makes a worker that runs the jobs of the task "work" by app.work, which records each. It takes a millisecond, and many
// run in one transaction.
func (q *queue) inServer(cfg shim.Config) *worker {
	q.t.Helper()
	q.exec(`
		create schema app;
		create table app.done (n integer);
		create function app.work(payload json) returns void language plpgsql as $$
		begin
		  insert into app.done values ((payload ->> 'n')::integer);
		  perform pg_sleep(0.001);
		end $$`)
	w := q.worker(cfg)
	call := shim.InServer(shim.ServerCall{Function: "app.work", PayloadType: "json", Timeout: time.Minute})
	if err := w.SetTasks(shim.Task{Name: "work", Handler: q.callWork(q.pool), Options: []shim.TaskOption{call}}); err != nil {
		q.t.Fatal(err)
	}
	return w
}

// callWork returns the handler of jobs that do not run in batches.
func (q *queue) callWork(pool *pgxpool.Pool) shim.Handler {
	return func(ctx context.Context, job *shim.Job) error {
		_, err := pool.Exec(ctx, `select app.work($1::json)`, string(job.Payload))
		return err
	}
}

func (q *queue) done() int {
	q.t.Helper()
	return value[int](q, `select count(*) from app.done`)
}

const (
	runsInBatches = `select exists (select from graphile_worker._gw_batches) and exists (select from app.done)`
	endedBatches  = `select not exists (select from graphile_worker._gw_batches)`
)

func TestBatchesTakeSlotsLikeJobs(t *testing.T) {
	home := newQueue(t)
	other := home.also()
	shared := shim.NewSlots(2)
	gate, started := make(chan struct{}), make(chan struct{}, 100)
	homeWorker := home.worker(shim.Config{Slots: shared})
	homeWorker.Handle("work", func(context.Context, *shim.Job) error {
		started <- struct{}{}
		<-gate
		return nil
	})
	visitor := other.inServer(shim.Config{Slots: shared, Visitor: true, PollOnly: true, PollInterval: 20 * time.Millisecond, QuietSuccess: true})
	const jobs = 5000
	other.add("work", jobs)
	homeWorker.start()
	home.awaitListening()
	visitor.start()
	other.await(runsInBatches)

	// The home has jobs to claim, which a visitor's batches must not overtake.
	home.add("work", 10)
	receive(t, started)
	receive(t, started)
	before := other.done()
	for range 8 {
		gate <- struct{}{}
		receive(t, started)
	}
	if n := other.done() - before; n > 0 {
		t.Errorf("%d jobs of the visitor ran before those at home", n)
	}
	gate <- struct{}{}
	gate <- struct{}{}
	other.await(runsInBatches)

	// If both are at home, the two jobs get their slots in turn. Then no slot is free.
	visitor.SetVisitor(false)
	home.add("work", 2)
	receive(t, started)
	receive(t, started)
	before = other.done()
	other.await(endedBatches)
	if n := other.done() - before; n > 0 {
		t.Errorf("%d jobs ran in batches while no slot was free", n)
	}

	close(gate)
	other.await(`select not exists (select from graphile_worker.jobs)`)
	if n := other.done(); n != jobs {
		t.Errorf("%d jobs of the visitor ran, want %d", n, jobs)
	}
}

func TestAVisitorWaitsWhileTheHomeRunsBatches(t *testing.T) {
	home := newQueue(t)
	other := home.also()
	shared := shim.NewSlots(4)
	home.add("work", 3000)
	homeWorker := home.inServer(shim.Config{Slots: shared, QuietSuccess: true})
	visitor := other.worker(shim.Config{Slots: shared, Visitor: true, PollOnly: true, PollInterval: 5 * time.Millisecond})
	left := make(chan int, 1)
	visitor.Handle("work", func(context.Context, *shim.Job) error {
		left <- home.jobs()
		return nil
	})
	homeWorker.start()
	home.await(runsInBatches)
	visitor.start()
	visitor.logs.await(t, "worker started")
	other.add("work", 1)
	if n := receive(t, left); n > 0 {
		t.Errorf("a job of the visitor ran while %d jobs were waiting at home", n)
	}
}
