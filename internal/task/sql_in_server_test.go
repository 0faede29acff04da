package task_test

import (
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// addMany adds n jobs that are due, numbered from 1; what some of them do, by number.
func (s *shop) addMany(n int, does map[int]string) {
	s.t.Helper()
	pgtest.Exec(s.t, s.pool, `
		select count(*) from (
		  select graphile_worker.add_job('a', json_build_object('n', n), run_at := now() - interval '1 minute', max_attempts := 3)
		    from generate_series(1, $1::integer) as n) as added`, n)
	for number, do := range does {
		pgtest.Exec(s.t, s.pool, `
			update graphile_worker._private_jobs set payload = json_build_object('n', $1::integer, 'do', $2::text)
			 where payload ->> 'n' = $1::integer::text`, number, do)
	}
}

// retryLater makes each retry due an hour later, so that a loaded machine does not run it within the test.
func (s *shop) retryLater() {
	s.t.Helper()
	pgtest.Exec(s.t, s.pool, `
		create function app.retry_later() returns trigger language plpgsql as
		  'begin new.run_at := new.run_at + interval ''1 hour''; return new; end';
		create trigger retry_later before update on graphile_worker._private_jobs
		  for each row when (new.last_error is distinct from old.last_error) execute procedure app.retry_later()`)
}

// wantOnce checks that the numbers up to n have their effects once, except some.
func (s *shop) wantOnce(n int, except ...int) {
	s.t.Helper()
	wrong := pgtest.Value[string](s.t, s.pool, `
		select coalesce(string_agg(format('%s: %s times', w.n, w.times), ', '), '')
		  from (select n, count(e.n) as times
		          from generate_series(1, $1::integer) as n
		          left join app.effects as e using (n)
		         group by n) as w
		 where w.times <> case when w.n = any ($2::integer[]) then 0 else 1 end`, n, except)
	if wrong != "" {
		s.t.Errorf("effects are wrong: %.500s", wrong)
	}
}

// wantLeft checks which jobs are left, by number, with their attempts.
func (s *shop) wantLeft(jobs ...string) {
	s.t.Helper()
	if left := s.left(); left != strings.Join(jobs, " ") {
		s.t.Errorf("jobs left are %.300q, want %q", left, jobs)
	}
}

// batched makes a worker on a pool that runs the jobs of the task "a" in batches while there are many.
func (s *shop) batched(pool *pgxpool.Pool, config shim.Config, sql task.SQL) *shim.Worker {
	s.t.Helper()
	config.Logger = slog.New(slog.DiscardHandler)
	sql.Function = "app.work"
	worker, err := shim.New(pool, config)
	if err == nil {
		err = worker.SetTasks(s.task(sql))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return worker
}

// runOnce runs jobs until none is runnable.
func (s *shop) runOnce(worker *shim.Worker) {
	s.t.Helper()
	if err := worker.RunOnce(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func TestManyJobsShareTransactionsInsideTheServer(t *testing.T) {
	s := newShop(t)
	s.addMany(2000, nil)
	var reported, started, succeeded atomic.Int64
	worker := s.batched(s.pool, shim.Config{Concurrency: 4}, task.SQL{})
	shim.On(worker, func(e shim.JobReported) {
		if e.Outcome == shim.OutcomeCompleted && e.Started && e.Job.TaskIdentifier == "a" && !e.Job.CreatedAt.IsZero() && e.Job.MaxAttempts == 3 {
			reported.Add(1)
		}
	})
	shim.On(worker, func(shim.JobStarted) { started.Add(1) })
	shim.On(worker, func(shim.JobSucceeded) { succeeded.Add(1) })
	s.runOnce(worker)
	s.wantOnce(2000)
	s.wantLeft()
	if n := s.transactions(); n > 1000 {
		t.Errorf("there were %d transactions for 2000 jobs", n)
	}
	if reported.Load() != 2000 || started.Load() != 2000 || succeeded.Load() != 2000 {
		t.Errorf("%d jobs started, %d succeeded, %d were reported, want 2000", started.Load(), succeeded.Load(), reported.Load())
	}
	if n := pgtest.Value[int](t, s.pool, `select count(*)::integer from graphile_worker._gw_batches`); n > 0 {
		t.Errorf("%d records of batches are left", n)
	}
}

func TestOneTransactionForEachJobCanBeAskedFor(t *testing.T) {
	s := newShop(t)
	s.addMany(300, nil)
	s.runOnce(s.batched(s.pool, shim.Config{Concurrency: 4}, task.SQL{Batch: 1}))
	s.wantOnce(300)
	if n := s.transactions(); n != 300 {
		t.Errorf("there were %d transactions for 300 jobs", n)
	}
}

func TestAFailureInABatchIsThatOfItsJobAlone(t *testing.T) {
	s := newShop(t)
	s.retryLater()
	s.addMany(1500, map[int]string{500: "raise", 501: "raise", 1000: "raise"})
	var mu sync.Mutex
	var failures []string
	worker := s.batched(s.pool, shim.Config{Concurrency: 2}, task.SQL{})
	shim.On(worker, func(e shim.JobReported) {
		// A slow machine returns jobs that have waited too long for their start.
		if e.Outcome != shim.OutcomeCompleted && (e.Outcome != shim.OutcomeReturned || e.Started) {
			mu.Lock()
			defer mu.Unlock()
			failures = append(failures, fmt.Sprintf("%s %d %t", e.Outcome, e.Attempts, e.RetryIn > time.Second))
		}
	})
	s.runOnce(worker)
	s.wantOnce(1500, 500, 501, 1000)
	s.wantLeft("500:1 501:1 1000:1")
	want(t, "failures", strings.Join(failures, ", "), "failed 1 true, failed 1 true, failed 1 true")
	message := pgtest.Value[string](t, s.pool, `select last_error from graphile_worker._private_jobs as p
		where p.payload ->> 'n' = '500'`)
	if !strings.HasPrefix(message, "app.work: No such order. (SQLSTATE P0001)\nDETAIL: It is 500.\nHINT: Ask again.\nCONTEXT: ") ||
		strings.Contains(message, "_gw_work_batch") {
		t.Errorf("error %q", message)
	}
}

// A job that breaks its batch is found by claims, which also decide about it: the connection, the timeout, the commit.
func TestAJobThatBreaksItsBatchFailsAlone(t *testing.T) {
	s := newShop(t)
	s.retryLater()
	for do, options := range map[string]task.SQL{
		"die":   {},
		"sleep": {Timeout: 300 * time.Millisecond},
		"later": {},
	} {
		t.Run(do, func(t *testing.T) {
			s.empty(t)
			s.addMany(1500, map[int]string{700: do})
			if do == "later" {
				pgtest.Exec(t, s.pool, `
					update graphile_worker._private_jobs set payload = '{"n": 700, "later": 1}' where payload ->> 'n' = '700'`)
			}
			s.runOnce(s.batched(s.pool, shim.Config{Concurrency: 2}, options))
			s.wantOnce(1500, 700)
			s.wantLeft("700:1")
		})
	}
}

func TestJobsThatBatchesMustNotHaveRunBesideThem(t *testing.T) {
	s := newShop(t)
	s.addMany(1000, nil)
	pgtest.Exec(t, s.pool, `
		update graphile_worker._private_jobs set key = payload ->> 'n' where (payload ->> 'n')::integer % 10 = 0;
		update graphile_worker._private_jobs set attempts = 1 where (payload ->> 'n')::integer % 10 = 1;
		update graphile_worker._private_jobs set flags = '{"f": true}' where (payload ->> 'n')::integer % 10 = 2;
		select graphile_worker.add_job('a', json_build_object('n', 1000 + n), queue_name := 'q') from generate_series(1, 10) as n`)
	s.runOnce(s.batched(s.pool, shim.Config{Concurrency: 2}, task.SQL{}))
	s.wantOnce(1010)
	s.wantLeft()
}

func TestBatchesRunInEachQueryMode(t *testing.T) {
	s := newShop(t)
	s.retryLater()
	for _, mode := range pgtest.QueryModes {
		t.Run(mode.String(), func(t *testing.T) {
			s.empty(t)
			s.addMany(800, map[int]string{400: "raise"})
			s.runOnce(s.batched(pgtest.PoolInMode(t, s.url, mode), shim.Config{Concurrency: 2}, task.SQL{}))
			s.wantOnce(800, 400)
			s.wantLeft("400:1")
			if n := s.transactions(); n > 500 {
				t.Errorf("there were %d transactions for 800 jobs", n)
			}
		})
	}
}

func TestConnectionsThatAreLostInBatchesLoseNothing(t *testing.T) {
	s := newShop(t)
	pgtest.Exec(t, s.pool, `create or replace function app.work(payload json) returns integer language plpgsql as $$
		begin
		  insert into app.effects (n) values ((payload ->> 'n')::integer);
		  perform pg_sleep(0.0005);
		  return 1;
		end $$`)
	const n = 3000
	s.addMany(n, nil)
	done := make(chan error, 2)
	for range cap(done) {
		worker := s.batched(s.pool, shim.Config{Concurrency: 3}, task.SQL{})
		go func() { done <- worker.RunOnce(t.Context()) }()
	}
	pgtest.CutUntil(t, s.pool, done, "query like '%_gw_work_batch%' and state = 'active'", math.MaxInt)
	// Jobs that a cut claim took run again after their back-off.
	pgtest.Exec(t, s.pool, `update graphile_worker._private_jobs set run_at = now()`)
	s.runOnce(s.batched(s.pool, shim.Config{Concurrency: 3}, task.SQL{}))
	s.wantOnce(n)
	s.wantLeft()
}

func TestAWorkerThatStopsEndsItsBatches(t *testing.T) {
	s := newShop(t)
	s.addMany(20000, nil)
	worker := s.batched(s.pool, shim.Config{Concurrency: 2, QuietSuccess: true}, task.SQL{})
	ended := make(chan error)
	go func() { ended <- worker.Run(t.Context()) }()
	pgtest.Await(t, s.pool, `select count(*) > 0 from graphile_worker._gw_batches`)
	if err := worker.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	wrong := pgtest.Value[int](t, s.pool, `
		select count(*)::integer
		  from (select n from generate_series(1, 20000) as n
		          left join (select e.n from app.effects as e
		                     union all
		                     select (j.payload ->> 'n')::integer from graphile_worker._private_jobs as j
		                      where j.locked_at is null and j.attempts = 0) as f (n) using (n)
		         group by n having count(f.n) <> 1) as wrong`)
	if wrong > 0 {
		t.Errorf("%d jobs are neither done once nor waiting", wrong)
	}
	if n := pgtest.Value[int](t, s.pool, `select count(*)::integer from graphile_worker._gw_batches`); n > 0 {
		t.Errorf("%d records of batches are left", n)
	}
}
