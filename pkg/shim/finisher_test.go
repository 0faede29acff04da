package shim_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

func TestALateOutcomeIsRefusedAndSaidSo(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	running, release := make(chan struct{}), make(chan struct{})
	w.Handle("long", func(context.Context, *shim.Job) error {
		close(running)
		<-release
		return nil
	})
	id := q.add("long", 1)
	w.start()
	receive(t, running)
	// Even the same worker's next claim is another lease.
	q.exec(`select graphile_worker.force_unlock_workers(array[$1])`, w.ID())
	q.exec(`select id from graphile_worker.get_job($1, array['long'])`, w.ID())
	close(release)
	w.logs.await(t, "WARN lease lost", "task_identifier=long", fmt.Sprint("job_id=", id), "attempt=1")
	if !value[bool](q, `select locked_by = $1 and attempts = 2 from graphile_worker.jobs`, w.ID()) {
		t.Error("the second claim did not outlive the first one's outcome")
	}
	w.stop()
}

func TestQuietSuccessDropsOnlySuccesses(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{QuietSuccess: true})
	w.Handle("good", func(context.Context, *shim.Job) error { return nil })
	w.Handle("bad", func(context.Context, *shim.Job) error { return fmt.Errorf("bad") })
	q.exec(`select graphile_worker.add_job('good'), graphile_worker.add_job('bad')`)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.logs.await(t, "WARN job failed")
	if lines, _ := w.logs.find("job completed"); lines != nil {
		t.Errorf("logged %q", lines)
	}
}

func TestWhileTheDatabaseTakesNoOutcomesAWorkerHoldsSoManyJobsAndNoMore(t *testing.T) {
	q := newQueue(t)
	q.exec(`create function wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock_shared(2); return null; end $$;
	        create trigger wait before delete on graphile_worker._private_jobs for each statement execute function wait()`)
	slow, err := q.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Rollback(context.Background()) }()
	if _, err := slow.Exec(t.Context(), `select pg_advisory_xact_lock(2)`); err != nil {
		t.Fatal(err)
	}
	const most = 10 + 3000 + 2000 // those that run, that wait for it, and that wait to be written
	w := q.worker(shim.Config{Concurrency: 10, QuietSuccess: true})
	var started atomic.Int64
	w.Handle("short", func(context.Context, *shim.Job) error {
		started.Add(1)
		return nil
	})
	q.exec(`select count(*) from graphile_worker.add_jobs(array(
		select row('short', '{}', null, now(), null, null, null, null)::graphile_worker.job_spec
		  from generate_series(1, 2 * $1::integer)))`, most)
	w.start()
	const held = `select count(*) from graphile_worker.jobs where locked_at is not null`
	q.await(`select (`+held+`) >= $1::integer`, most)
	since := value[time.Time](q, `select clock_timestamp()`)
	q.exec(`notify "jobs:insert"`)
	q.await(`select clock_timestamp() > $1::timestamptz + interval '1 second'`, since)
	if n := value[int](q, held); n != most || started.Load() > most {
		t.Errorf("%d jobs are held and %d have started, want %d", n, started.Load(), most)
	}
	if err := slow.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	q.await(`select not exists (select from graphile_worker.jobs)`)
	w.stop()
}
