package shim_test

import (
	"context"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

func TestOnlyTheFirstCallUnderAKeyAddsAJobWithEveryDriver(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		ctx := t.Context()
		at := time.Date(2035, 1, 2, 3, 4, 5, 6000, time.UTC)
		first, err := client.AddOnce(ctx, "charge", map[string]int{"order": 17}, "charge:17", time.Hour,
			&shim.AddOptions{QueueName: "q", RunAt: at, MaxAttempts: 3, Priority: -1, Flags: []string{"f"}})
		if err != nil || !first.IsNew || first.State != "scheduled" || !first.DueAt.Equal(at) {
			t.Fatalf("the first call returned %+v, %v", first, err)
		}
		job, err := client.JobByKey(ctx, "charge:17")
		if err != nil || job.ID != first.ID || job.QueueName != "q" || job.MaxAttempts != 3 || job.Priority != -1 ||
			len(job.Flags) != 1 {
			t.Fatalf("the job is %+v, %v", job, err)
		}
		q.exec("delete from graphile_worker._private_jobs")
		again, err := client.AddOnce(ctx, "charge", nil, "charge:17", time.Hour, nil)
		if want := (shim.KeyedJob{ID: first.ID, State: "gone"}); err != nil || *again != want {
			t.Errorf("the second call returned %+v, %v; want %+v", again, err, want)
		}
		never, err := client.AddOnce(ctx, "charge", nil, "charge:18", time.Hour, &shim.AddOptions{RunIn: time.Minute})
		if err != nil || time.Until(never.DueAt) > time.Minute || time.Until(never.DueAt) < 50*time.Second {
			t.Errorf("a job in a minute is due at %v; %v", never.DueAt, err)
		}
	})
}

func TestManyCallsUnderAKeyShareJobsWithEveryDriver(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		ctx := t.Context()
		soon := func(job *shim.KeyedJob, err error, want time.Duration, isNew bool) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			if in := value[float64](q, "select extract(epoch from $1::timestamptz - clock_timestamp())::float8",
				job.DueAt); job.IsNew != isNew ||
				in > want.Seconds() || in < want.Seconds()-10 {
				t.Errorf("a job is due in %v s, new: %v; want %v, %v", in, job.IsNew, want, isNew)
			}
		}
		job, err := client.Debounce(ctx, "index", []int{1}, "index:1", time.Minute, time.Hour, nil)
		soon(job, err, time.Minute, true)
		q.exec("update graphile_worker._gw_keyed_calls set began_at = began_at - interval '3590 s'")
		job, err = client.Debounce(ctx, "index", []int{2}, "index:1", time.Minute, time.Hour,
			&shim.AddOptions{Priority: 2})
		soon(job, err, 10*time.Second, false)
		job, err = client.Debounce(ctx, "index", []int{3}, "index:1", time.Minute, 0, nil)
		soon(job, err, time.Minute, false)
		if text := value[string](q, "select payload::text from graphile_worker._private_jobs where key = 'index:1'"); text != "[1, 2, 3]" {
			t.Errorf("the payload is %s", text)
		}

		job, err = client.Throttle(ctx, "refresh", nil, "refresh:1", time.Hour, nil)
		soon(job, err, 0, true)
		q.exec("delete from graphile_worker._private_jobs where key = 'refresh:1'")
		job, err = client.Throttle(ctx, "refresh", nil, "refresh:1", time.Hour, nil)
		soon(job, err, time.Hour, true)
		job, err = client.Throttle(ctx, "refresh", nil, "refresh:1", time.Hour, nil)
		soon(job, err, time.Hour, false)
	})
}

func TestCallsByKeyThatCannotBeAreRefused(t *testing.T) {
	q := newQueue(t)
	client, ctx := q.client(), t.Context()
	codes := map[string]func() (*shim.KeyedJob, error){
		"GWOKY": func() (*shim.KeyedJob, error) { return client.AddOnce(ctx, "task", nil, "", time.Hour, nil) },
		"GWOIV": func() (*shim.KeyedJob, error) { return client.Throttle(ctx, "task", nil, "k", 0, nil) },
		"GWBMA": func() (*shim.KeyedJob, error) {
			return client.Debounce(ctx, "task", nil, "k", 0, 0, &shim.AddOptions{MaxAttempts: -1})
		},
	}
	for code, call := range codes {
		if _, err := call(); sqlstate.Of(err) != code {
			t.Errorf("%s: %v", code, err)
		}
	}
	for message, opts := range map[string]*shim.AddOptions{
		`debounce_job "task": the options have a JobKey or a JobKeyMode, which the call decides`: {JobKey: "other"},
		`debounce_job "task": the options have a RunAt or a RunIn, which the call decides`:       {RunIn: time.Second},
	} {
		if _, err := client.Debounce(ctx, "task", nil, "k", time.Second, 0, opts); err == nil ||
			err.Error() != message {
			t.Errorf("%v, want %s", err, message)
		}
	}
	if _, err := client.AddOnce(ctx, "", nil, "k", time.Hour, nil); err == nil {
		t.Error("a task without a name was taken")
	}
}

func TestWhatIsSentAlongIsThatOfTheCallThatAddsTheJob(t *testing.T) {
	q := newQueue(t)
	client := shim.NewClient(q.pool, shim.ClientConfig{Propagator: letters{}})
	w := q.worker(shim.Config{Propagator: letters{}})
	got := make(chan string, 2)
	w.Handle("task", func(ctx context.Context, job *shim.Job) error {
		got <- job.Key + letterOf(ctx)
		return nil
	})
	for _, letter := range []string{"x", "y"} {
		ctx := withLetter(t.Context(), letter)
		must[*shim.KeyedJob](t)(client.AddOnce(ctx, "task", nil, "once", time.Hour, &shim.AddOptions{Priority: -1}))
		must[*shim.KeyedJob](t)(client.Throttle(ctx, "task", nil, "throttled", time.Hour, nil))
	}
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"oncex", "throttledy"} {
		if run := <-got; run != want {
			t.Errorf("the job ran as %q, want %q", run, want)
		}
	}
}
