package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

var (
	cutJobs = flag.Int("recovery.cut", 300, "how many jobs of each kind run over a network that cuts connections")
	cutOdds = flag.Int("recovery.odds", 40, "one in this number of the statements of handlers is cut")
	cutSeed = flag.Uint64("recovery.seed", 0, "the seed of the cuts; 0 draws one")
)

const insert = "insert into effects (n) values ($1::integer)"

// n is the payload of a job.
type n struct{ N int }

// exactlyOnce are the kinds of handlers that complete a job in the transaction of its effects.
var exactlyOnce = map[string]func(ctx context.Context, pool *pgxpool.Pool) (shim.Task, error){
	"Handle with CompleteTx": func(_ context.Context, pool *pgxpool.Pool) (shim.Task, error) {
		return shim.Task{Handler: shim.Typed(func(ctx context.Context, p n, job *shim.Job) error {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, insert, p.N); err != nil {
					return err
				}
				return job.CompleteTx(ctx, tx)
			})
		})}, nil
	},
	"HandleTx": func(context.Context, *pgxpool.Pool) (shim.Task, error) {
		return shim.Task{Tx: shim.TypedTx(func(ctx context.Context, tx pgx.Tx, p n, _ *shim.Job) error {
			_, err := tx.Exec(ctx, insert, p.N)
			return err
		})}, nil
	},
	"HandleManyTx": func(context.Context, *pgxpool.Pool) (shim.Task, error) {
		return shim.Task{Most: 10, ManyTx: shim.TypedManyTx(func(ctx context.Context, tx pgx.Tx, payloads []n,
			_ []*shim.Job) error {
			var all pgx.Batch
			for _, p := range payloads {
				all.Queue(insert, p.N)
			}
			return tx.SendBatch(ctx, &all).Close()
		})}, nil
	},
	"HandleMany with CompletionOf": func(_ context.Context, pool *pgxpool.Pool) (shim.Task, error) {
		return shim.Task{Most: 10, Many: func(ctx context.Context, jobs []*shim.Job) []error {
			return slices.Repeat([]error{completeMany(ctx, pool, jobs)}, len(jobs))
		}}, nil
	},
	"sql": func(ctx context.Context, pool *pgxpool.Pool) (shim.Task, error) {
		return task.SQL{Function: "public.note"}.Task(ctx, pool, "")
	},
	"sql with batch": func(ctx context.Context, pool *pgxpool.Pool) (shim.Task, error) {
		return task.SQL{Function: "public.note", Batch: 10}.Task(ctx, pool, "")
	},
}

// completeMany writes the effects of jobs and completes them, in one transaction.
func completeMany(ctx context.Context, pool *pgxpool.Pool, jobs []*shim.Job) error {
	completion, err := shim.CompletionOf(jobs)
	if err != nil {
		return err
	}
	var all pgx.Batch
	for _, job := range jobs {
		var p n
		if err := json.Unmarshal(job.Payload, &p); err != nil {
			return err
		}
		all.Queue(insert, p.N)
	}
	all.Queue(completion.SQL, completion.Args...)
	if err := pool.SendBatch(ctx, &all).Close(); err != nil { // one transaction, as it is sent
		return err
	}
	completion.Committed()
	return nil
}

// effectsOnce is a database with jobs whose only attempt writes a row.
type effectsOnce struct {
	t    *testing.T
	url  string
	pool *pgxpool.Pool
}

func newEffectsOnce(t *testing.T) *effectsOnce {
	t.Helper()
	url := pgtest.Database(t)
	e := &effectsOnce{t: t, url: url, pool: pgtest.Pool(t, url)}
	pgtest.Exec(t, e.pool, `
		create table effects (n integer);
		create function note(payload json) returns void language sql as $$ insert into effects values ((payload ->> 'N')::integer) $$;
		create function note(payloads json[]) returns setof integer language sql as $$
		  insert into effects select (p ->> 'N')::integer from unnest(payloads) as p returning n $$`)
	return e
}

// run runs jobs of a kind with handlers whose connections the cutter may cut, until none is left, and checks that all were done once.
func (e *effectsOnce) run(ctx context.Context, kind, url string, jobs int) {
	e.t.Helper()
	pgtest.Exec(e.t, e.pool, `
		select graphile_worker.add_job('task', json_build_object('N', n), max_attempts => 1) from generate_series(1, $1::integer) as n`, jobs)
	made, err := exactlyOnce[kind](ctx, e.pool) // not over the network, so that it is not cut
	if err != nil {
		e.t.Fatal(err)
	}
	pool := pgtest.Pool(e.t, url)
	if kind == "Handle with CompleteTx" || kind == "HandleMany with CompletionOf" {
		made, _ = exactlyOnce[kind](ctx, pool)
	}
	made.Name = "task"
	w, err := shim.New(pool, shim.Config{
		Concurrency: 4, PollInterval: 100 * time.Millisecond, PollOnly: true, QuietSuccess: true,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		err = w.SetTasks(made)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	var mu sync.Mutex
	var failed []error
	shim.On(w, func(reported shim.JobReported) {
		if reported.Outcome == shim.OutcomeFailed || reported.Outcome == shim.OutcomePermanentlyFailed {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, reported.Err)
		}
	})
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	pgtest.Await(e.t, e.pool, `select not exists (select from graphile_worker.jobs where attempts < max_attempts or locked_at is not null)`)
	if err := errors.Join(w.Stop(ctx), <-done); err != nil {
		e.t.Error(err)
	}
	if len(failed) > 0 {
		e.t.Errorf("%d jobs have failed: %v", len(failed), failed[0])
	}
	e.check(jobs)
}

// check checks that no job is left and that each effect was done once.
func (e *effectsOnce) check(jobs int) {
	e.t.Helper()
	got := pgtest.Value[string](e.t, e.pool, `
		select format('%s jobs left (%s), %s effects of %s jobs', (select count(*) from graphile_worker.jobs),
		              (select max(last_error) from graphile_worker.jobs), count(*), count(distinct n)) from effects`)
	if want := fmt.Sprintf("0 jobs left (), %d effects of %d jobs", jobs, jobs); got != want {
		e.t.Errorf("there are %s, want %s", got, want)
	}
	pgtest.Exec(e.t, e.pool, `truncate effects; delete from graphile_worker._private_jobs`)
}

func TestEachEffectIsDoneOnceHoweverOftenConnectionsAreCut(t *testing.T) {
	seed := *cutSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-recovery.seed=%d", seed)
	for kind := range exactlyOnce {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			e := newEffectsOnce(t)
			network, url := newCutter(t, e.url, seed)
			network.odds = *cutOdds
			e.run(t.Context(), kind, url, *cutJobs)
			statements, cuts := network.count()
			if t.Logf("%d statements of handlers, %d cuts", statements, cuts); cuts == 0 {
				t.Error("nothing was cut")
			}
		})
	}
}

// Each statement of the handlers is cut, once before and once after it.
func TestEachEffectIsDoneOnceWhicheverStatementIsCut(t *testing.T) {
	for kind := range exactlyOnce {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			e := newEffectsOnce(t)
			for at, more := 1, true; more; at++ {
				for _, after := range []bool{false, true} {
					network, url := newCutter(t, e.url, 1)
					network.at, network.after = at, after
					e.run(t.Context(), kind, url, 1)
					if _, cuts := network.count(); cuts == 0 {
						more = false
					}
				}
				if t.Failed() {
					t.Fatalf("the cut was at statement %d", at)
				}
			}
		})
	}
}
