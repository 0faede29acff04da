package shim_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/gwsql/gw/pkg/shim"
)

// newEffects is newQueue with a table that handlers write to.
func newEffects(t *testing.T) *queue {
	q := newQueue(t)
	q.exec(`create table effects (job_id bigint)`)
	return q
}

func (q *queue) effects() int {
	q.t.Helper()
	return value[int](q, `select count(*) from effects`)
}

// transact writes an effect and completes the job in one transaction.
func transact(ctx context.Context, q *queue, job *shim.Job) error {
	return pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `insert into effects values ($1)`, job.ID); err != nil {
			return err
		}
		return job.CompleteTx(ctx, tx)
	})
}

func TestAJobIsCompletedByItsHandlersTransaction(t *testing.T) {
	for name, complete := range map[string]func(context.Context, *queue, *shim.Job) error{
		"pgx": transact,
		"database/sql": func(ctx context.Context, q *queue, job *shim.Job) error {
			db := stdlib.OpenDBFromPool(q.pool)
			defer db.Close()
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			if _, err := tx.ExecContext(ctx, `insert into effects values ($1)`, job.ID); err != nil {
				return err
			}
			if err := job.CompleteSQLTx(ctx, tx); err != nil {
				return err
			}
			return tx.Commit()
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := newEffects(t)
			w := q.worker(shim.Config{})
			events := record(w)
			w.Handle("task", func(ctx context.Context, job *shim.Job) error {
				if err := complete(ctx, q, job); err != nil {
					return err
				}
				if n := q.effects(); n != 1 || value[bool](q,
					`select exists (select from graphile_worker.jobs where id = $1)`, job.ID) {
					t.Errorf("after the commit there are %d effects, or the job is still there", n)
				}
				return nil
			})
			q.exec(`select graphile_worker.add_job('task', queue_name => 'q')`)
			runOnce(t, w)
			if q.jobs() != 0 || q.effects() != 1 {
				t.Errorf("%d jobs, %d effects", q.jobs(), q.effects())
			}
			reported := ends(events())
			if len(reported) != 1 || reported[0].Outcome != shim.OutcomeCompleted || reported[0].Err != nil {
				t.Errorf("reported %+v", reported)
			}
			w.logs.await(t, "INFO job completed", "duration_ms=")
		})
	}
}

func TestWhatIsRolledBackIsDoneByALaterAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		returned  error
		lastError string
	}{
		"with an error":    {shim.RetryIn(0, errors.New("no such host")), "no such host"},
		"without an error": {nil, "the transaction that completed the job was not committed"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newEffects(t)
			w := q.worker(shim.Config{})
			events := record(w)
			var lastErrors []string
			w.Handle("task", func(ctx context.Context, job *shim.Job) error {
				lastErrors = append(lastErrors, job.LastError)
				if job.Attempts > 1 {
					return transact(ctx, q, job)
				}
				tx, err := q.pool.Begin(ctx)
				if err != nil {
					return err
				}
				if _, err := tx.Exec(ctx, `insert into effects values ($1)`, job.ID); err != nil {
					return err
				}
				if err := errors.Join(job.CompleteTx(ctx, tx), tx.Rollback(ctx)); err != nil {
					return err
				}
				return c.returned
			})
			q.exec(`select graphile_worker.add_job('task', job_key => 'k')`)
			runOnce(t, w)
			if c.returned == nil { // it waits for its back-off
				q.exec(`select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs), run_at => now())`)
				runOnce(t, w)
			}
			if q.jobs() != 0 || q.effects() != 1 || !slices.Equal(lastErrors, []string{"", c.lastError}) {
				t.Errorf("%d jobs, %d effects, last errors %q", q.jobs(), q.effects(), lastErrors)
			}
			reported := ends(events())
			if len(reported) != 2 || reported[0].Outcome != shim.OutcomeFailed || reported[0].Err == nil ||
				reported[1].Outcome != shim.OutcomeCompleted {
				t.Errorf("reported %+v", reported)
			}
		})
	}
}

func TestAfterTheCommitNothingThatTheHandlerReturnsCounts(t *testing.T) {
	for name, err := range map[string]error{
		"an error":  errors.New("no such host"),
		"a snooze":  shim.Snooze(time.Hour),
		"a discard": shim.Discard(errors.New("no such host")),
	} {
		t.Run(name, func(t *testing.T) {
			q := newEffects(t)
			w := q.worker(shim.Config{})
			events := record(w)
			w.Handle("task", func(ctx context.Context, job *shim.Job) error {
				if err := transact(ctx, q, job); err != nil {
					t.Error(err)
				}
				return err
			})
			q.add("task", 1)
			runOnce(t, w)
			if q.jobs() != 0 || q.effects() != 1 {
				t.Errorf("%d jobs, %d effects", q.jobs(), q.effects())
			}
			reported := ends(events())
			if len(reported) != 1 || reported[0].Outcome != shim.OutcomeCompleted || reported[0].Err != err {
				t.Errorf("reported %+v", reported)
			}
			w.logs.await(t, "WARN job completed by its handler, which then failed", "error="+err.Error())
		})
	}
}

