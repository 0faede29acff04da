package shim_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

type sum struct {
	Of    []int `json:"of"`
	Total int   `json:"total"`
}

func (q *queue) adder() *worker {
	w := q.worker(shim.Config{})
	shim.HandleResult(w.Worker, "sum", func(_ context.Context, numbers []int, _ *shim.Job) (sum, error) {
		result := sum{Of: numbers}
		for _, n := range numbers {
			result.Total += n
		}
		if result.Total < 0 {
			return result, shim.Discard(errors.New("negative"))
		}
		return result, nil
	})
	w.Handle("silent", func(context.Context, *shim.Job) error { return nil })
	return w
}

func TestAProducerGetsTheResultOfItsJob(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		q.adder().start()
		result, err := shim.AddAndWait[sum](t.Context(), client, "sum", []int{1, 2, 3}, nil)
		if err != nil || result.Total != 6 || len(result.Of) != 3 {
			t.Errorf("the result is %+v, %v", result, err)
		}
		raw, err := shim.AddAndWait[json.RawMessage](t.Context(), client, "sum", []int{1}, nil)
		if err != nil || string(raw) != `{"of":[1],"total":1}` {
			t.Errorf("the result is %s, %v", raw, err)
		}
		var failed *shim.JobFailedError
		if _, err := shim.AddAndWait[sum](t.Context(), client, "sum", []int{-1}, nil); !errors.As(err, &failed) ||
			failed.LastError != "negative" {
			t.Errorf("a job that fails: %v", err)
		}
		if _, err := shim.AddAndWait[sum](t.Context(), client, "silent", nil, nil); !errors.Is(err, shim.ErrNoResult) {
			t.Errorf("a job without a result: %v", err)
		}
		if _, err := shim.AddAndWait[string](t.Context(), client, "sum", []int{1}, nil); err == nil ||
			!strings.Contains(err.Error(), "decode the result") {
			t.Errorf("a result of another type: %v", err)
		}
	})
}

