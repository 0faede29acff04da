package shim

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

func newHeldJob(id int64) *Job { return &Job{ID: id, hold: &hold{place: place{count: &taskCount{}}}} }

// renewal is a worker with two running jobs in a database, locked for a given time, and its heartbeater.
type renewal struct {
	heartbeater *heartbeater
	finisher    *finisher
	pool        *pgxpool.Pool
	jobs        []*Job
	contexts    []context.Context
}

func newRenewal(t *testing.T, age time.Duration) *renewal {
	t.Helper()
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Database(t))
	logger := slog.New(slog.DiscardHandler)
	fail := func(err error) { t.Error(err) }
	queries := &queries{pool: pool, schema: "graphile_worker", workerID: "gw-one"}
	tasks := &atomic.Pointer[taskSet]{}
	tasks.Store(newTaskSet(map[string]taskEntry{"long": {}}))
	r := &renewal{
		heartbeater: &heartbeater{
			keeper: &keeper{
				loop: loop{queries: queries, logger: logger}, tasks: tasks, me: identity{concurrency: 1},
			},
			crew: &crew{handling: t.Context(), backlog: newBacklog(ration.New(1, 0))}, advice: newAdviceBox(),
			listenBroke: new(atomic.Bool),
		},
		finisher: &finisher{loop: loop{queries: queries, logger: logger, fail: fail}},
		pool:     pool,
	}
	_, err := pool.Exec(t.Context(), `select graphile_worker.add_job('long', queue_name => 'q'), graphile_worker.add_job('long')`)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := queries.claim(t.Context(), ration.Plan{Tasks: []string{"long"}, Limit: 2}, 0, exclusions{})
	if err != nil || len(answer.jobs) != 2 {
		t.Fatalf("claimed %d jobs: %v", len(answer.jobs), err)
	}
	r.jobs = answer.jobs
	for _, sql := range []string{
		`update graphile_worker._private_jobs set locked_at = locked_at - $1::float8 * interval '1 second'`,
		`update graphile_worker._private_job_queues set locked_at = locked_at - $1::float8 * interval '1 second'`,
	} {
		if _, err := pool.Exec(t.Context(), sql, age.Seconds()); err != nil {
			t.Fatal(err)
		}
	}
	for _, job := range r.jobs {
		job.hold.lease.Add(-age.Microseconds())
		r.contexts = append(r.contexts, &job.hold.context)
	}
	e := r.heartbeater.crew.newExecutor(nil)
	e.begin(r.jobs)
	e.started = time.Now().Add(-time.Hour)
	return r
}

