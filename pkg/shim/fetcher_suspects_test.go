package shim_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// suspect makes suspects of the jobs of some tasks.
func (q *queue) suspect(tasks ...string) {
	q.t.Helper()
	q.exec(`with suspects as (
		  insert into graphile_worker._gw_suspects (job_id, queue_name)
		  select j.id, j.queue_name from graphile_worker.jobs as j where j.task_identifier = any ($1)
		  returning job_id)
		update graphile_worker._private_jobs set job_queue_id = -2 where id in (select s.job_id from suspects as s)`,
		tasks)
}

func TestAJobThatHasToRunAloneRunsWithNothingBesideIt(t *testing.T) {
	q := newQueue(t)
	q.exec(`select graphile_worker.set_setting('beat_every', '1 second')`)
	q.add("suspect", 5)
	q.suspect("suspect")
	q.add("plain", 40)
	w := q.worker(shim.Config{Concurrency: 4})
	var running, beside, suspects atomic.Int32
	w.Handle("plain", func(context.Context, *shim.Job) error {
		defer running.Add(-1)
		if running.Add(1); suspects.Load() > 0 {
			beside.Add(1)
		}
		time.Sleep(5 * time.Millisecond) // is what it does
		return nil
	})
	w.Handle("suspect", func(context.Context, *shim.Job) error {
		defer suspects.Add(-1)
		if suspects.Add(1) != 1 || running.Load() > 0 {
			beside.Add(1)
		}
		time.Sleep(5 * time.Millisecond)
		return nil
	})
	w.start()
	q.await(`select not exists (select from graphile_worker.jobs)`)
	if n := beside.Load(); n != 0 {
		t.Errorf("%d times there was a job beside one that had to run alone", n)
	}
	q.await(`select not exists (select from graphile_worker._gw_suspects)`)
	w.stop()
}

func TestRunOnceRunsJobsThatHaveToRunAloneToo(t *testing.T) {
	q := newQueue(t)
	q.add("suspect", 3)
	q.suspect("suspect")
	q.add("plain", 3)
	w := q.worker(shim.Config{Concurrency: 4})
	w.Handle("suspect", func(context.Context, *shim.Job) error { return nil })
	w.Handle("plain", func(context.Context, *shim.Job) error { return nil })
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := q.jobs(); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}

func TestAWorkerThatRecoversADeadOneTellsSo(t *testing.T) {
	q := newQueue(t)
	pgtest.Hurry(t, q.pool)
	q.add("ping", 2)
	q.exec(`select graphile_worker.register_worker('dead')`)
	q.exec(`select graphile_worker.get_job_batch('dead', batch_size => 2)`)
	w := q.worker(shim.Config{})
	w.Handle("ping", func(context.Context, *shim.Job) error { return nil })
	recovered := make(chan shim.WorkersRecovered, 1)
	shim.On(w.Worker, func(e shim.WorkersRecovered) { recovered <- e })
	w.start()
	if e := receive(t, recovered); len(e.Workers) != 1 || e.Workers[0] != "dead" || e.Jobs != 2 {
		t.Errorf("the event is %+v", e)
	}
	q.await(`select not exists (select from graphile_worker.jobs)`)
}

func TestALostLeaseEndsTheHandlerAtTheNextBeat(t *testing.T) {
	q := newQueue(t)
	q.exec(`select graphile_worker.set_setting('beat_every', '100 milliseconds')`)
	w := q.worker(shim.Config{})
	started, causes := make(chan struct{}), make(chan error, 1)
	w.Handle("long", func(ctx context.Context, _ *shim.Job) error {
		close(started)
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil
	})
	lost := make(chan shim.LeaseLost, 1)
	shim.On(w.Worker, func(e shim.LeaseLost) { lost <- e })
	id := q.add("long", 1)
	w.start()
	receive(t, started)
	q.exec(`select graphile_worker.force_unlock_workers(array[$1])`, w.ID())
	if cause := receive(t, causes); !errors.Is(cause, shim.ErrLeaseLost) {
		t.Errorf("the cause is %v", cause)
	}
	if e := receive(t, lost); e.Job.ID != id {
		t.Errorf("the event is of job %d, want %d", e.Job.ID, id)
	}
}

