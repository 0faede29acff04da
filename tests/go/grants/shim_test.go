package grants

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/crontab"
	"github.com/gwsql/gw/pkg/shim"
)

// carrier sends a word from a producer to the handler, in the context of the job.
type carrier struct{ word string }

func (c carrier) Inject(context.Context) map[string]string { return map[string]string{"word": c.word} }

func (c carrier) Extract(ctx context.Context, carried map[string]string) context.Context {
	return context.WithValue(ctx, carrier{}, carried["word"])
}

// handleOutcomes serves tasks that end in each way.
func handleOutcomes(w *shim.Worker) {
	done := func(context.Context, *shim.Job) error { return nil }
	w.Handle("good", done)
	w.Handle("recur", done)
	w.Handle("suspect", done)
	w.Handle("bad", func(context.Context, *shim.Job) error { return errors.New("it went wrong") })
	w.Handle("never", func(context.Context, *shim.Job) error { return shim.Discard(errors.New("never")) })
	w.Handle("later", func(context.Context, *shim.Job) error { return shim.Snooze(time.Hour) })
	w.Handle("part", func(context.Context, *shim.Job) error { return shim.Batch([]error{nil, errors.New("half")}) })
}

// handleCalls serves tasks that use the database: they add jobs, and complete themselves in a transaction. One of them sends
// the value that its context carries.
func handleCalls(w *shim.Worker, pool *pgxpool.Pool, words chan<- any) {
	w.Handle("carried", func(ctx context.Context, job *shim.Job) error {
		words <- ctx.Value(carrier{})
		_, err := job.Client().Add(ctx, "added", nil, &shim.AddOptions{JobKey: "added"})
		return err
	})
	w.Handle("in tx", func(ctx context.Context, job *shim.Job) error {
		return job.WithConn(ctx, func(conn *pgx.Conn) error {
			return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
				_, err := job.Client().With(tx).AddMany(ctx, []shim.JobSpec{{Task: "added"}})
				return errors.Join(err, job.CompleteTx(ctx, tx))
			})
		})
	})
	w.HandleMany("many", 10, func(ctx context.Context, jobs []*shim.Job) []error {
		c, err := shim.CompletionOf(jobs)
		if err != nil {
			return []error{err}
		}
		if _, err := pool.Exec(ctx, c.SQL, c.Args...); err != nil {
			c.RolledBack(err)
			return []error{err}
		}
		c.Committed()
		return nil
	})
}

