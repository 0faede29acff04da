package shim_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/pkg/shim"
)

// refuses creates a trigger on the jobs that raises an error, as a user might.
func (q *queue) refuses(event, condition, statement string) {
	q.t.Helper()
	q.exec(`create function public.refuse() returns trigger language plpgsql as $$ begin ` + statement + `; end $$`)
	q.exec(`create trigger refuse before ` + event + ` on graphile_worker._private_jobs
	          for each row when (` + condition + `) execute function public.refuse()`)
}

// An outcome that the database refuses is a failure of the job; the worker and the other jobs continue.
func TestAnOutcomeThatTheDatabaseRefusesFailsItsJobWithThatError(t *testing.T) {
	const raise = `raise exception 'not today'`
	failure := errors.New("no luck")
	for name, c := range map[string]struct {
		event, condition, statement string
		returned                    error
		maxAttempts                 int
		outcome                     shim.Outcome
		lastError                   []string
		attempts                    int
	}{
		"a completion": {"delete", "old.priority = 7", raise, nil, 3, shim.OutcomeFailed,
			[]string{"complete job: ", "not today"}, 1},
		"a completion at the last attempt": {"delete", "old.priority = 7", raise, nil, 1,
			shim.OutcomePermanentlyFailed, []string{"not today"}, 1},
		"a completion, by a code of its own": {"delete", "old.priority = 7",
			`raise exception 'not today' using errcode = 'AB001'`, nil, 3,
			shim.OutcomeFailed, []string{"not today (SQLSTATE AB001)"}, 1},
		"a completion, by an arithmetic error": {"delete", "old.priority = 7", `perform 1 / 0`, nil, 3,
			shim.OutcomeFailed, []string{"division by zero"}, 1},
		"a completion, by a mistake in the trigger": {"delete", "old.priority = 7",
			`insert into audit (id) values (old.id)`, nil, 3,
			shim.OutcomeFailed, []string{`relation "audit" does not exist`}, 1},
		"a snooze": {"update", "old.priority = 7 and new.attempts < old.attempts", raise, shim.Snooze(time.Hour), 3,
			shim.OutcomeFailed, []string{"snoozed for 1h0m0s\"\nreturn job: ", "not today"}, 1},
		"a retry": {"update", "old.priority = 7 and new.run_at > now() + interval '30 minutes'", raise,
			shim.RetryIn(time.Hour, failure), 3,
			shim.OutcomeFailed, []string{"no luck\"\nfail job: ", "not today"}, 1},
		"a failure that is not permanent": {"update",
			"old.priority = 7 and new.last_error is not null and new.attempts < new.max_attempts", raise, failure, 3,
			shim.OutcomePermanentlyFailed, []string{"no luck", "not today"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			q.refuses(c.event, c.condition, c.statement)
			w := q.worker(shim.Config{Concurrency: 4})
			events := record(w)
			w.Handle("good", func(context.Context, *shim.Job) error { return nil })
			w.Handle("bad", func(context.Context, *shim.Job) error { return c.returned })
			q.exec(`select graphile_worker.add_job('good', queue_name => nullif(n % 3, 0)::text) from generate_series(1, 20) as n`)
			q.exec(`select graphile_worker.add_job('bad', queue_name => 'q', priority => 7, max_attempts => $1)`,
				c.maxAttempts)
			runOnce(t, w)

			var bad []shim.JobReported
			for _, reported := range ends(events()) {
				if reported.Job.TaskIdentifier == "bad" {
					bad = append(bad, reported)
				} else if reported.Outcome != shim.OutcomeCompleted {
					t.Errorf("reported %+v", reported)
				}
			}
			if len(bad) != 1 || bad[0].Outcome != c.outcome {
				t.Fatalf("reported %+v, want one %s", bad, c.outcome)
			}
			var refusal *pgconn.PgError
			if _, ok := errors.AsType[*shim.RefusedError](bad[0].Err); !ok || !errors.As(bad[0].Err, &refusal) ||
				c.returned != nil && !errors.Is(bad[0].Err, c.returned) {
				t.Errorf("the error is %v", bad[0].Err)
			}
			lastError := value[string](q, `select last_error from graphile_worker._private_jobs`)
			for _, part := range c.lastError {
				if !strings.Contains(lastError, part) {
					t.Errorf("last error is %q, want %q in it", lastError, part)
				}
			}
			if !value[bool](q, `select locked_at is null and attempts = $1::integer and not exists (
				select from graphile_worker._private_job_queues where locked_at is not null)
				from graphile_worker._private_jobs`, c.attempts) {
				t.Error("the job or its queue is locked, or its attempts are not as they should be")
			}
		})
	}
}

// A job of which the database refuses every outcome runs once and stays locked; the worker logs this and continues.
func TestAJobThatNothingCanBeWrittenOfIsLeftLocked(t *testing.T) {
	q := newQueue(t)
	q.refuses("update or delete", "old.priority = 7 and old.locked_by is not null", `raise exception 'never'`)
	var runs atomic.Int64
	worker := func() *worker {
		w := q.worker(shim.Config{})
		w.Handle("task", func(_ context.Context, job *shim.Job) error {
			if job.Priority == 7 {
				runs.Add(1)
			}
			return nil
		})
		return w
	}
	w := worker()
	id := value[int64](q, `select id from graphile_worker.add_job('task', priority => 7)`)
	w.start()
	w.logs.await(t, "ERROR database refuses every outcome of a job", "job_id=", "never")
	other := q.add("task", 1)
	q.await(`select not exists (select from graphile_worker.jobs where id = $1::bigint)`, other)
	if err := w.Stop(t.Context()); err != nil {
		t.Errorf("Stop returned %v", err)
	}
	if err := w.wait(); err == nil || !strings.Contains(err.Error(), "outcomes of 1 jobs were not written") {
		t.Errorf("Run returned %v", err)
	}
	if lines, _ := w.logs.find("database refuses every outcome of a job"); len(lines) != 1 {
		t.Errorf("logged %q", lines)
	}

	again := worker()
	again.start()
	other = q.add("task", 1)
	q.await(`select not exists (select from graphile_worker.jobs where id = $1::bigint)`, other)
	again.stop()
	if n := runs.Load(); n != 1 || !value[bool](q,
		`select locked_by = $2 from graphile_worker.jobs where id = $1::bigint`, id, w.ID()) {
		t.Errorf("the job ran %d times, or its lock is gone", n)
	}
}

// A missing object of the queue ends the worker with an error that names it, also if a function of the queue needs it.
func TestAMissingFunctionOfTheQueueEndsTheWorker(t *testing.T) {
	for _, missing := range []string{"_gw_complete_claim", "_gw_locked_at"} {
		t.Run(missing, func(t *testing.T) {
			q := newQueue(t)
			w := q.worker(shim.Config{})
			w.Handle("task", func(context.Context, *shim.Job) error {
				q.exec(`alter function graphile_worker.` + missing + ` rename to gone`)
				return nil
			})
			q.add("task", 1)
			w.start()
			if err := w.wait(); err == nil || !strings.Contains(err.Error(), missing) {
				t.Errorf("Run returned %v", err)
			}
		})
	}
}
