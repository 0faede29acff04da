package shim_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/shim"
)

// stored is a job as stored in the tables, read without the client.
type stored struct {
	Task, Payload string
	Queue         *string
	RunAt         time.Time
	MaxAttempts   int
	Key           *string
	Priority      int
	Flags         *string
}

func (q *queue) stored(id int64) stored {
	q.t.Helper()
	rows, _ := q.pool.Query(q.t.Context(), `
		select t.identifier as task, j.payload::text, q.queue_name as queue, j.run_at, j.max_attempts, j.key, j.priority,
		       j.flags::text
		  from graphile_worker._private_jobs as j
		  join graphile_worker._private_tasks as t on t.id = j.task_id
		  left join graphile_worker._private_job_queues as q on q.id = j.job_queue_id
		 where j.id = $1`, id)
	job, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[stored])
	if err != nil {
		q.t.Fatalf("read job %d: %v", id, err)
	}
	job.RunAt = job.RunAt.UTC()
	return job
}

func TestAJobHasWhatItWasAddedWith(t *testing.T) {
	const payload = `{"n": 9007199254740993, "s": "\u0000 <&> é \\ \" '", "n": 1}`
	opts := shim.AddOptions{
		QueueName:   `queue "1", \{}`,
		RunAt:       time.Date(2036, 2, 29, 23, 59, 59, 123456000, time.FixedZone("", 5*3600)),
		MaxAttempts: 7,
		JobKey:      `key '1' $1`,
		Priority:    -3,
		Flags:       []string{`b "c", \`, "a", "{}", "null", ""},
	}
	want := stored{
		Task:        "task ünï",
		Payload:     payload,
		Queue:       &opts.QueueName,
		RunAt:       opts.RunAt.UTC(),
		MaxAttempts: 7,
		Key:         &opts.JobKey,
		Priority:    -3,
		Flags:       new(`{"": true, "a": true, "{}": true, "null": true, "b \"c\", \\": true}`),
	}
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		ctx := t.Context()
		check := func(how string, job *shim.JobInfo) {
			t.Helper()
			if got := q.stored(job.ID); !reflect.DeepEqual(got, want) {
				t.Errorf("%s stored\n%+v, want\n%+v", how, got, want)
			}
			if job.TaskIdentifier != want.Task || job.QueueName != opts.QueueName || !job.RunAt.Equal(opts.RunAt) ||
				job.MaxAttempts != 7 || job.Key != opts.JobKey || job.Priority != -3 || job.Attempts != 0 ||
				!slices.Equal(job.Flags, []string{"", "a", `b "c", \`, "null", "{}"}) || job.CreatedAt.IsZero() ||
				!job.UpdatedAt.Equal(job.CreatedAt) || !job.LockedAt.IsZero() || job.LockedBy != "" ||
				job.LastError != "" ||
				job.Revision != 0 {
				t.Errorf("%s answered %+v", how, job)
			}
			if found := one(t)(client.Job(ctx, job.ID)); !sameJob(found, job) {
				t.Errorf("by id there is\n%+v, want\n%+v", found, job)
			}
			if found := one(t)(client.JobByKey(ctx, opts.JobKey)); !sameJob(found, job) {
				t.Errorf("by key there is\n%+v, want\n%+v", found, job)
			}
			if removed := one(t)(client.Remove(ctx, opts.JobKey)); !sameJob(removed, job) {
				t.Errorf("removed\n%+v, want\n%+v", removed, job)
			}
		}
		check("Add", one(t)(client.Add(ctx, want.Task, json.RawMessage(payload), &opts)))
		jobs := many(t)(client.AddMany(ctx, []shim.JobSpec{
			{Task: want.Task, Payload: json.RawMessage(payload), AddOptions: opts},
		}))
		check("AddMany", jobs[0])
	})
}

// sameJob compares but for the time zones of times, which drivers choose.
func sameJob(a, b *shim.JobInfo) bool {
	in := func(job shim.JobInfo) shim.JobInfo {
		for _, at := range []*time.Time{&job.RunAt, &job.CreatedAt, &job.UpdatedAt, &job.LockedAt} {
			*at = at.UTC()
		}
		return job
	}
	return reflect.DeepEqual(in(*a), in(*b))
}

func TestWhatIsLeftOutIsFilledByTheDatabase(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		ctx := t.Context()
		plain := value[int64](q, `select id from graphile_worker.add_job('task')`)
		jobs := many(t)(client.AddMany(ctx, []shim.JobSpec{{Task: "task"},
			{Task: "task", Payload: json.RawMessage(nil)}}))
		for _, job := range append(jobs, one(t)(client.Add(ctx, "task", nil, nil)),
			one(t)(client.Add(ctx, "task", json.RawMessage(nil), &shim.AddOptions{Flags: []string{}}))) {
			same := value[bool](q, `
				select (to_jsonb(j) - '{id,run_at,created_at,updated_at}'::text[])
				     = (to_jsonb(plain) - '{id,run_at,created_at,updated_at}'::text[])
				       and j.run_at = j.created_at
				  from graphile_worker._private_jobs as j, graphile_worker._private_jobs as plain
				 where plain.id = $1 and j.id = $2`, plain, job.ID)
			if !same {
				t.Errorf("the job differs from that of a plain add_job: %+v", job)
			}
		}
	})
}

func TestPayloadsAreEncodedAsJSON(t *testing.T) {
	q := newQueue(t)
	client := q.client()
	for want, payload := range map[string]any{
		`{"To":"<ada@example.org>"}`: struct{ To string }{"<ada@example.org>"},
		`[1,2]`:                      []int{1, 2},
		`"text"`:                     "text",
		`null`:                       (*int)(nil),
		`7`:                          json.Number("7"),
		`false`:                      false,
		"{\"a\":\n 1}":               json.RawMessage("{\"a\":\n 1}"),
	} {
		added := one(t)(client.Add(t.Context(), "task", payload, nil))
		jobs := many(t)(client.AddMany(t.Context(), []shim.JobSpec{{Task: "task", Payload: payload}}))
		for _, job := range append(jobs, added) {
			if got := q.stored(job.ID).Payload; got != want {
				t.Errorf("%#v is stored as %s, want %s", payload, got, want)
			}
		}
	}
	for _, payload := range []any{func() {}, json.RawMessage(`1, "priority": 5`), json.RawMessage(""),
		json.RawMessage("\"\xff\"")} {
		if _, err := client.Add(t.Context(), "task", payload, nil); err == nil ||
			!strings.Contains(err.Error(), "encode payload") {
			t.Errorf("adding %#v: %v", payload, err)
		}
		_, err := client.AddMany(t.Context(), []shim.JobSpec{{Task: "a"}, {Task: "b", Payload: payload}})
		if err == nil || !strings.Contains(err.Error(), `specs[1], of task "b": encode payload`) {
			t.Errorf("adding many with %#v: %v", payload, err)
		}
	}
	if n := q.jobs(); n != 14 {
		t.Errorf("there are %d jobs, want 14", n)
	}
}

func TestRunInCountsFromTheDatabasesNow(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		ctx := t.Context()
		after := shim.AddOptions{RunIn: 90*time.Minute + time.Microsecond}
		before := shim.AddOptions{RunIn: -time.Second}
		added := one(t)(client.Add(ctx, "task", nil, &after))
		jobs := many(t)(client.AddMany(ctx, []shim.JobSpec{{Task: "task", AddOptions: after},
			{Task: "task", AddOptions: before}}))
		for job, want := range map[*shim.JobInfo]time.Duration{added: after.RunIn, jobs[0]: after.RunIn,
			jobs[1]: before.RunIn} {
			if got := job.RunAt.Sub(job.CreatedAt); got != want {
				t.Errorf("the job is to run in %s, want %s", got, want)
			}
		}
	})
}

func TestWithLocalTimeAJobIsDueByTheCallersClock(t *testing.T) {
	q := newQueue(t)
	ctx := t.Context()
	tx, err := q.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	if _, err := tx.Exec(ctx, "select 1"); err != nil {
		t.Fatal(err)
	}
	client := shim.NewClient(tx, shim.ClientConfig{LocalTime: true})
	begin := time.Now().Truncate(time.Microsecond) // later than the database's now()
	explicit := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	jobs := many(t)(client.AddMany(ctx, []shim.JobSpec{
		{Task: "task"},
		{Task: "task", AddOptions: shim.AddOptions{RunIn: time.Hour}},
		{Task: "task", AddOptions: shim.AddOptions{RunAt: explicit}},
	}))
	jobs = append(jobs,
		one(t)(client.Add(ctx, "task", nil, nil)),
		one(t)(client.Add(ctx, "task", nil, &shim.AddOptions{RunIn: time.Hour})),
		one(t)(client.Add(ctx, "task", nil, &shim.AddOptions{RunAt: explicit})))
	rescheduled := many(t)(client.Reschedule(ctx, shim.RescheduleOptions{RunIn: new(time.Duration(0))}, jobs[5].ID))
	end := time.Now()
	between := func(job *shim.JobInfo, delay time.Duration) {
		t.Helper()
		if at := job.RunAt.Add(-delay); at.Before(begin) || at.After(end) || !job.CreatedAt.Before(begin) {
			t.Errorf("a call between %s and %s in a transaction of %s makes a job for %s", begin, end, job.CreatedAt,
				job.RunAt)
		}
	}
	between(jobs[0], 0)
	between(jobs[1], time.Hour)
	between(jobs[3], 0)
	between(jobs[4], time.Hour)
	between(rescheduled[0], 0)
	if !jobs[2].RunAt.Equal(explicit) || !jobs[5].RunAt.Equal(explicit) {
		t.Errorf("a given time was not kept: %s, %s", jobs[2].RunAt, jobs[5].RunAt)
	}
}

func TestRunAtAndRunInExcludeEachOther(t *testing.T) {
	q := newQueue(t)
	both := shim.AddOptions{RunAt: time.Now(), RunIn: time.Second}
	_, one := q.client().Add(t.Context(), "task", nil, &both)
	_, many := q.client().AddMany(t.Context(), []shim.JobSpec{{Task: "task", AddOptions: both}})
	_, again := q.client().Reschedule(t.Context(), shim.RescheduleOptions{RunAt: both.RunAt, RunIn: &both.RunIn}, 1)
	for _, err := range []error{one, many, again} {
		if err == nil || !strings.Contains(err.Error(), "exclude each other") {
			t.Errorf("got %v", err)
		}
	}
}

func TestAKeyReplacesAsItsModeSays(t *testing.T) {
	q := newQueue(t)
	ctx, client := t.Context(), q.client()
	far, near := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2035, 1, 1, 0, 0, 0, 0, time.UTC)
	first := one(t)(client.Add(ctx, "first", 1, &shim.AddOptions{JobKey: "k", QueueName: "q1", RunAt: near}))

	kept := one(t)(client.Add(ctx, "second", 2, &shim.AddOptions{JobKey: "k", JobKeyMode: shim.PreserveRunAt,
		RunAt: far}))
	if kept.ID != first.ID || !kept.RunAt.Equal(near) || kept.TaskIdentifier != "second" || kept.QueueName != "" ||
		kept.Revision != 1 {
		t.Errorf("preserve_run_at answered %+v", kept)
	}
	put := one(t)(client.Add(ctx, "third", 3, &shim.AddOptions{JobKey: "k", JobKeyMode: shim.Replace, QueueName: "q3",
		RunAt: far}))
	if put.ID != first.ID || !put.RunAt.Equal(far) || put.TaskIdentifier != "third" || put.QueueName != "q3" ||
		put.Revision != 2 {
		t.Errorf("replace answered %+v", put)
	}
	same := one(t)(client.Add(ctx, "fourth", 4, &shim.AddOptions{JobKey: "k", JobKeyMode: shim.UnsafeDedupe,
		QueueName: "q4"}))
	if same.ID != first.ID || !same.RunAt.Equal(far) || same.TaskIdentifier != "third" || same.QueueName != "q3" ||
		same.Revision != 3 {
		t.Errorf("unsafe_dedupe answered %+v", same)
	}
	other := one(t)(client.Add(ctx, "fifth", 5, &shim.AddOptions{JobKey: "l", JobKeyMode: shim.UnsafeDedupe,
		QueueName: "q5"}))
	if other.ID == first.ID || other.TaskIdentifier != "fifth" || other.QueueName != "q5" || other.Revision != 0 {
		t.Errorf("unsafe_dedupe under a free key answered %+v", other)
	}
	_, err := client.Add(ctx, "sixth", 6, &shim.AddOptions{JobKey: "k", JobKeyMode: "nonsense"})
	wantCode(t, err, "GWBKM")
}

func TestAJobThatIsFoundWhileItIsAddedIsAnsweredWithoutNames(t *testing.T) {
	q := newQueue(t)
	ctx := t.Context()
	tx, err := q.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	opts := &shim.AddOptions{JobKey: "k", JobKeyMode: shim.UnsafeDedupe, QueueName: "q"}
	first := one(t)(q.client().With(tx).Add(ctx, "first", nil, opts))

	second := make(chan *shim.JobInfo, 1)
	go func() {
		job, err := q.client().Add(ctx, "second", nil, opts)
		if err != nil {
			t.Error(err)
		}
		second <- job
	}()
	q.await(`select exists (select from pg_stat_activity
	                         where datname = current_database() and wait_event_type = 'Lock')`)
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if job := receive(t, second); job == nil || job.ID != first.ID || job.TaskIdentifier != "" || job.QueueName != "" {
		t.Errorf("the second call answers %+v", job)
	}
}

func TestABatchIsAListWithElements(t *testing.T) {
	q := newQueue(t)
	ctx, client := t.Context(), q.client()
	opts := &shim.AddOptions{JobKey: "batch"}
	one(t)(client.AddBatch(ctx, "task", []int{1, 2}, opts))
	one(t)(client.AddBatch(ctx, "task", [1]string{"three"}, opts))
	job := one(t)(client.AddBatch(ctx, "task", json.RawMessage(` [{"four": 4}]`), opts))
	if got := q.stored(job.ID).Payload; got != `[1,2, "three", {"four": 4}]` {
		t.Errorf("the batches became %s", got)
	}
	for _, empty := range []any{[]int{}, []int(nil), nil, json.RawMessage(nil), json.RawMessage("[ ]"), [0]int{}} {
		if _, err := client.AddBatch(ctx, "task", empty, nil); !errors.Is(err, shim.ErrEmptyBatch) {
			t.Errorf("a batch of %#v: %v", empty, err)
		}
	}
	for _, other := range []any{1, "text", []byte("bytes"), map[string]int{"a": 1}} {
		if _, err := client.AddBatch(ctx, "task", other, nil); err == nil ||
			!strings.Contains(err.Error(), "must be a list") {
			t.Errorf("a batch of %#v: %v", other, err)
		}
	}
	if n := q.jobs(); n != 1 {
		t.Errorf("there are %d jobs, want 1", n)
	}
}

// PostgreSQL accepts it, as with Graphile Worker.
func TestATaskWithoutANameIsRefused(t *testing.T) {
	q := newQueue(t)
	client := shim.NewClient(q.pool, shim.ClientConfig{})
	_, err := client.Add(t.Context(), "", nil, nil)
	_, batchErr := client.AddBatch(t.Context(), "", []int{1}, nil)
	_, manyErr := client.AddMany(t.Context(), []shim.JobSpec{{Task: "a"}, {Payload: 1}})
	for _, c := range []struct {
		err  error
		want string
	}{
		{err, "add job: the task has no name"}, {batchErr, "add job: the task has no name"},
		{manyErr, "add jobs: specs[1]: the task has no name"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	if n := q.jobs(); n != 0 {
		t.Errorf("%d jobs were added", n)
	}
}
