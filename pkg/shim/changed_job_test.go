package shim_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/shim"
)

// changes are what a handler may do to its job.
var changes = map[string]func(*shim.Job){
	"another id":   func(job *shim.Job) { job.ID = -7 },
	"the next id":  func(job *shim.Job) { job.ID++ },
	"a zero job":   func(job *shim.Job) { *job = shim.Job{} },
	"another task": func(job *shim.Job) { job.TaskIdentifier, job.QueueName = "other", "other" },
	"no attempts":  func(job *shim.Job) { job.Attempts, job.MaxAttempts, job.Payload = -1, -1, nil },
	"a copy of another job": func(job *shim.Job) {
		other := *job
		other.ID, other.Attempts = 1, 1
		*job = other
	},
}

// changers register handlers that change their jobs, and end them all the same.
var changers = map[string]func(w *shim.Worker, task string, change func(*shim.Job)){
	"Handle": func(w *shim.Worker, task string, change func(*shim.Job)) {
		w.Handle(task, func(_ context.Context, job *shim.Job) error { change(job); return nil })
	},
	"JobFromContext": func(w *shim.Worker, task string, change func(*shim.Job)) {
		w.Handle(task, func(ctx context.Context, _ *shim.Job) error {
			job, _ := shim.JobFromContext(ctx)
			change(job)
			return nil
		})
	},
	"HandleEach": func(w *shim.Worker, task string, change func(*shim.Job)) {
		shim.HandleEach(w, task, func(_ context.Context, _ int, job *shim.Job) error { change(job); return nil })
	},
	"HandleMany": func(w *shim.Worker, task string, change func(*shim.Job)) {
		w.HandleMany(task, 10, func(_ context.Context, jobs []*shim.Job) []error {
			for i := range jobs {
				change(jobs[i])
				jobs[i] = nil
			}
			return nil
		})
	},
	"HandleTx": func(w *shim.Worker, task string, change func(*shim.Job)) {
		w.HandleTx(task, func(ctx context.Context, tx pgx.Tx, job *shim.Job) error {
			change(job)
			_, err := tx.Exec(ctx, `insert into done values ($1)`, task)
			return err
		})
	},
	"HandleManyTx": func(w *shim.Worker, task string, change func(*shim.Job)) {
		w.HandleManyTx(task, 10, func(ctx context.Context, tx pgx.Tx, jobs []*shim.Job) error {
			for i := range jobs {
				change(jobs[i])
				jobs[i] = nil
			}
			_, err := tx.Exec(ctx, `insert into done values ($1)`, task)
			return err
		})
	},
	"CompleteTx": func(w *shim.Worker, task string, change func(*shim.Job)) {
		w.Handle(task, func(ctx context.Context, job *shim.Job) error {
			return job.WithConn(ctx, func(conn *pgx.Conn) error {
				tx, err := conn.Begin(ctx)
				if err != nil {
					return err
				}
				err = job.CompleteTx(ctx, tx)
				change(job)
				return errors.Join(err, tx.Commit(ctx))
			})
		})
	},
	"Completion": func(w *shim.Worker, task string, change func(*shim.Job)) {
		w.Handle(task, func(ctx context.Context, job *shim.Job) error {
			return job.WithConn(ctx, func(conn *pgx.Conn) error {
				completion, err := shim.CompletionOf([]*shim.Job{job})
				if err != nil {
					return err
				}
				change(job)
				if _, err := conn.Exec(ctx, completion.SQL, completion.Args...); err != nil {
					return err
				}
				completion.Committed()
				return nil
			})
		})
	},
	"Step and result": func(w *shim.Worker, task string, change func(*shim.Job)) {
		w.Handle(task, func(ctx context.Context, job *shim.Job) error {
			_, err := shim.Step(ctx, job, "a", func(context.Context) (int, error) { change(job); return 0, nil })
			return errors.Join(err, job.Progress(50, "half"), job.SetResult(1))
		})
	},
	"an error and a retry": func(w *shim.Worker, task string, change func(*shim.Job)) {
		tries := 0
		w.Handle(task, func(_ context.Context, job *shim.Job) error {
			change(job)
			if tries++; tries == 1 {
				return shim.RetryIn(0, errors.New("once more"))
			}
			return nil
		})
	},
	"a rest of a batch": func(w *shim.Worker, task string, change func(*shim.Job)) {
		tries := 0
		w.Handle(task, func(_ context.Context, job *shim.Job) error {
			change(job)
			if tries++; tries == 1 {
				return shim.RetryIn(0, shim.Batch([]error{nil, errors.New("once more")}))
			}
			return nil
		})
	},
	"a snooze": func(w *shim.Worker, task string, change func(*shim.Job)) {
		tries := 0
		w.Handle(task, func(_ context.Context, job *shim.Job) error {
			change(job)
			if tries++; tries == 1 {
				return shim.Snooze(0)
			}
			return nil
		})
	},
}

// A job that a handler has changed ends as the one that was claimed. A stranger's job with the id that the handler has
// set stays.
func TestNoChangeOfAJobReachesItsOutcome(t *testing.T) {
	q := newQueue(t)
	q.exec(`create table done (task text); select graphile_worker.add_job('stranger', queue_name => 'q')`)
	byMiddleware := func(next shim.Handler) shim.Handler {
		return func(ctx context.Context, job *shim.Job) error {
			err := next(ctx, job)
			job.ID = 1
			return err
		}
	}
	w := q.worker(shim.Config{Concurrency: 2, Middleware: []shim.Middleware{byMiddleware}})
	shim.On(w.Worker, func(e shim.JobReported) { e.Job.ID = 1 })
	tasks := make(map[string]bool)
	for entry, register := range changers {
		for name, change := range changes {
			register(w.Worker, entry+": "+name, change)
			tasks[entry+": "+name] = true
		}
	}
	q.exec(`
		select graphile_worker.add_job(task, '[1, 2]', queue_name => case when n = 1 then task end)
		  from unnest($1::text[]) as task, generate_series(1, 3) as n`, slices.Collect(maps.Keys(tasks)))
	runOnce(t, w)
	if got := value[string](q, `
		select string_agg(format('%s (%s, locked: %s)', task_identifier, last_error, locked_at is not null), ', ' order by id)
		  from graphile_worker.jobs`); got != "stranger (, locked: f)" {
		t.Errorf("left are %.2000s", got)
	}
	if n := value[int](q, `select count(*) from done`); n < 2*len(changes) {
		t.Errorf("the handlers with transactions have written %d times", n)
	}
}

// A worker whose outcomes were refused, such as after somebody has changed its leases, frees what is still locked in
// its name.
func TestAWorkerThatStopsFreesWhatItHolds(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("task", func(context.Context, *shim.Job) error {
		q.exec(`update graphile_worker._private_jobs set locked_at = locked_at - interval '1 millisecond'`)
		return nil
	})
	id := q.add("task", 1)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.logs.await(t, "WARN lease lost, outcome refused", fmt.Sprint("job_id=", id))
	if got := value[string](q, `select format('%s %s', attempts, locked_by) from graphile_worker.jobs`); got != "1 " {
		t.Errorf("the job's attempts and worker are %q", got)
	}
}