// gate is a handler that notes that it has started, and waits to be opened.
func gate(started chan<- struct{}, opened <-chan struct{}) func(context.Context, *shim.Job) error {
	return func(ctx context.Context, _ *shim.Job) error {
		started <- struct{}{}
		select {
		case <-opened:
		case <-ctx.Done():
		}
		return nil
	}
}

func TestShortJobsGoOnBesideALongJobAndALongSuspect(t *testing.T) {
	q := newQueue(t)
	q.exec(`select graphile_worker.set_setting('beat_every', '200 milliseconds')`)
	w := q.worker(shim.Config{Concurrency: 4})
	long, suspect, opened := make(chan struct{}, 1), make(chan struct{}, 3), make(chan struct{})
	w.Handle("long", gate(long, opened))
	w.Handle("suspect", gate(suspect, opened))
	w.Handle("short", func(context.Context, *shim.Job) error { return nil })
	w.start()
	q.add("long", 1)
	receive(t, long)
	q.exec(`insert into graphile_worker._gw_suspects (job_id)
		select j.id from generate_series(1, 2) as n cross join lateral graphile_worker.add_job('suspect', json_build_object('n', n)) as j;
		update graphile_worker._private_jobs set job_queue_id = -2 where task_id = (select t.id from graphile_worker._private_tasks as t where t.identifier = 'suspect')`)
	const noShorts = `select not exists (select from graphile_worker.jobs where task_identifier = 'short')`
	for range 2 {
		for done := false; !done; { // while it waits
			q.add("short", 10)
			q.await(noShorts)
			select {
			case <-suspect:
				done = true
			default:
			}
		}
	}
	q.add("short", 100) // while they run
	q.await(noShorts)
	if n := value[int](q, `select count(*) from graphile_worker._gw_suspects where is_alone`); n != 0 {
		t.Errorf("%d suspects are said to be alone beside others", n)
	}
	close(opened)
	q.await(`select not exists (select from graphile_worker.jobs)`)
	w.stop()
}

func TestAWorkerMakesNoRoomForWhatItMayNotTake(t *testing.T) {
	q := newQueue(t)
	q.exec(`select graphile_worker.set_setting('beat_every', '100 milliseconds')`)
	q.exec(`select graphile_worker.add_job('of all', flags => '{forbidden}'), graphile_worker.add_job('of one', flags => '{picky}'),
		  graphile_worker.add_job('of others')`)
	q.suspect("of all", "of one", "of others")
	calls := &counter{beats: make(chan struct{}, 1000)}
	config := q.pool.Config()
	config.ConnConfig.Tracer = calls
	pool := q.poolOf(config)
	w := q.workerOn(pool, shim.Config{Concurrency: 2, ForbiddenFlags: []string{"forbidden"}})
	started, opened := make(chan struct{}, 1), make(chan struct{})
	w.Handle("long", gate(started, opened))
	w.Handle("of all", func(context.Context, *shim.Job) error { return nil })
	w.Handle("of one", func(context.Context, *shim.Job) error { return nil }, shim.ForbiddenFlags("picky"))
	q.add("long", 1)
	w.start()
	receive(t, started)
	for range 15 {
		receive(t, calls.beats)
	}
	if n := value[int](q, `select count(*) from graphile_worker._gw_suspects where room_at is null and worker_id is null`); n != 3 {
		t.Errorf("room was made for %d of three suspects that are not the worker's", 3-n)
	}
	close(opened)
	q.await(`select count(*) = 3 from graphile_worker.jobs`)
	w.stop()
}
