package task_test

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// shop is a database with functions whose behavior is set by their payloads.
type shop struct {
	t        *testing.T
	url      string
	pool     *pgxpool.Pool
	outcomes string // of the last group, by the ids of the jobs
}

const functions = `
	create schema app;
	create sequence app.deaths;
	create table app.effects_of (n integer primary key);
	create table app.effects (
	  n            integer not null,
	  transaction  text    not null default txid_current()::text,
	  timeout      text    not null default current_setting('statement_timeout'),
	  later        integer references app.effects_of (n) deferrable initially deferred
	);
	create function app.work(payload json) returns integer language plpgsql as $$
	begin
	  if payload ->> 'do' = 'nothing' then
	    return null;
	  end if;
	  insert into app.effects (n, later) values ((payload ->> 'n')::integer, (payload ->> 'later')::integer);
	  case payload ->> 'do'
	    when 'raise' then
	      raise exception 'No such order.' using detail = 'It is ' || (payload ->> 'n') || '.', hint = 'Ask again.';
	    when 'sleep' then perform pg_sleep(1000);
	    when 'wait' then perform pg_advisory_xact_lock_shared(1);
	    when 'die' then
	      if nextval('app.deaths') <= 4 then
	        perform pg_terminate_backend(pg_backend_pid());
	      end if;
	    when 'again' then
	      perform graphile_worker.add_job('a', json_build_object('n', -(payload ->> 'n')::integer), job_key := 'k');
	    else null;
	  end case;
	  return 1;
	end;
	$$;
	create function app.work(payloads json[]) returns setof integer language plpgsql as $$
	declare
	  payload json;
	begin
	  foreach payload in array payloads loop
	    return next app.work(payload);
	  end loop;
	end;
	$$;`

func newShop(t *testing.T) *shop {
	t.Helper()
	t.Parallel()
	url := pgtest.Database(t)
	s := &shop{t: t, url: url, pool: pgtest.Pool(t, url)}
	pgtest.Exec(t, s.pool, functions)
	return s
}

// add adds a job for each payload, numbered from 1, and returns their ids.
func (s *shop) add(does ...string) (ids []int64) {
	s.t.Helper()
	for i, do := range does {
		ids = append(ids, pgtest.Value[int64](s.t, s.pool, `
			select id from graphile_worker.add_job('a', json_build_object('n', $1::integer, 'do', $2::text), max_attempts := 3)`,
			i+1, do))
	}
	return ids
}

// task returns how the task "a" is served.
func (s *shop) task(sql task.SQL) shim.Task {
	s.t.Helper()
	sql.Logger = cmp.Or(sql.Logger, slog.New(slog.DiscardHandler))
	served, err := sql.Task(s.t.Context(), s.pool, "a")
	if err != nil {
		s.t.Fatal(err)
	}
	return served
}

// worker makes a worker that runs the jobs of the task "a" one after the other.
func (s *shop) worker(pool *pgxpool.Pool, sql task.SQL) *shim.Worker {
	s.t.Helper()
	worker, err := shim.New(pool, shim.Config{Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = worker.SetTasks(s.task(sql))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return worker
}

// work runs jobs until none is runnable.
func (s *shop) work(sql task.SQL) {
	s.t.Helper()
	s.workOn(s.pool, sql)
}

// workOn is work on a pool.
func (s *shop) workOn(pool *pgxpool.Pool, sql task.SQL) {
	s.t.Helper()
	s.run(s.worker(pool, sql))
}

// run runs jobs until none is runnable, and stores their outcomes.
func (s *shop) run(worker *shim.Worker) {
	s.t.Helper()
	outcomes := make(map[int64]shim.Outcome)
	shim.On(worker, func(e shim.JobReported) {
		if e.Job.Priority >= 0 { // otherwise of warmUp
			outcomes[e.Job.ID] = e.Outcome
		}
	})
	if err := worker.RunOnce(s.t.Context()); err != nil {
		s.t.Error(err)
	}
	var list []string
	for _, id := range slices.Sorted(maps.Keys(outcomes)) {
		list = append(list, string(outcomes[id]))
	}
	s.outcomes = strings.Join(list, " ")
}

// group runs jobs as a worker does under load. With batches it makes the worker run other jobs first, because it holds
// no more than one job of a task that it does not know.
func (s *shop) group(sql task.SQL) {
	s.t.Helper()
	s.groupOn(s.pool, sql)
}

// groupOn is group on a pool.
func (s *shop) groupOn(pool *pgxpool.Pool, sql task.SQL) {
	s.t.Helper()
	if sql.Batch > 0 {
		s.warmUp()
	}
	s.workOn(pool, sql)
}

// effects returns the committed effects.
func (s *shop) effects() string {
	s.t.Helper()
	return pgtest.Value[string](s.t, s.pool, `select coalesce(string_agg(n::text, ' ' order by n), '') from app.effects`)
}

func (s *shop) transactions() int {
	s.t.Helper()
	return pgtest.Value[int](s.t, s.pool, `select count(distinct transaction)::integer from app.effects`)
}

// left returns the jobs that are still there, by number, with their attempts.
func (s *shop) left() string {
	s.t.Helper()
	return pgtest.Value[string](s.t, s.pool, `
		select coalesce(string_agg((j.payload ->> 'n') || ':' || j.attempts, ' ' order by (j.payload ->> 'n')::integer), '')
		  from graphile_worker._private_jobs as j`)
}

// warmUp adds jobs that do nothing and run before all others.
func (s *shop) warmUp() {
	s.t.Helper()
	pgtest.Exec(s.t, s.pool, `
		select count(*) from (select graphile_worker.add_job('a', '{"do": "nothing"}', priority := -1) from generate_series(1, 500)) as added`)
}

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

// eachMode runs a test with a call for each job, and with a call for several jobs.
func eachMode(t *testing.T, test func(t *testing.T, s *shop, sql task.SQL)) {
	t.Helper()
	s := newShop(t)
	for name, sql := range map[string]task.SQL{"one": {}, "batch": {Batch: 100}} {
		t.Run(name, func(t *testing.T) {
			s.empty(t)
			sql.Function = "app.work"
			test(t, s, sql)
		})
	}
}

// empty deletes the effects, for the test t.
func (s *shop) empty(t *testing.T) {
	s.t = t
	// A claim cursor that an earlier test has left would hide jobs that come before it, for half a second.
	pgtest.Exec(t, s.pool, `alter sequence app.deaths restart; delete from app.effects; delete from graphile_worker._private_jobs; delete from graphile_worker._gw_claim_cursors`)
}