func TestATransactionOfALostJobIsRolledBack(t *testing.T) {
	q := newEffects(t)
	w := q.worker(shim.Config{})
	events := record(w)
	w.Handle("task", func(ctx context.Context, job *shim.Job) error {
		// Even the same worker's next claim is another lease.
		q.exec(`select graphile_worker.force_unlock_workers(array[$1])`, w.ID())
		q.exec(`select id from graphile_worker.get_job($1, array['task'])`, w.ID())
		err := transact(ctx, q, job)
		if !errors.Is(err, shim.ErrLeaseLost) {
			t.Errorf("CompleteTx returned %v", err)
		}
		return err
	})
	q.add("task", 1)
	runOnce(t, w)
	if !value[bool](q, `select attempts = 2 and last_error is null and locked_by is null from graphile_worker.jobs`) ||
		q.effects() != 0 {
		t.Errorf("%d effects, or the first claim has ended the second, or the worker has not freed the second when it stopped", q.effects())
	}
	reported := ends(events())
	if len(reported) != 1 || reported[0].Outcome != shim.OutcomeLeaseLost {
		t.Errorf("reported %+v", reported)
	}
}

func TestATransactionMayBeTriedAgain(t *testing.T) {
	q := newEffects(t)
	w := q.worker(shim.Config{})
	w.Handle("task", func(ctx context.Context, job *shim.Job) error {
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		if err := transact(canceled, q, job); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
		err := pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) error {
			if err := job.CompleteTx(ctx, tx); err != nil {
				return err
			}
			return errors.New("changed its mind")
		})
		if err == nil {
			t.Error("it was committed")
		}
		return transact(ctx, q, job)
	})
	q.add("task", 1)
	runOnce(t, w)
	if q.jobs() != 0 || q.effects() != 1 {
		t.Errorf("%d jobs, %d effects", q.jobs(), q.effects())
	}
}

func TestAHandlerReachesTheWorkersDatabase(t *testing.T) {
	q := newEffects(t)
	w := q.worker(shim.Config{})
	w.Handle("parent", func(ctx context.Context, job *shim.Job) error {
		if _, err := job.Client().Add(ctx, "child", nil, nil); err != nil {
			return err
		}
		rows, err := job.Query(ctx, `insert into effects values ($1) returning job_id`, job.ID)
		if err != nil {
			return err
		}
		if id, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64]); err != nil || id != job.ID {
			t.Errorf("inserted %d, %v", id, err)
		}
		refused := errors.New("refused")
		err = job.WithConn(ctx, func(conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, `insert into effects values ($1)`, job.ID)
			return errors.Join(err, refused)
		})
		if !errors.Is(err, refused) {
			t.Errorf("WithConn returned %v", err)
		}
		return nil
	})
	w.Handle("child", func(ctx context.Context, job *shim.Job) error {
		found, ok := shim.JobFromContext(ctx)
		if !ok || found != job {
			t.Errorf("the context has %v", found)
		}
		return nil
	})
	q.add("parent", 1)
	runOnce(t, w)
	if q.jobs() != 0 || q.effects() != 2 {
		t.Errorf("%d jobs, %d effects", q.jobs(), q.effects())
	}
}

func TestAJobThatNoWorkerClaimedHasNoDatabase(t *testing.T) {
	job := &shim.Job{ID: 7, TaskIdentifier: "task"}
	ctx := t.Context()
	_, addErr := job.Client().Add(ctx, "task", nil, nil)
	_, queryErr := job.Query(ctx, `select 1`)
	for name, err := range map[string]error{
		"Add":           addErr,
		"Query":         queryErr,
		"WithConn":      job.WithConn(ctx, func(*pgx.Conn) error { return nil }),
		"CompleteTx":    job.CompleteTx(ctx, nil),
		"CompleteSQLTx": job.CompleteSQLTx(ctx, (*sql.Tx)(nil)),
	} {
		if err == nil {
			t.Errorf("%s works", name)
		}
	}
	job.Logger().Debug("does not panic")
	if _, ok := shim.JobFromContext(ctx); ok {
		t.Error("a context has a job of its own accord")
	}
	if found, ok := shim.JobFromContext(shim.ContextWithJob(ctx, job)); !ok || found != job {
		t.Error("the context does not keep its job")
	}
}

func TestAJobKnowsHowLongItWaited(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	latencies := make(map[string]time.Duration)
	w.Handle("task", func(_ context.Context, job *shim.Job) error {
		latencies[job.Key] = job.Latency()
		if !strings.HasPrefix(job.Key, "old") && job.ClaimedAt().Before(job.CreatedAt) {
			t.Errorf("claimed at %s, created at %s", job.ClaimedAt(), job.CreatedAt)
		}
		return nil
	})
	q.exec(`
		select graphile_worker.add_job('task', job_key => 'new', run_at => now() - interval '2 hours'),
		       graphile_worker.add_job('task', job_key => 'old'),
		       graphile_worker.add_job('task', job_key => 'old and due for an hour', run_at => now() - interval '1 hour')`)
	q.exec(`update graphile_worker._private_jobs set created_at = now() - interval '1 day' where key like 'old%'`)
	runOnce(t, w)
	if latencies["new"] > time.Minute || latencies["old"] > time.Minute || latencies["new"] < 0 {
		t.Errorf("latencies are %v", latencies)
	}
	if d := latencies["old and due for an hour"]; d < time.Hour || d > time.Hour+time.Minute {
		t.Errorf("latency is %s", d)
	}
	if job := (&shim.Job{}); job.Latency() != 0 || !job.ClaimedAt().IsZero() {
		t.Errorf("a job that nobody claimed waited %s", job.Latency())
	}
}
