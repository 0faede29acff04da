package shim_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/shim"
)

// letters carries a letter.
type letters struct{}

type letterKey struct{}

func withLetter(ctx context.Context, letter string) context.Context {
	return context.WithValue(ctx, letterKey{}, letter)
}

func letterOf(ctx context.Context) string {
	letter, _ := ctx.Value(letterKey{}).(string)
	return letter
}

func (letters) Inject(ctx context.Context) map[string]string {
	if letterOf(ctx) == "" {
		return nil
	}
	return map[string]string{"letter": letterOf(ctx), "broken": "\x00"}
}

func (letters) Extract(ctx context.Context, carried map[string]string) context.Context {
	return withLetter(ctx, carried["letter"])
}

// sent are the contexts in the database, those of no job included.
const sent = `
	select coalesce(string_agg(c.context::text, ' ' order by j.id), '')
	  from graphile_worker._gw_job_context as c
	  left join graphile_worker._private_jobs as j on j.id = c.job_id and j.revision = c.revision`

func TestWhatAContextHoldsIsSentBesideTheJob(t *testing.T) {
	clientsWith(t, shim.ClientConfig{Propagator: letters{}}, func(t *testing.T, q *queue, client *shim.Client) {
		ctx := withLetter(t.Context(), "é")
		first := one(t)(client.Add(ctx, "a", map[string]int{"n": 1},
			&shim.AddOptions{JobKey: "key", QueueName: "queue"}))
		if first.TaskIdentifier != "a" || first.QueueName != "queue" || first.Key != "key" {
			t.Errorf("the answer is %+v", first)
		}
		again := one(t)(client.Add(ctx, "a", map[string]int{"n": 1},
			&shim.AddOptions{JobKey: "key", JobKeyMode: shim.UnsafeDedupe}))
		if again.ID != first.ID || again.Revision != 1 || again.QueueName != "queue" {
			t.Errorf("the answer to a request that changes nothing is %+v", again)
		}
		one(t)(client.AddBatch(ctx, "b", []int{1}, nil))
		jobs := many(t)(client.AddMany(ctx, []shim.JobSpec{
			{Task: "c", AddOptions: shim.AddOptions{JobKey: "other"}},
			{Task: "d"},
			{Task: "e", AddOptions: shim.AddOptions{JobKey: "other", JobKeyMode: shim.PreserveRunAt}},
		}))
		if len(jobs) != 3 || jobs[0].TaskIdentifier != "e" || jobs[1].TaskIdentifier != "d" ||
			jobs[2].ID != jobs[0].ID {
			t.Errorf("the answers are %+v", jobs)
		}
		one(t)(client.Add(t.Context(), "nothing to send", nil, nil))

		want := `{"letter": "é"} {"letter": "é"} {"letter": "é"} {"letter": "é"}`
		if got := value[string](q, sent); got != want {
			t.Errorf("beside the jobs lies %s, want %s", got, want)
		}
		payloads := value[string](q, `select string_agg(payload::text, ' ' order by id) from graphile_worker._private_jobs`)
		if payloads != `{"n":1} [1] {} {} {}` {
			t.Errorf("the payloads are %s", payloads)
		}
	})
}

func TestNothingIsSentOrReadWithoutAPropagator(t *testing.T) {
	q := newQueue(t)
	ctx := withLetter(t.Context(), "x")
	one(t)(q.client().Add(ctx, "a", nil, nil))
	many(t)(q.client().AddMany(ctx, []shim.JobSpec{{Task: "b"}}))
	if got := value[string](q, sent); got != "" {
		t.Errorf("beside the jobs lies %s", got)
	}
	q.exec(`drop function graphile_worker._gw_job_contexts(bigint[], integer[])`)
	w := q.worker(shim.Config{})
	w.Handle("a", func(context.Context, *shim.Job) error { return nil })
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if warnings, _ := w.logs.find("WARN"); len(warnings) > 0 || q.jobs() != 1 {
		t.Errorf("%d jobs are left, and the worker says %q", q.jobs(), warnings)
	}
}

func TestAHandlerRunsUnderWhatWasSentAlong(t *testing.T) {
	q := newQueue(t)
	client := shim.NewClient(q.pool, shim.ClientConfig{Propagator: letters{}})
	w := q.worker(shim.Config{Propagator: letters{}})
	got := make(chan string, 10)
	w.Handle("with", func(ctx context.Context, job *shim.Job) error {
		got <- job.TaskIdentifier + letterOf(ctx)
		_, err := w.Client().Add(ctx, "next", nil, nil)
		return err
	})
	note := func(ctx context.Context, job *shim.Job) error {
		got <- job.TaskIdentifier + letterOf(ctx)
		return nil
	}
	w.Handle("next", note)
	w.Handle("without", note)
	w.Handle("replaced", note)
	retried := false
	w.Handle("retried", func(ctx context.Context, job *shim.Job) error {
		if !retried {
			retried = true
			return errors.New("not yet")
		}
		return note(ctx, job)
	})

	x := withLetter(t.Context(), "x")
	for _, task := range []string{"with", "retried"} {
		one(t)(client.Add(x, task, nil, nil))
	}
	one(t)(client.Add(t.Context(), "without", nil, nil))
	keyed := &shim.AddOptions{JobKey: "key"}
	one(t)(client.Add(x, "replaced", nil, keyed))
	one(t)(q.client().Add(x, "replaced", nil, keyed)) // sends nothing
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	q.exec(`select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs), run_at => now())`)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(got)
	seen := make(map[string]bool)
	for s := range got {
		seen[s] = true
	}
	for _, want := range []string{"withx", "nextx", "without", "replaced", "retriedx"} {
		if !seen[want] {
			t.Errorf("%s is missing among %v", want, seen)
		}
	}
}

func TestJobsRunThoughWhatWasSentAlongCannotBeRead(t *testing.T) {
	q := newQueue(t)
	client := shim.NewClient(q.pool, shim.ClientConfig{Propagator: letters{}})
	one(t)(client.Add(withLetter(t.Context(), "x"), "a", nil, nil))
	q.exec(`drop function graphile_worker._gw_job_contexts(bigint[], integer[])`)
	w := q.worker(shim.Config{Propagator: letters{}})
	ran := make(chan string, 1)
	w.Handle("a", func(ctx context.Context, _ *shim.Job) error {
		ran <- letterOf(ctx)
		return nil
	})
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if letter := receive(t, ran); letter != "" || q.jobs() != 0 {
		t.Errorf("the handler saw %q, %d jobs are left", letter, q.jobs())
	}
	w.logs.await(t, "WARN", "contexts of jobs could not be read")
}

func TestWhatIsSentAlongGoesWithItsTransaction(t *testing.T) {
	q := newQueue(t)
	client := shim.NewClient(q.pool, shim.ClientConfig{Propagator: letters{}})
	rollback := errors.New("changed my mind")
	err := pgx.BeginFunc(t.Context(), q.pool, func(tx pgx.Tx) error {
		one(t)(client.With(tx).Add(withLetter(t.Context(), "x"), "a", nil, nil))
		return rollback
	})
	if !errors.Is(err, rollback) {
		t.Fatal(err)
	}
	if got := value[string](q, sent); got != "" || q.jobs() != 0 {
		t.Errorf("%d jobs are left, and %s", q.jobs(), got)
	}
}