func (r *renewal) renew(t *testing.T) {
	t.Helper()
	if _, err := r.heartbeater.beat(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAnOldLockIsRenewedWithItsQueueAndTheNewLeaseCounts(t *testing.T) {
	r := newRenewal(t, 2*time.Hour)
	r.renew(t)
	for _, job := range r.jobs {
		if job.hold.lease.Load() <= job.Lease {
			t.Errorf("lease of job %d is %d, was %d when claimed", job.ID, job.hold.lease.Load(), job.Lease)
		}
	}
	var together bool
	err := r.pool.QueryRow(t.Context(), `
		select q.locked_at = j.locked_at
		  from graphile_worker._private_jobs as j
		  join graphile_worker._private_job_queues as q on q.id = j.job_queue_id`).Scan(&together)
	if err != nil || !together {
		t.Errorf("the queue's lock is as old as its job's: %v, %v", together, err)
	}
	r.finisher.write(t.Context(), "complete", []outcome{{job: r.jobs[0]}, {job: r.jobs[1]}},
		r.finisher.queries.complete)
	r.expectJobs(t, 0)
}

func TestAYoungLockIsLeftAlone(t *testing.T) {
	r := newRenewal(t, 0)
	r.renew(t)
	for i, job := range r.jobs {
		if job.hold.lease.Load() != job.Lease || r.contexts[i].Err() != nil {
			t.Errorf("lease of job %d changed from %d to %d, context: %v", job.ID, job.Lease, job.hold.lease.Load(),
				r.contexts[i].Err())
		}
	}
}

func TestTheHandlerOfALostJobEnds(t *testing.T) {
	r := newRenewal(t, 0)
	_, err := r.pool.Exec(t.Context(), `update graphile_worker._private_jobs set locked_by = 'pool-other' where id = $1`, r.jobs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	r.renew(t)
	if cause := context.Cause(r.contexts[0]); !errors.Is(cause, ErrLeaseLost) {
		t.Errorf("the lost job's context: %v", cause)
	}
	if err := r.contexts[1].Err(); err != nil {
		t.Errorf("the other job's context: %v", err)
	}
}

// The database knows the new lease before the worker does; an outcome that is written in between must not get lost.
func TestAnOutcomeThatCrossesARenewalIsWrittenByTheNewLease(t *testing.T) {
	r := newRenewal(t, 2*time.Hour)
	job := r.jobs[0]
	job.hold.renewing.Lock()
	answer, err := r.heartbeater.queries.heartbeat(t.Context(), time.Minute, []*Job{job}, told{}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	r.finisher.write(t.Context(), "complete", []outcome{{job: job}},
		func(ctx context.Context, batch []outcome) (applied, error) {
			done, err := r.finisher.queries.complete(ctx, batch)
			if calls++; calls == 1 { // refused: now the answer to the renewal comes in
				if done == nil || len(done) > 0 {
					t.Error("the old lease was accepted")
				}
				go func() {
					job.hold.lease.Store(answer.leases[job.ID])
					job.hold.renewing.Unlock()
				}()
			}
			return done, err
		})
	r.expectJobs(t, 1)
}

func (r *renewal) expectJobs(t *testing.T, want int) {
	t.Helper()
	var jobs int
	if err := r.pool.QueryRow(t.Context(), `select count(*) from graphile_worker.jobs`).Scan(&jobs); err != nil ||
		jobs != want {
		t.Errorf("there are %d jobs, want %d: %v", jobs, want, err)
	}
}

func TestAnOutcomeOfALostJobIsNotReported(t *testing.T) {
	started, outcomes := make(chan struct{}), make(chan outcome, 1)
	long := taskEntry{call: func(ctx context.Context, _ []*Job, errs []error) {
		close(started)
		<-ctx.Done()
		errs[0] = ctx.Err()
	}}
	e := &executor{crew: &crew{
		backlog:  newBacklog(ration.New(1, 0)),
		outcomes: outcomes,
		handling: t.Context(),
	}}
	job := newHeldJob(1)
	job.TaskIdentifier = "long"
	e.begin([]*Job{job})
	go e.execute([]*Job{job}, long)
	<-started
	e.interrupt(job, ErrLeaseLost)
	if o := <-outcomes; o.verdict != verdictLost {
		t.Errorf("verdict is %d, want %d", o.verdict, verdictLost)
	}
}

// A renewal would wait for the handler's transaction, or treat the job as lost after its commit.
func TestAJobThatItsHandlerCompletesIsNotRenewed(t *testing.T) {
	r := newRenewal(t, 2*time.Hour)
	job := r.jobs[0]
	job.worker = &host{pool: r.pool, schema: "graphile_worker", workerID: "gw-one"}
	tx, err := r.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := job.CompleteTx(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	r.renew(t) // does not wait
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.renew(t)
	if cause := context.Cause(r.contexts[0]); cause != nil {
		t.Errorf("the handler's context ended: %v", cause)
	}
	r.expectJobs(t, 1)
}

func TestTheHandlersTransactionGoesByARenewedLease(t *testing.T) {
	r := newRenewal(t, 2*time.Hour)
	job := r.jobs[0]
	job.worker = &host{pool: r.pool, schema: "graphile_worker", workerID: "gw-one"}
	r.renew(t)
	if job.hold.lease.Load() == job.Lease {
		t.Fatal("the lease is the old one")
	}
	if err := job.CompleteTx(t.Context(), r.pool); err != nil {
		t.Error(err)
	}
	r.expectJobs(t, 1)
}
