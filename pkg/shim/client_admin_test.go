package shim_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// claim takes a job for a worker of that name.
func (q *queue) claim(worker string) int64 {
	q.t.Helper()
	return value[int64](q, `select id from graphile_worker.get_job($1)`, worker)
}

func TestEveryAdministrativeCallWorksWithEveryDriver(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		ctx := t.Context()
		running := one(t)(client.Add(ctx, "running", nil, &shim.AddOptions{Priority: -1, QueueName: "q", JobKey: "r"}))
		if id := q.claim("worker-1"); id != running.ID {
			t.Fatalf("claimed %d, want %d", id, running.ID)
		}
		waiting := many(t)(client.AddMany(ctx, []shim.JobSpec{
			{Task: "a", AddOptions: shim.AddOptions{QueueName: "q"}}, {Task: "b"}, {Task: "c"},
		}))
		ids := append([]int64{running.ID, 999}, idsOf(waiting)...)

		failed := many(t)(client.PermanentlyFail(ctx, "no 'reason'", ids...))
		if !slices.Equal(idsOf(failed), idsOf(waiting)) || failed[0].TaskIdentifier != "a" ||
			failed[0].QueueName != "q" ||
			failed[0].LastError != "no 'reason'" || failed[0].Attempts != failed[0].MaxAttempts {
			t.Errorf("failed %+v", failed[0])
		}
		failed = many(t)(client.PermanentlyFail(ctx, "", waiting[1].ID))
		if len(failed) != 1 || failed[0].LastError != "Manually marked as failed" {
			t.Errorf("failed without a reason %+v", failed)
		}

		at := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
		again := many(t)(client.Reschedule(ctx,
			shim.RescheduleOptions{RunAt: at, Priority: new(4), Attempts: new(0), MaxAttempts: new(3)}, ids...))
		if !slices.Equal(idsOf(again), idsOf(waiting)) || !again[1].RunAt.Equal(at) || again[1].Priority != 4 ||
			again[1].Attempts != 0 || again[1].MaxAttempts != 3 || again[1].TaskIdentifier != "b" {
			t.Errorf("rescheduled %+v", again[1])
		}
		again = many(t)(client.Reschedule(ctx, shim.RescheduleOptions{Priority: new(0)}, waiting[0].ID))
		if again[0].Priority != 0 || !again[0].RunAt.Equal(at) || again[0].Attempts != 0 || again[0].MaxAttempts != 3 {
			t.Errorf("with nothing but priority 0 the job became %+v", again[0])
		}
		again = many(t)(client.Reschedule(ctx, shim.RescheduleOptions{RunIn: new(time.Duration(0))}, waiting[0].ID))
		if !again[0].RunAt.Equal(again[0].UpdatedAt) {
			t.Errorf("a job to run at once is to run at %s, at %s", again[0].RunAt, again[0].UpdatedAt)
		}

		done := many(t)(client.Complete(ctx, waiting[0].ID, running.ID, waiting[1].ID))
		if !slices.Equal(idsOf(done), idsOf(waiting[:2])) || done[0].TaskIdentifier != "a" || done[0].QueueName != "q" {
			t.Errorf("completed %+v", done[0])
		}

		if job := one(t)(client.Job(ctx, running.ID)); job.LockedBy != "worker-1" || job.LockedAt.IsZero() ||
			job.Attempts != 1 {
			t.Errorf("the running job is %+v", job)
		}
		if err := client.ForceUnlock(ctx, `{"another", null}`, "worker-1"); err != nil {
			t.Fatal(err)
		}
		if job := one(t)(client.Job(ctx, running.ID)); job.LockedBy != "" || !job.LockedAt.IsZero() ||
			job.Attempts != 1 {
			t.Errorf("the unlocked job is %+v", job)
		}

		many(t)(client.PermanentlyFail(ctx, "", running.ID))
		gone, err := client.Cleanup(ctx, &shim.CleanupOptions{KeepTasks: []string{"a"}},
			shim.GCJobQueues, shim.DeletePermafailedJobs, shim.GCTaskIdentifiers)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[shim.CleanupTask]int64{
			shim.DeletePermafailedJobs: 1, shim.GCTaskIdentifiers: 2,
			shim.GCJobQueues: 1, // running and b go, a and c stay
		}; !maps.Equal(gone, want) {
			t.Errorf("cleaned up %v, want %v", gone, want)
		}
	})
}