func TestAResultIsStoredOnlyIfItWasAskedFor(t *testing.T) {
	q := newQueue(t)
	client := q.client()
	asked, notAsked := q.addPayload("sum", "[1]"), q.addPayload("sum", "[2]")
	if err := client.ExpectResult(t.Context(), asked, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := q.adder().RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if result, err := shim.Wait[sum](t.Context(), client, asked); err != nil || result.Total != 1 {
		t.Errorf("the result is %+v, %v", result, err)
	}
	if _, err := shim.Wait[sum](t.Context(), client, notAsked); !errors.Is(err, shim.ErrNoResult) {
		t.Errorf("a result that was not asked for: %v", err)
	}
}

func TestInPlaceOfAResultThatIsTooLargeANoteIsStored(t *testing.T) {
	q := newQueue(t)
	q.exec(`select graphile_worker.set_setting('max_result', '1024')`)
	w := q.worker(shim.Config{})
	shim.HandleResult(w.Worker, "large", func(context.Context, any, *shim.Job) (string,
		error) {
		return strings.Repeat("x", 2000), nil
	})
	w.Handle("small", func(_ context.Context, job *shim.Job) error { return job.SetResult("x") })
	large := q.add("large", 1)
	q.add("small", 1)
	q.exec(`select graphile_worker.expect_result($1)`, large)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	const want = `{"gw_dropped" : "The result has 2002 bytes; the setting max_result allows 1024."}`
	if got := value[string](q, `select result::text from graphile_worker._gw_expected where job_id = $1`,
		large); got != want {
		t.Errorf("the result is %q, want %q", got, want)
	}
	if value[bool](q, `select exists (select from graphile_worker.jobs)`) {
		t.Error("a job has not completed")
	}
}

func TestAWaiterLearnsThatItsJobWasRemoved(t *testing.T) {
	q := newQueue(t)
	client := q.client()
	id := value[int64](q, `select (graphile_worker.add_job('sum', job_key => 'key')).id`)
	ended := make(chan error, 1)
	go func() {
		_, err := shim.Wait[sum](t.Context(), client, id)
		ended <- err
	}()
	q.await(`select exists (select from graphile_worker._gw_expected)`)
	q.exec(`select graphile_worker.remove_job('key')`)
	if err := receive(t, ended); !errors.Is(err, shim.ErrJobRemoved) {
		t.Errorf("Wait returned %v", err)
	}
}

// A thousand callers share one connection that listens, and each gets its own result at once: without notifications,
// the last ones would have to wait for a query after five seconds.
func TestAThousandWaitersShareOneConnection(t *testing.T) {
	q := newQueue(t)
	const count = 1000
	client := q.client()
	q.exec(`select graphile_worker.add_job('sum', '[7]') from generate_series(1, $1)`, count)
	q.exec(`select graphile_worker.expect_result(id) from graphile_worker.jobs`)
	var all sync.WaitGroup
	for id := range int64(count) {
		all.Go(func() {
			if result, err := shim.Wait[sum](t.Context(), client, id+1); err != nil || result.Total != 7 {
				t.Errorf("job %d: %+v, %v", id+1, result, err)
			}
		})
	}
	const listening = `select count(*) from pg_stat_activity where datname = current_database() and query = 'listen "jobs:end"'`
	q.await(`select (` + listening + `) = 1`)
	q.adder().start()
	all.Wait()
	if n := value[int](q, listening); n != 1 {
		t.Errorf("%d connections listen", n)
	}
}

// The end of a job is notified: a caller that has waited for long does not wait for its next query, which is seconds
// away.
func TestAnEndIsNoticedAtOnce(t *testing.T) {
	q := newQueue(t)
	client := q.client()
	id := q.addPayload("sum", "[7]")
	if err := client.ExpectResult(t.Context(), id, time.Hour); err != nil {
		t.Fatal(err)
	}
	ended := make(chan time.Time, 1)
	go func() {
		if _, err := shim.Wait[sum](t.Context(), client, id); err != nil {
			t.Error(err)
		}
		ended <- time.Now()
	}()
	// Queries become rare, so that the next one is far away.
	q.await(`select exists (select from pg_stat_activity where datname = current_database() and query like '%job_results%'
		and state = 'idle' and state_change < clock_timestamp() - interval '1.5 seconds')`)
	began := time.Now()
	if err := q.adder().RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := time.Now()
	if late := receive(t, ended).Sub(done); late > 400*time.Millisecond {
		t.Errorf("Wait returned %v after the end of the job, which took %v", late, done.Sub(began))
	}
}

func (q *queue) addPayload(task, payload string) int64 {
	q.t.Helper()
	return value[int64](q, `select (graphile_worker.add_job($1, $2::json)).id`, task, payload)
}

func TestTheHistoryOfAKeptTask(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		kept := shim.KeptTask{Task: "sum", KeepFor: 30 * 24 * time.Hour, Payloads: true, Results: true}
		if err := client.KeepTask(t.Context(), kept); err != nil {
			t.Fatal(err)
		}
		if tasks, err := client.KeptTasks(t.Context()); err != nil || len(tasks) != 1 || tasks[0] != kept {
			t.Errorf("the kept tasks are %+v, %v", tasks, err)
		}
		id := q.addPayload("sum", "[1]")
		if err := q.adder().RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		attempts, err := client.JobHistory(t.Context(), id)
		if err != nil || len(attempts) != 1 {
			t.Fatalf("the history is %+v, %v", attempts, err)
		}
		a := attempts[0]
		if a.Attempt != 1 || a.Outcome != "completed" || a.WorkerID == "" || a.RunAt.IsZero() || a.StartedAt.IsZero() ||
			a.EndedAt.Before(a.StartedAt) ||
			string(a.Payload) != "[1]" || string(a.Result) != `{"of":[1],"total":1}` {
			t.Errorf("the attempt is %+v", a)
		}
		stats, err := client.TaskStats(t.Context(), "sum", a.EndedAt, time.Time{})
		if err != nil || stats.Attempts != 1 || stats.Completed != 1 || stats.Ran.P50 <= 0 {
			t.Errorf("the statistics are %+v, %v", stats, err)
		}
		if result, err := shim.Wait[sum](t.Context(), client, id); err != nil || result.Total != 1 {
			t.Errorf("a task that keeps results: %+v, %v", result, err)
		}
		if was, err := client.StopKeepingTask(t.Context(), "sum"); err != nil || !was {
			t.Errorf("StopKeepingTask: %v, %v", was, err)
		}
	})
}
