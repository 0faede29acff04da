package shim_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

// ran collects what handlers have done.
type ran struct {
	mu    sync.Mutex
	steps []string
}

func (r *ran) add(step string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, step)
}

func (r *ran) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.steps, " ")
}

type receipt struct {
	Amount float64
	Notes  []string
}

func TestARetryContinuesAfterTheLastSavedStep(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	var done ran
	w.Handle("task", func(ctx context.Context, job *shim.Job) error {
		paid, err := shim.Step(ctx, job, "charge", func(context.Context) (receipt, error) {
			done.add("charge")
			return receipt{Amount: 0.1, Notes: []string{"ä\u2028\"\x00"}}, nil
		})
		if err != nil {
			return err
		}
		if paid.Amount != 0.1 || !slices.Equal(paid.Notes, []string{"ä\u2028\"\x00"}) {
			t.Errorf("attempt %d gets the receipt %+v", job.Attempts, paid)
		}
		_, err = shim.Step(ctx, job, "ship", func(context.Context) (struct{}, error) {
			done.add("ship")
			if job.Attempts < 3 {
				return struct{}{}, errors.New("no truck")
			}
			return struct{}{}, nil
		})
		if err != nil {
			return err
		}
		again, err := shim.Step(ctx, job, "charge",
			func(context.Context) (receipt, error) { panic("twice in one attempt") })
		if err != nil || again.Amount != 0.1 {
			t.Errorf("the same step again returns %+v, %v", again, err)
		}
		return nil
	})
	id := q.add("task", 1)
	for range 3 {
		runOnce(t, w)
		q.exec(`select graphile_worker.reschedule_jobs(array[$1::bigint], run_at => now())`, id)
	}
	if got := done.String(); got != "charge ship ship ship" || q.jobs() != 0 {
		t.Errorf("%d jobs left, ran %s", q.jobs(), got)
	}
}

func TestASnoozedJobKeepsItsSteps(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	var done ran
	w.Handle("task", func(ctx context.Context, job *shim.Job) error {
		first := false
		_, err := shim.Step(ctx, job, "ask", func(context.Context) (int, error) {
			first = true
			done.add("ask")
			return 1, nil
		})
		if err == nil && first {
			return shim.Snooze(0)
		}
		return err
	})
	q.add("task", 1)
	runOnce(t, w)
	runOnce(t, w)
	if got := done.String(); got != "ask" || q.jobs() != 0 {
		t.Errorf("%d jobs left, ran %q", q.jobs(), got)
	}
}

// A step in the handler's transaction is done exactly as often as what it writes is committed.
func TestAStepOfARolledBackTransactionIsNotSaved(t *testing.T) {
	insert := func(ctx context.Context, q *queue, job *shim.Job, commits bool, done *ran) error {
		tx, err := q.pool.Begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(ctx) }()
		_, err = shim.StepTx(ctx, job, tx, "insert", func(ctx context.Context) (int64, error) {
			done.add("insert")
			_, err := tx.Exec(ctx, `insert into effects values ($1)`, job.ID)
			return job.ID, err
		})
		if err != nil || !commits {
			return err
		}
		return tx.Commit(ctx)
	}
	insertSQL := func(ctx context.Context, q *queue, job *shim.Job, commits bool, done *ran) error {
		db := stdlib.OpenDBFromPool(q.pool)
		defer db.Close()
		tx, err := db.BeginTx(ctx, &sql.TxOptions{})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		_, err = shim.StepSQLTx(ctx, job, tx, "insert", func(ctx context.Context) (int64, error) {
			done.add("insert")
			_, err := tx.ExecContext(ctx, `insert into effects values ($1)`, job.ID)
			return job.ID, err
		})
		if err != nil || !commits {
			return err
		}
		return tx.Commit()
	}
	for name, call := range map[string]func(context.Context, *queue, *shim.Job, bool, *ran) error{
		"pgx": insert, "database/sql": insertSQL,
	} {
		t.Run(name, func(t *testing.T) {
			q := newEffects(t)
			w := q.worker(shim.Config{})
			var done ran
			w.Handle("task", func(ctx context.Context, job *shim.Job) error {
				// Rolled back, committed, and then already done, in the same attempt and in the next.
				for i, commits := range []bool{job.Attempts > 1, true, true} {
					if err := call(ctx, q, job, commits, &done); err != nil {
						return err
					}
					if want := min(1, i+job.Attempts-1); q.effects() != want {
						t.Errorf("attempt %d, call %d: %d effects", job.Attempts, i, q.effects())
					}
				}
				if job.Attempts == 1 {
					return errors.New("no luck")
				}
				return nil
			})
			id := q.add("task", 1)
			runOnce(t, w)
			q.exec(`select graphile_worker.reschedule_jobs(array[$1::bigint], run_at => now())`, id)
			runOnce(t, w)
			if got := done.String(); got != "insert insert" || q.jobs() != 0 || q.effects() != 1 {
				t.Errorf("%d jobs left, %d effects, ran %q", q.jobs(), q.effects(), got)
			}
		})
	}
}

