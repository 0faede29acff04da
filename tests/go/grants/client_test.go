package grants

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/pkg/shim"
)

// client returns a shim.Client with a role of this kind.
func (q *queue) client(kind string) *shim.Client {
	return shim.NewClient(q.poolAs(kind), shim.ClientConfig{Schema: q.schema + "_api"})
}

// jobs describes the jobs, lowest id first.
func (q *queue) jobs() string {
	q.t.Helper()
	return pgtest.Value[string](q.t, q.pool, q.text(`
		select coalesce(string_agg(concat_ws(' ', s.task_identifier, s.payload, s.queue_name, s.key, s.max_attempts, s.priority, s.revision), '; ' order by s.id), '')
		  from S.show_jobs(array(select j.id from S.jobs as j)) as s`))
}

func (q *queue) wantJobs(want string) {
	q.t.Helper()
	if got := q.jobs(); got != want {
		q.t.Errorf("the jobs are %s, want %s", got, want)
	}
}

// notGranted checks that all errors are those of missing rights.
func notGranted(t *testing.T, errs map[string]error) {
	t.Helper()
	for what, err := range errs {
		if !errors.Is(err, shim.ErrNotGranted) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

func aClientOfAProducerAddsJobs(q *queue) {
	ctx := q.t.Context()
	client := q.client("producer")
	q.exec(`select S.add_job('other', '["hidden"]', job_key => 'theirs')`)
	hidden := pgtest.Value[int64](q.t, q.pool, "select id from graphile_worker.jobs")

	one, err := client.Add(ctx, "mail", []string{"mine"}, &shim.AddOptions{
		QueueName: "q", RunIn: time.Hour, MaxAttempts: 3, JobKey: "k", Priority: 5, Flags: []string{"f"},
		JobKeyMode: shim.PreserveRunAt,
	})
	if err != nil {
		q.t.Fatal(err)
	}
	again, err := client.Add(ctx, "mail", nil, &shim.AddOptions{JobKey: "k", JobKeyMode: shim.UnsafeDedupe})
	if err != nil || again.ID != one.ID || again.TaskIdentifier != "" || one.TaskIdentifier != "mail" ||
		one.QueueName != "q" {
		q.t.Errorf("%+v, %+v, %v", one, again, err)
	}
	batch, err := client.AddBatch(ctx, "mail", []int{1}, &shim.AddOptions{JobKey: "theirs"})
	if err != nil || batch.ID != hidden || batch.Revision != 0 {
		q.t.Errorf("%+v, %v", batch, err)
	}
	if !pgtest.Value[bool](q.t, q.pool, `
		select run_at between now() + interval '50 minutes' and now() + interval '70 minutes' and flags = '{"f": true}'
		  from graphile_worker.jobs where key = 'k'`) {
		q.t.Error("the job is not due in an hour, or without its flag")
	}
	undone := errors.New("undone")
	err = pgx.BeginFunc(ctx, q.poolAs("producer"), func(tx pgx.Tx) error {
		_, err := client.With(tx).AddMany(ctx, []shim.JobSpec{{Task: "gone"}, {Task: "gone"}})
		return errors.Join(err, undone)
	})
	if !errors.Is(err, undone) {
		q.t.Error(err)
	}
	many, err := client.AddMany(ctx, []shim.JobSpec{
		{Task: "b", Payload: 1, AddOptions: shim.AddOptions{JobKey: "m"}}, {Task: "a"},
		{Task: "c", Payload: 2, AddOptions: shim.AddOptions{JobKey: "m", JobKeyMode: shim.PreserveRunAt}},
	})
	if err != nil || len(many) != 3 || many[0].ID != many[2].ID || many[1].ID == many[0].ID ||
		many[1].TaskIdentifier != "a" {
		q.t.Errorf("%+v, %v", many, err)
	}
	q.wantJobs(`mail ["hidden", 1] theirs 25 0 1; mail ["mine"] q k 3 5 1; c 2 m 25 0 1; a {} 25 0 0`)

	db, err := sql.Open("pgx", q.as("producer"))
	if err != nil {
		q.t.Fatal(err)
	}
	defer db.Close()
	if job, err := client.WithSQL(db).Add(ctx, "by database/sql", nil, nil); err != nil || job.ID == 0 {
		q.t.Error(err)
	}
	var refusal interface{ SQLState() string }
	if _, err := client.Add(ctx, "mail", nil, &shim.AddOptions{Priority: 40000}); !errors.As(err, &refusal) ||
		refusal.SQLState() != "GWBPR" {
		q.t.Errorf("a priority out of range: %v", err)
	}
	_, look := client.Job(ctx, one.ID)
	_, lookByKey := client.JobByKey(ctx, "k")
	_, remove := client.Remove(ctx, "k")
	_, complete := client.Complete(ctx, one.ID)
	_, cancel := client.Cancel(ctx, "", one.ID)
	_, depth := client.QueueDepth(ctx)
	notGranted(q.t, map[string]error{
		"Job": look, "JobByKey": lookByKey, "Remove": remove, "Complete": complete, "Cancel": cancel,
		"QueueDepth":  depth,
		"ForceUnlock": client.ForceUnlock(ctx, "w"),
	})
}

func aClientOfALimitedProducerAddsJobsOfItsTasks(q *queue) {
	ctx := q.t.Context()
	client := q.client("limited")
	q.exec(`select S.add_job('other', '{"n":1}', job_key => 'theirs')`)
	many, err := client.AddMany(ctx, []shim.JobSpec{
		{Task: "resize-image", Payload: 1}, {Task: "mail", Payload: 2, AddOptions: shim.AddOptions{JobKey: "ours"}},
		{Task: "resize-image", Payload: 3},
	})
	if err != nil || len(many) != 3 || many[0].ID >= many[1].ID || many[1].ID >= many[2].ID {
		q.t.Errorf("%+v, %v", many, err)
	}
	if _, err := client.Add(ctx, "mail", 4, &shim.AddOptions{JobKey: "ours"}); err != nil {
		q.t.Error(err)
	}
	const want = `other {"n":1} theirs 25 0 0; resize-image 1 25 0 0; mail 4 ours 25 0 1; resize-image 3 25 0 0`
	q.wantJobs(want)
	var refusal interface{ SQLState() string }
	if _, err := client.Add(ctx, "mail", nil, &shim.AddOptions{JobKey: "theirs"}); !errors.As(err, &refusal) ||
		refusal.SQLState() != "GWBKT" {
		q.t.Errorf("the key of another task: %v", err)
	}
	_, add := client.Add(ctx, "other", nil, nil)
	_, addMany := client.AddMany(ctx, []shim.JobSpec{{Task: "mail"}, {Task: "other"}})
	notGranted(q.t, map[string]error{"Add": add, "AddMany": addMany})
	if !strings.Contains(add.Error(), "of these tasks only: mail, resize-image") {
		q.t.Errorf("got %v", add)
	}
	q.wantJobs(want)

	// Rights are granted and revoked while a client is in use.
	grant := func(tasks ...string) {
		if _, err := q.migrator().Grant(ctx, migrate.Grants{Producers: []string{q.roles["limited"]},
			Tasks: tasks}); err != nil {
			q.t.Fatal(err)
		}
	}
	grant("S.other")
	defer grant("mail", "resize-image")
	if _, err := client.Add(ctx, "S.other", nil, nil); err != nil {
		q.t.Error(err)
	}
	_, add = client.Add(ctx, "mail", nil, nil)
	notGranted(q.t, map[string]error{"Add of what was taken away": add})
	grant()
	if _, err := client.Add(ctx, "anything", nil, nil); err != nil {
		q.t.Error(err)
	}
}

func aClientOfAnAdminLooksAfterJobs(q *queue) {
	ctx := q.t.Context()
	client := q.client("admin")
	q.exec(`select S.add_job('task', job_key => 'k' || n) from generate_series(1, 7) as n`)
	ids := pgtest.Value[[]int64](q.t, q.pool, "select array_agg(j.id order by j.id) from graphile_worker.jobs as j")
	if job, err := client.Job(ctx, ids[0]); err != nil || job.Key != "k1" || job.TaskIdentifier != "task" {
		q.t.Errorf("%+v, %v", job, err)
	}
	if job, err := client.JobByKey(ctx, "k2"); err != nil || job.ID != ids[1] {
		q.t.Errorf("%+v, %v", job, err)
	}
	if _, err := client.JobByKey(ctx, "none"); !errors.Is(err, shim.ErrJobNotFound) {
		q.t.Error(err)
	}
	if job, err := client.Remove(ctx, "k3"); err != nil || job.ID != ids[2] || job.TaskIdentifier != "task" {
		q.t.Errorf("%+v, %v", job, err)
	}
	for name, call := range map[string]func() ([]*shim.JobInfo, error){
		"Complete":        func() ([]*shim.JobInfo, error) { return client.Complete(ctx, ids[3]) },
		"PermanentlyFail": func() ([]*shim.JobInfo, error) { return client.PermanentlyFail(ctx, "no", ids[4]) },
		"Cancel":          func() ([]*shim.JobInfo, error) { return client.Cancel(ctx, "no", ids[5]) },
		"Reschedule": func() ([]*shim.JobInfo, error) {
			return client.Reschedule(ctx, shim.RescheduleOptions{Priority: new(3)}, ids[6])
		},
	} {
		if jobs, err := call(); err != nil || len(jobs) != 1 {
			q.t.Errorf("%s: %+v, %v", name, jobs, err)
		}
	}
	gone, err := client.Cleanup(ctx, nil, shim.DeletePermafailedJobs)
	if err != nil || gone[shim.DeletePermafailedJobs] != 2 {
		q.t.Errorf("%v, %v", gone, err)
	}
	if err := client.ForceUnlock(ctx, "w"); err != nil {
		q.t.Error(err)
	}
	if depth, err := client.QueueDepth(ctx); err != nil || depth.Ready != 3 {
		q.t.Errorf("%+v, %v", depth, err)
	}
	q.wantJobs("task {} k1 25 0 0; task {} k2 25 0 0; task {} k7 25 3 0")
	_, add := client.Add(ctx, "task", nil, nil)
	notGranted(q.t, map[string]error{"Add": add})
	if !strings.Contains(add.Error(), "gw-migrate grants --producer lets a role enqueue jobs") {
		q.t.Errorf("got %v", add)
	}
}

func TestProducersOfAllTasksDecideByKeys(t *testing.T) {
	t.Parallel()
	q := newQueue(t, oddSchema, nil)
	q.grant()
	client := shim.NewClient(q.poolAs("producer"), shim.ClientConfig{Schema: q.schema +
		"_api", Propagator: carrier{"ignored"}})
	for call, isNew := range []bool{true, false} {
		job, err := client.AddOnce(t.Context(), "mail", nil, "k", time.Hour, nil)
		if err != nil || job.IsNew != isNew {
			t.Errorf("call %d: %+v, %v", call, job, err)
		}
	}
	_, err := q.client("limited").AddOnce(t.Context(), "mail", nil, "k", time.Hour, nil)
	notGranted(t, map[string]error{"AddOnce": err})
	_, err = q.client("worker").Throttle(t.Context(), "mail", nil, "k", time.Hour, nil)
	notGranted(t, map[string]error{"Throttle": err})
}

func TestClientsOfProducersAddJobsWhateverTheNameOfTheSchema(t *testing.T) {
	t.Parallel()
	q := newQueue(t, oddSchema, nil)
	q.grant()
	specs := []shim.JobSpec{{Task: "mail", Payload: "it's"},
		{Task: "resize-image", AddOptions: shim.AddOptions{JobKey: "k"}}}
	for _, kind := range []string{"producer", "limited"} {
		if jobs, err := q.client(kind).AddMany(t.Context(), specs); err != nil || len(jobs) != 2 {
			t.Errorf("%s: %+v, %v", kind, jobs, err)
		}
	}
	q.wantJobs(`mail "it's" 25 0 0; resize-image {} k 25 0 1; mail "it's" 25 0 0`)
}

// A queue's own schema may have such a name, too.
func TestAQueueWhoseNameEndsAsThatOfARolesSchemaIsAQueue(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "my_api", nil)
	client := shim.NewClient(q.pool, shim.ClientConfig{Schema: "my_api"})
	added, err := client.Add(t.Context(), "task", 1, &shim.AddOptions{JobKey: "k"})
	if err != nil || added.Key != "k" {
		t.Fatalf("%+v, %v", added, err)
	}
	many, err := client.AddMany(t.Context(), []shim.JobSpec{{Task: "task", AddOptions: shim.AddOptions{Priority: 3}}})
	if err != nil || len(many) != 1 || many[0].Priority != 3 {
		t.Errorf("%+v, %v", many, err)
	}
	if job, err := client.Job(t.Context(), added.ID); err != nil || job.Key != "k" {
		t.Errorf("%+v, %v", job, err)
	}
}
