package shim_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/shim"
)

// All workers of these tests poll once an hour: that the tests end shows that nothing waits for the poll.

func TestAnIdleWorkerIsWokenByANewJob(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	ran := make(chan int64, 1)
	w.Handle("ping", func(_ context.Context, job *shim.Job) error {
		ran <- job.ID
		return nil
	})
	w.start()
	q.awaitListening()
	for range 3 {
		id := q.add("ping", 1)
		if got := receive(t, ran); got != id {
			t.Errorf("job %d ran, want %d", got, id)
		}
	}
}

func TestAJobStartsWhenItIsDueNotWhenSomebodyPolls(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	late := make(chan float64, 1)
	w.Handle("alarm", func(ctx context.Context, job *shim.Job) error {
		var seconds float64
		err := q.pool.QueryRow(ctx, `select extract(epoch from clock_timestamp() - run_at)::float8 from graphile_worker.jobs where id = $1`, job.ID).Scan(&seconds)
		late <- seconds
		return err
	})
	w.start()
	q.awaitListening()
	// Announced while the worker sleeps, brought forward, and known from the last empty claim.
	for _, sql := range []string{
		`select graphile_worker.add_job('alarm', run_at => clock_timestamp() + interval '150 ms')`,
		`select graphile_worker.add_job('alarm', job_key => 'k', run_at => clock_timestamp() + interval '1 hour');
		 select graphile_worker.add_job('alarm', job_key => 'k', run_at => clock_timestamp() + interval '150 ms')`,
		`select graphile_worker.add_job('alarm', run_at => clock_timestamp() + i * interval '150 ms') from generate_series(1, 2) as i`,
	} {
		q.exec(sql)
		if seconds := receive(t, late); seconds < 0 {
			t.Errorf("started %f s before it was due", -seconds)
		}
	}
	if seconds := receive(t, late); seconds < 0 {
		t.Errorf("started %f s before it was due", -seconds)
	}
}

func TestANamedQueueMovesOnAtOnceAndInOrder(t *testing.T) {
	for _, pollOnly := range []bool{false, true} {
		t.Run(fmt.Sprint("poll only ", pollOnly), func(t *testing.T) {
			q := newQueue(t)
			const length = 50
			q.exec(`select graphile_worker.add_job('link', to_json(n), 'chain') from generate_series(1, $1::integer) as n`, length)
			w := q.worker(shim.Config{Concurrency: 4, PollOnly: pollOnly})
			var order []int // a serial queue needs no lock, or the race detector objects
			done := make(chan struct{})
			shim.Handle(w.Worker, "link", func(_ context.Context, n int, _ *shim.Job) error {
				order = append(order, n)
				if len(order) == length {
					close(done)
				}
				return nil
			})
			w.start()
			receive(t, done)
			if !slices.IsSorted(order) {
				t.Errorf("order is %v", order)
			}
		})
	}
}

func TestLongJobsAreClaimedOnlyForFreeExecutors(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 3})
	running, release := make(chan struct{}), make(chan struct{})
	w.Handle("long", func(context.Context, *shim.Job) error {
		running <- struct{}{}
		<-release
		return nil
	})
	q.add("long", 7)
	w.start()
	for range 3 {
		receive(t, running)
	}
	if n := value[int](q, `select count(*) from graphile_worker.jobs where locked_at is not null`); n != 3 {
		t.Errorf("%d jobs are claimed, want 3", n)
	}
	go func() {
		for range running { // let the rest run as the worker ends
		}
	}()
	close(release)
	q.await(`select not exists (select from graphile_worker.jobs)`)
	w.stop()
	close(running)
}

func TestAWorkerSurvivesTheLossOfEveryConnectionInTheMiddleOfWork(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 4})
	const total = 2000
	ran := make(chan int64, 10*total)
	w.Handle("step", func(_ context.Context, job *shim.Job) error {
		ran <- job.ID
		return nil
	})
	q.add("step", total)
	ids := value[[]int64](q, `select array_agg(id) from graphile_worker.jobs`)
	w.start()
	started := make(map[int64]bool)
	for n := 1; n <= total*9/10; n++ {
		started[receive(t, ran)] = true
		if n%300 == 0 {
			q.exec(`select pg_terminate_backend(pid) from pg_stat_activity
			         where datname = current_database() and pid <> pg_backend_pid()`)
		}
	}
	q.await(`select not exists (select from graphile_worker.jobs)`)
	w.stop()
	for len(ran) > 0 {
		started[<-ran] = true
	}
	for _, id := range ids {
		if !started[id] {
			t.Errorf("job %d is gone and has not run", id)
		}
	}
	if len(ids) != total || len(started) != total {
		t.Errorf("of %d jobs %d have run", len(ids), len(started))
	}
}