func TestCleanupRefusesWhatItDoesNotKnow(t *testing.T) {
	q := newQueue(t)
	_, err := q.client().Cleanup(t.Context(), nil, shim.GCJobQueues, "EVERYTHING")
	wantCode(t, err, "GWCTN")
}

func TestNamesOfTasksAreKeptFromForeignWorkersUnlessForced(t *testing.T) {
	q := newQueue(t)
	ctx, client := t.Context(), q.client()
	one(t)(client.Add(ctx, "task", nil, nil))
	q.claim("foreign")
	_, err := client.Cleanup(ctx, nil, shim.GCTaskIdentifiers)
	wantCode(t, err, "GWCFW")
	gone, err := client.Cleanup(ctx, &shim.CleanupOptions{Force: true}, shim.GCTaskIdentifiers)
	if err != nil || gone[shim.GCTaskIdentifiers] != 0 {
		t.Errorf("cleaned up %v, %v", gone, err)
	}
}

func TestARunningJobIsRemovedByItsKeyOnceItEnds(t *testing.T) {
	q := newQueue(t)
	ctx, client := t.Context(), q.client()
	added := one(t)(client.Add(ctx, "task", nil, &shim.AddOptions{JobKey: "k"}))
	q.claim("worker-1")
	removed := one(t)(client.Remove(ctx, "k"))
	if removed.ID != added.ID || removed.LockedAt.IsZero() || removed.Key != "" || removed.TaskIdentifier != "task" {
		t.Errorf("removed %+v", removed)
	}
	if _, err := client.JobByKey(ctx, "k"); !errors.Is(err, shim.ErrJobNotFound) {
		t.Errorf("looking for its key: %v", err)
	}
	one(t)(client.Job(ctx, added.ID))
}

func TestAJobThatIsNotThereIsNotFound(t *testing.T) {
	q := newQueue(t)
	ctx, client := t.Context(), q.client()
	_, byID := client.Job(ctx, 7)
	_, byKey := client.JobByKey(ctx, "k")
	_, removed := client.Remove(ctx, "k")
	for _, err := range []error{byID, byKey, removed} {
		if !errors.Is(err, shim.ErrJobNotFound) {
			t.Errorf("got %v", err)
		}
	}
	for name, call := range map[string]func() ([]*shim.JobInfo, error){
		"complete":   func() ([]*shim.JobInfo, error) { return client.Complete(ctx) },
		"fail":       func() ([]*shim.JobInfo, error) { return client.PermanentlyFail(ctx, "", 7) },
		"reschedule": func() ([]*shim.JobInfo, error) { return client.Reschedule(ctx, shim.RescheduleOptions{}, 7, 8) },
	} {
		if jobs, err := call(); err != nil || len(jobs) != 0 {
			t.Errorf("%s answers %v, %v", name, jobs, err)
		}
	}
}

func TestInfiniteTimesAreZero(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		id := value[int64](q, `select id from graphile_worker.add_job('task', run_at => 'infinity')`)
		if job := one(t)(client.Job(t.Context(), id)); !job.RunAt.IsZero() || job.CreatedAt.IsZero() {
			t.Errorf("the job is %+v", job)
		}
	})
}

func TestNumbersOutOfRangeHaveTheirCodes(t *testing.T) {
	q := newQueue(t)
	ctx, client := t.Context(), q.client()
	for code, opts := range map[string]shim.RescheduleOptions{
		"GWBPR": {Priority: new(40000)},
		"GWBAR": {Attempts: new(-1)},
		"GWBMA": {MaxAttempts: new(0)},
		"GWBMR": {MaxAttempts: new(40000)},
	} {
		_, err := client.Reschedule(ctx, opts, 1)
		wantCode(t, err, code)
	}
	for code, opts := range map[string]shim.AddOptions{
		"GWBPR": {Priority: -40000},
		"GWBMA": {MaxAttempts: -1},
		"GWBMR": {MaxAttempts: 40000},
	} {
		_, err := client.Add(ctx, "task", nil, &opts)
		wantCode(t, err, code)
	}
	_, err := client.AddMany(ctx, []shim.JobSpec{{Task: "task", AddOptions: shim.AddOptions{MaxAttempts: 40000}}})
	wantCode(t, err, "22003")
}