func TestALostJobSavesNoStep(t *testing.T) {
	q := newEffects(t)
	w := q.worker(shim.Config{})
	failed := make(chan [2]error, 1)
	w.Handle("task", func(ctx context.Context, job *shim.Job) error {
		q.exec(`update graphile_worker._private_jobs set locked_by = 'other', locked_at = now() where id = $1`, job.ID)
		_, err := shim.Step(ctx, job, "late", func(context.Context) (int, error) { return 1, nil })
		inTx := pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) error {
			_, err := shim.StepTx(ctx, job, tx, "late too", func(ctx context.Context) (int, error) {
				_, err := tx.Exec(ctx, `insert into effects values ($1)`, job.ID)
				return 1, err
			})
			return err
		})
		failed <- [2]error{err, inTx}
		return err
	})
	id := q.add("task", 1)
	runOnce(t, w)
	for _, err := range <-failed {
		if !errors.Is(err, shim.ErrLeaseLost) || sqlstate.Of(err) != "GWWLL" {
			t.Errorf("the step returns %v", err)
		}
	}
	if n := value[int](q, `select count(*) from graphile_worker.job_steps($1)`, id); n != 0 || q.effects() != 0 {
		t.Errorf("%d steps were saved, and %d effects", n, q.effects())
	}
}

// The second worker continues where the first one was when its job was freed, and the first saves nothing any more.
func TestTwoWorkersShareTheStepsOfAJob(t *testing.T) {
	q := newQueue(t)
	var done ran
	freed, late := make(chan struct{}), make(chan error, 1)
	started := make(chan struct{})
	handle := func(w *worker) *worker {
		w.Handle("task", func(ctx context.Context, job *shim.Job) error {
			_, err := shim.Step(ctx, job, "a", func(context.Context) (int, error) {
				done.add(job.WorkerID() + ".a")
				return 1, nil
			})
			if err != nil {
				return err
			}
			_, err = shim.Step(ctx, job, "b", func(context.Context) (int, error) {
				done.add(job.WorkerID() + ".b")
				if job.WorkerID() == "first" {
					close(started)
					<-freed
				}
				return 2, nil
			})
			if job.WorkerID() == "first" {
				late <- err
			}
			return err
		})
		return w
	}
	first, second := handle(q.worker(shim.Config{WorkerID: "first"})), handle(q.worker(shim.Config{WorkerID: "second"}))
	id := q.add("task", 1)
	first.start()
	receive(t, started)
	q.exec(`select graphile_worker.force_unlock_workers('{first}')`)
	second.start()
	q.await(`select not exists (select from graphile_worker.jobs where id = $1)`, id)
	close(freed)
	if err := receive(t, late); !errors.Is(err, shim.ErrLeaseLost) {
		t.Errorf("the first worker's step returns %v", err)
	}
	if got := done.String(); got != "first.a first.b second.b" {
		t.Errorf("ran %s", got)
	}
}

func TestInvalidStepsAreRefused(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("task", func(ctx context.Context, job *shim.Job) error {
		for _, name := range []string{"", strings.Repeat("ä", 129), "\xff", "a\x00"} {
			_, err := shim.Step(ctx, job, name, func(context.Context) (int, error) { panic("the step runs") })
			if err == nil || !strings.Contains(err.Error(), "1 to 128 characters") {
				t.Errorf("name %q: %v", name, err)
			}
		}
		_, err := shim.Step(ctx, job, "large",
			func(context.Context) (string, error) { return strings.Repeat("x", 1<<20), nil })
		if sqlstate.Of(err) != "GWWSR" {
			t.Errorf("a large result: %v", err)
		}
		_, err = shim.Step(ctx, job, "channel", func(context.Context) (chan int, error) { return nil, nil })
		if err == nil || !strings.Contains(err.Error(), "channel") {
			t.Errorf("a result that is no JSON: %v", err)
		}
		if _, err = shim.Step(ctx, job, "number", func(context.Context) (int, error) { return 7, nil }); err != nil {
			t.Error(err)
		}
		_, err = shim.Step(ctx, job, "number", func(context.Context) (string, error) { panic("the step runs again") })
		if err == nil || !strings.Contains(err.Error(), `read the saved result of step "number"`) {
			t.Errorf("a result of another type: %v", err)
		}
		return nil
	})
	q.add("task", 1)
	runOnce(t, w)
	if q.jobs() != 0 {
		t.Error("the job was not completed")
	}
}

func TestAStepWithoutAWorkerOnlyRuns(t *testing.T) {
	n, err := shim.Step(t.Context(), &shim.Job{}, "a", func(context.Context) (int, error) { return 7, nil })
	if n != 7 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}