// loseClaim drops the answer to the worker's next claim, with the job locked as if the claim had succeeded.
func loseClaim(q *queue, w *worker, job int64) {
	q.t.Helper()
	tx, err := q.pool.Begin(q.t.Context())
	if err != nil {
		q.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(q.t.Context(), `lock table graphile_worker._private_tasks`); err != nil {
		q.t.Fatal(err)
	}
	q.exec(`notify "jobs:insert"`)
	const claiming = `from pg_stat_activity
		where datname = current_database() and query like '%get_job_batch%' and wait_event_type = 'Lock'`
	q.await(`select exists (select ` + claiming + `)`)
	q.exec(`update graphile_worker._private_jobs
	           set locked_by = $2, locked_at = clock_timestamp(), attempts = 1, run_at = now()
	         where id = $1`, job, w.ID())
	q.exec(`select pg_terminate_backend(pid) ` + claiming)
	w.logs.await(q.t, "claim failed")
}

func TestJobsOfAClaimWhoseAnswerWasLostRunThoughTheWorkerIsBusy(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 2})
	running, release := make(chan struct{}), make(chan struct{})
	w.Handle("long", func(context.Context, *shim.Job) error {
		close(running)
		<-release
		return nil
	})
	ran := make(chan int64, 1)
	w.Handle("ping", func(_ context.Context, job *shim.Job) error {
		ran <- job.ID
		return nil
	})
	lost := value[int64](q, `select (graphile_worker.add_job('ping', run_at => now() + interval '1 hour')).id`)
	q.add("long", 1)
	w.start()
	q.awaitListening()
	receive(t, running)
	loseClaim(q, w, lost)
	if got := receive(t, ran); got != lost { // while the worker holds another
		t.Errorf("job %d ran, want %d", got, lost)
	}
	close(release)
}

func TestJobsOfAClaimWhoseAnswerWasLostAreFreedWhenTheWorkerLeaves(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 2, Grace: 5 * time.Minute})
	running, release := make(chan struct{}), make(chan struct{})
	w.Handle("long", func(context.Context, *shim.Job) error {
		close(running)
		<-release
		return nil
	})
	w.Handle("ping", func(context.Context, *shim.Job) error { return nil })
	id := value[int64](q, `select (graphile_worker.add_job('ping', run_at => now() + interval '1 hour')).id`)
	q.add("long", 1)
	w.start()
	q.awaitListening()
	receive(t, running)
	loseClaim(q, w, id)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = w.Stop(ctx)
	w.logs.await(t, "INFO worker is stopping")
	close(release)
	w.stop()
	if !value[bool](q, `select locked_by is null from graphile_worker.jobs where id = $1`, id) {
		t.Error("the job stays locked")
	}
}

func TestAWorkerEndsWithAnErrorWhenTheSchemaGoesAway(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("task", func(context.Context, *shim.Job) error { return nil })
	w.start()
	q.awaitListening()
	q.exec(`alter schema graphile_worker rename to elsewhere; notify "jobs:insert"`)
	if err := w.wait(); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("Run returned %v", err)
	}
}

func TestAPollingWorkerFindsNewJobs(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{PollInterval: 20 * time.Millisecond, PollOnly: true})
	ran := make(chan struct{}, 1)
	w.Handle("ping", func(context.Context, *shim.Job) error {
		ran <- struct{}{}
		return nil
	})
	w.start()
	for range 2 {
		q.add("ping", 1)
		receive(t, ran)
	}
}

// behindCursor returns a pool whose sessions have a claim cursor behind all jobs of a task, as after a burst, in front
// of which claims do not look for half a second.
func (q *queue) behindCursor(task string) *pgxpool.Pool {
	q.t.Helper()
	config := q.pool.Config()
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `
			select set_config('gw.claim_cursor', array[
			         graphile_worker._gw_cursor_scope(graphile_worker._gw_new_claim('worker', array[$1::text], 1, null, now(), null, null, 1)), c.now + 500000, c.now + 500000, 0, c.now, 0, c.now, 1]::text, false)
			  from (select graphile_worker._gw_lease(clock_timestamp()) as now) as c`, task)
		return err
	}
	return q.poolOf(config)
}

func TestAJobInFrontOfTheClaimCursorRunsWithoutAnotherNotification(t *testing.T) {
	for name, run := range map[string]func(q *queue, w *worker){
		"Run": func(q *queue, w *worker) {
			w.start()
			q.await(`select count(*) = 0 from graphile_worker.jobs`)
		},
		"RunOnce": func(q *queue, w *worker) {
			if runOnce(q.t, w); q.jobs() > 0 {
				q.t.Error("the job is left")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			q.exec(`select graphile_worker.add_job('work', run_at => now() - interval '1 hour')`)
			w := q.workerOn(q.behindCursor("work"), shim.Config{})
			w.Handle("work", nothing)
			run(q, w)
		})
	}
}
