package shim_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// addDamaged adds a job whose payload has lost its pieces, as by a broken disk, and returns its id.
func (q *queue) addDamaged(task string, priority int, queueName *string) (id int64) {
	q.t.Helper()
	id = value[int64](q, `
		select (graphile_worker.add_job($1, (select to_json(string_agg(md5(n::text), '')) from generate_series(1, 1000) as n),
		                                priority => $2::integer, queue_name => $3, run_at => now() - interval '1 minute')).id`,
		task, priority, queueName)
	pgtest.Damage(q.t, q.pool)
	return id
}

const unreadable = `exists (
	select from graphile_worker.jobs
	 where id = $1 and attempts = max_attempts and locked_at is null
	   and last_error ~ '^The job cannot be read: ERROR: missing chunk number 0 for toast value .*XX00')`

func TestAJobThatCannotBeReadFailsAndTheOthersRun(t *testing.T) {
	q := newQueue(t)
	first := q.addDamaged("work", -5, new("serial"))
	q.exec(`select graphile_worker.add_job('work', '{}', 'serial')`)
	q.add("work", 30)
	second := q.addDamaged("work", 5, nil)
	ran := newExecutions()
	w := q.worker(shim.Config{Concurrency: 4, PollInterval: time.Hour})
	w.Handle("work", ran.handle)
	w.start()
	ran.await(t, 31)
	q.await(`select `+unreadable, first)
	q.await(`select `+unreadable, second) // though none comes after it
	q.await(`select count(*) = 2 from graphile_worker.jobs`)
	q.add("work", 1)
	ran.await(t, 32)
	w.stop()
	ran.expectOnce(t, 32)
	if held := value[int](q, `select count(*) from graphile_worker._private_job_queues where locked_at is not null`); held != 0 {
		t.Errorf("%d queues are locked", held)
	}
}

// RunOnce fails an unreadable job too, and ends.
func TestAJobThatCannotBeReadDoesNotKeepRunOnceFromItsEnd(t *testing.T) {
	q := newQueue(t)
	id := q.addDamaged("work", 0, nil)
	w := q.worker(shim.Config{Concurrency: 4})
	events := record(w)
	w.Handle("work", nothing)
	runOnce(t, w)
	q.await(`select `+unreadable, id)
	if reported := only[shim.JobReported](events()); len(reported) != 1 || reported[0].Started ||
		reported[0].Outcome != shim.OutcomePermanentlyFailed {
		t.Errorf("reported: %+v", reported)
	}
}

func TestAJobThatCannotBeReadAndHasToRunAloneFailsAndTheOthersRun(t *testing.T) {
	q := newQueue(t)
	id := q.addDamaged("work", 0, nil)
	q.suspect("work")
	q.beatQuickly()
	ran := newExecutions()
	w := q.worker(shim.Config{Concurrency: 4, PollInterval: time.Hour})
	w.Handle("work", ran.handle)
	w.start()
	q.await(`select `+unreadable, id)
	q.add("work", 10)
	ran.await(t, 10)
	w.stop()
	ran.expectOnce(t, 10)
}

// If the server can send no row at all, no job is at fault: no job has failed when the server works again.
func TestWhereNoClaimWorksNoJobHasFailed(t *testing.T) {
	q := newQueue(t)
	q.add("work", 3)
	q.exec(`create function graphile_worker.break() returns trigger language plpgsql as $$
		begin raise 'no memory' using errcode = '53200'; end $$`)
	q.exec(`create trigger break before update of locked_at on graphile_worker._private_jobs
		  for each row when (new.locked_at is not null) execute function graphile_worker.break()`)
	w := q.worker(shim.Config{Concurrency: 2})
	sub := w.Subscribe(100)
	defer sub.Close()
	ran := newExecutions()
	w.Handle("work", ran.handle)
	w.start()
	for range 5 {
		next[shim.ClaimFailed](t, sub)
	}
	q.exec(`drop trigger break on graphile_worker._private_jobs`)
	ran.await(t, 3)
	w.stop()
	ran.expectOnce(t, 3)
	if q.jobs() != 0 {
		t.Errorf("%d jobs are left", q.jobs())
	}
}

func TestFlagsOfAnyKindFailTheirJobAlone(t *testing.T) {
	q := newQueue(t)
	for _, flags := range []string{`[]`, `["a"]`, `"a"`, `1`, `true`, `null`, `{"a": 1}`, `{}`} {
		q.exec(`insert into graphile_worker._private_jobs (task_id, flags) select id, $2::text::jsonb
		          from (select task_id as id from graphile_worker._private_jobs where id = $1) as t`, q.add("work", 1),
			flags)
	}
	ran := newExecutions()
	w := q.worker(shim.Config{Concurrency: 2, ForbiddenFlags: []string{"b"}})
	w.Handle("work", ran.handle)
	runOnce(t, w)
	ran.expectOnce(t, 8+3)
	if failed := value[int](q, `select count(*) from graphile_worker.jobs where attempts = max_attempts
		and last_error like 'The job cannot be read: flags are not an object: %'`); failed != 5 || q.jobs() != 5 {
		t.Errorf("%d of %d jobs have failed because of their flags, want 5", failed, q.jobs())
	}
}

// A character that the client's encoding lacks.
func TestAJobThatTheConnectionCannotCarryFailsAlone(t *testing.T) {
	q := newQueue(t)
	config := q.pool.Config()
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `set client_encoding = 'LATIN1'`)
		return err
	}
	pool := q.poolOf(config)
	id := value[int64](q, `select (graphile_worker.add_job('work', '"日"')).id`)
	q.add("work", 10)
	ran := newExecutions()
	w := q.workerOn(pool, shim.Config{Concurrency: 2})
	w.Handle("work", ran.handle)
	w.start()
	ran.await(t, 10)
	q.await(`select exists (select from graphile_worker.jobs where id = $1 and attempts = max_attempts and last_error like '%22P05%')`, id)
	w.stop()
}
