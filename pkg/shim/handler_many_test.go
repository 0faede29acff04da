package shim_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/shim"
)

func TestShortJobsOfATaskAreGivenToItsHandlerTogetherAndEachOnce(t *testing.T) {
	const jobs, most = 1000, 20
	q := newQueue(t)
	q.add("many", jobs)
	q.add("other", 10)
	w := q.worker(shim.Config{Concurrency: 2, QuietSuccess: true})
	var mu sync.Mutex
	seen := make(map[int64]int)
	largest := 0
	w.HandleMany("many", most, func(_ context.Context, jobs []*shim.Job) []error {
		mu.Lock()
		defer mu.Unlock()
		largest = max(largest, len(jobs))
		errs := make([]error, len(jobs))
		for i, job := range jobs {
			if job.TaskIdentifier != "many" {
				t.Errorf("it was given a job of the task %s", job.TaskIdentifier)
			}
			if seen[job.ID]++; job.ID%100 == 0 {
				errs[i] = errors.New("no")
			}
		}
		return errs
	})
	w.Handle("other", func(context.Context, *shim.Job) error { return nil })
	runOnce(t, w)
	if len(seen) != jobs || largest < 2 || largest > most {
		t.Errorf("%d jobs were seen, up to %d at once", len(seen), largest)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("job %d was seen %d times", id, times)
		}
	}
	if left := q.jobs(); left != jobs/100 {
		t.Errorf("%d jobs are left, want those that failed", left)
	}
}

func TestAHandlerOfSeveralJobsThatCannotBeIsRefused(t *testing.T) {
	q := newQueue(t)
	one := func(context.Context, *shim.Job) error { return nil }
	many := func(context.Context, []*shim.Job) []error { return nil }
	w := q.worker(shim.Config{})
	err := w.SetTasks(
		shim.Task{Name: "none", Most: 2},
		shim.Task{Name: "of none", Many: many},
		shim.Task{Name: "both", Handler: one, Many: many, Most: 2},
	)
	for _, part := range []string{
		`the handler of task "none" is nil`, `task "of none" takes 0 jobs at once`, `task "both" has two handlers`,
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want one with %q", err, part)
		}
	}
}

func TestJobsAreCompletedByAStatementOfTheirHandler(t *testing.T) {
	q := newEffects(t)
	q.add("many", 50)
	w := q.worker(shim.Config{})
	events := record(w)
	q.exec(`select graphile_worker.keep_task('many', '1 day', results => true)`)
	const result = `"\'ü` + "\n"
	w.HandleMany("many", 10, func(ctx context.Context, jobs []*shim.Job) []error {
		for _, job := range jobs {
			if job.ID%2 == 0 {
				_ = job.SetResult(result)
			}
		}
		completion, err := shim.CompletionOf(jobs)
		if err != nil {
			t.Error(err)
			return nil
		}
		var batch pgx.Batch // one transaction, as it is sent
		for _, job := range jobs {
			batch.Queue(`insert into effects values ($1)`, job.ID)
		}
		batch.Queue(completion.SQL, completion.Args...)
		if err := q.pool.SendBatch(ctx, &batch).Close(); err != nil {
			t.Error(err)
		}
		completion.Committed()
		return nil
	})
	runOnce(t, w)
	if q.jobs() != 0 || q.effects() != 50 {
		t.Errorf("%d jobs, %d effects", q.jobs(), q.effects())
	}
	if n := value[int](q, `select count(*) from graphile_worker.job_results(array(select job_id from effects)) where result #>> '{}' = $1`, result); n != 25 {
		t.Errorf("%d results were kept as they were set, want 25", n)
	}
	completed := 0
	for _, reported := range only[shim.JobReported](events()) {
		if reported.Outcome == shim.OutcomeCompleted && reported.Err == nil {
			completed++
		}
	}
	if completed != 50 {
		t.Errorf("%d jobs were reported as completed", completed)
	}
}