// A worker in Go does everything that it can do, with a role that has the rights of a worker and, for jobs that its handlers add, of
// a producer: each outcome of a job, queues, batches, suspects, cron, cancels, job contexts, interruption.
func TestAWorkerInGoWorksUnderARoleWithTheRightsOfAWorker(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", nil)
	grants := q.everybody()
	grants.Producers = append(grants.Producers, q.roles["worker"])
	if _, err := q.migrator().Grant(t.Context(), grants); err != nil {
		t.Fatal(err)
	}
	q.exec(`select S.set_setting('notify', 'idle'), S.set_setting('beat_every', '100 milliseconds')`)

	var logs lockedText
	pool := q.poolAs("worker")
	w, err := shim.New(pool, shim.Config{
		Schema: "graphile_worker_api", WorkerID: "w", Concurrency: 4, PollInterval: time.Hour, Grace: time.Nanosecond,
		Logger: slog.New(slog.NewTextHandler(&logs, nil)), Propagator: carrier{"ignored"},
		Cron: []crontab.Source{crontab.Text("* * * * * recur ?id=often&fill=10m\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	words := make(chan any, 1)
	handleOutcomes(w)
	handleCalls(w, pool, words)
	started, ended := make(chan struct{}, 2), make(chan error, 2)
	long := func(ctx context.Context, _ *shim.Job) error {
		started <- struct{}{}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return ctx.Err()
	}
	w.Handle("canceled", long)
	w.Handle("interrupted", long)

	// The item has been known for long, so that its runs of the last minutes are backfilled when the worker starts.
	q.exec(`insert into S._private_known_crontabs (identifier, known_since) values ('often', now() - interval '1 day')`)
	q.exec(`
		select S.add_job(t) from unnest(array['good', 'bad', 'never', 'later', 'in tx', 'many', 'canceled']) as t;
		select S.add_job('good', queue_name => 'q'), S.add_job('many') from generate_series(1, 5) as n;
		select S.add_job('part', '[1,2]');
		select S._gw_put_job_contexts(array_agg(j.id), array_agg(j.revision), '{"word": "sent"}') from S.add_job('carried') as j;
		insert into S._gw_suspects (job_id) select j.id from S.add_job('suspect') as j;
		update S._private_jobs set job_queue_id = -2 where id in (select job_id from S._gw_suspects)`)
	stopped := make(chan error, 1)
	go func() { stopped <- w.Run(t.Context()) }()
	defer func() {
		w.Kill()
		if t.Failed() {
			t.Log(logs.String())
		}
	}()
	<-started
	if _, err := q.client("admin").Cancel(t.Context(), "enough", pgtest.Value[int64](t, q.pool,
		`select j.id from graphile_worker.jobs as j where j.task_identifier = 'canceled'`)); err != nil {
		t.Fatal(err)
	}
	// Jobs that wait for a retry may have been retried already.
	const left = `
		select coalesce(string_agg(distinct l.text, '; ' order by l.text), '')
		  from graphile_worker.list_jobs() as j
		 cross join lateral (values (case j.state when 'scheduled' then concat_ws(' ', j.task_identifier, j.state, left(j.last_error, 20))
		                                          else concat_ws(' ', j.task_identifier, j.state, j.attempts, j.last_error) end)) as l (text)`
	const want = `added ready 0; bad scheduled it went wrong; canceled failed 25 job canceled: enough: context canceled; ` +
		`later scheduled; never failed 25 never; part scheduled Batch failures:` + "\n" + `half`
	defer func() {
		if t.Failed() {
			t.Logf("left is\n%s", pgtest.Value[string](t, q.pool, left))
		}
	}()
	pgtest.Await(t, q.pool, `select (`+left+`) = $1`, want)
	if cause := <-ended; !errors.Is(cause, shim.ErrCanceled) {
		t.Errorf("the canceled job was ended by: %v", cause)
	}
	if word := <-words; word != "sent" {
		t.Errorf("the word in the job's context is %v", word)
	}
	pgtest.Await(t, q.pool, `select count(*) = 1 from graphile_worker._gw_sleepers`)
	if n := pgtest.Value[int64](t, q.pool, `select count(*) from graphile_worker._private_known_crontabs where last_execution is not null`); n != 1 {
		t.Error("cron has not run")
	}

	if _, err := q.client("producer").Add(t.Context(), "interrupted", nil, nil); err != nil { // which wakes the worker
		t.Fatal(err)
	}
	<-started
	if err := w.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-stopped; !errors.Is(err, shim.ErrInterrupted) {
		t.Errorf("ended with %v", err)
	}
	if cause := <-ended; !errors.Is(cause, shim.ErrShutdown) {
		t.Errorf("the interrupted job was ended by: %v", cause)
	}
	if !pgtest.Value[bool](t, q.pool, `
		select j.state = 'ready' and j.attempts = 0 and not exists (select from graphile_worker._gw_workers)
		  from graphile_worker.list_jobs(task => 'interrupted') as j`) {
		t.Error("the interrupted job has changed, or the worker is still registered")
	}
	if text := logs.String(); strings.Contains(text, "42501") || strings.Contains(text, "42883") {
		t.Error("the worker lacks a right")
	}
}

// If the worker's role is not a producer, adding a job in a handler fails with a clear error.
func TestAWorkerThatIsNoProducerCannotAddJobs(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", nil)
	q.grant()
	w, err := shim.New(q.poolAs("worker"), shim.Config{Schema: "graphile_worker_api"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Client().Add(t.Context(), "task", nil, nil)
	notGranted(t, map[string]error{"Add": err})
}

// lockedText is text that is written and read by several goroutines.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
