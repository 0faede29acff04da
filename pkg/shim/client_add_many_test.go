package shim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// roundTrips counts what a connection sends.
type roundTrips struct{ n int }

func (r *roundTrips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	r.n++
	return ctx
}

func (r *roundTrips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestTensOfThousandsOfJobsGoInOneRoundTrip(t *testing.T) {
	q := newQueue(t)
	config, err := pgxpool.ParseConfig(q.url)
	if err != nil {
		t.Fatal(err)
	}
	var sent roundTrips
	config.ConnConfig.Tracer = &sent
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // prepares nothing
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)

	specs := make([]shim.JobSpec, 50_000)
	for i := range specs {
		specs[i] = shim.JobSpec{Task: fmt.Sprint("task", i%3), Payload: i}
		if i%2 == 0 {
			specs[i].JobKey = fmt.Sprint("key", i)
		}
	}
	jobs := many(t)(shim.NewClient(pool, shim.ClientConfig{}).AddMany(t.Context(), specs))
	if sent.n != 1 {
		t.Errorf("%d statements were sent, want 1", sent.n)
	}
	if len(jobs) != len(specs) || !slices.IsSorted(idsOf(jobs)) {
		t.Errorf("%d jobs came back, in the order of the specs: %v", len(jobs), slices.IsSorted(idsOf(jobs)))
	}
	for i, job := range jobs {
		if job.TaskIdentifier != specs[i].Task || job.Key != specs[i].JobKey {
			t.Fatalf("job %d is %+v, want that of %+v", i, job, specs[i])
		}
	}
	right := value[bool](q, `
		select count(*) = 50000 and bool_and(j.payload::text = (a.number - 1)::text)
		  from graphile_worker._private_jobs as j
		  join unnest($1::bigint[]) with ordinality as a (id, number) on a.id = j.id`, idsOf(jobs))
	if !right {
		t.Error("the payloads are not those of the specs, in their order")
	}
}

func TestManyJobsAreAsIfAddedOneAfterTheOther(t *testing.T) {
	q, apart := newQueue(t), pgtest.Pool(t, pgtest.Database(t))
	ctx, client := t.Context(), shim.NewClient(apart, shim.ClientConfig{})
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		specs := randomSpecs(random)
		got := many(t)(q.client().AddMany(ctx, specs))
		want := make([]*shim.JobInfo, len(specs))
		for i, spec := range specs {
			want[i] = one(t)(client.Add(ctx, spec.Task, spec.Payload, &spec.AddOptions))
		}
		for i, job := range want { // a later spec may have changed it
			want[i] = one(t)(client.Job(ctx, job.ID))
		}
		if !slices.Equal(shown(got), shown(want)) {
			t.Errorf("round %d answers\n%s\nwant\n%s", round, strings.Join(shown(got), "\n"),
				strings.Join(shown(want), "\n"))
		}

		const state = `
			select string_agg(format('%s %s %s %s %s %s %s %s', j.task_identifier, j.queue_name, j.run_at, j.priority,
			                         j.max_attempts, j.key, j.revision, p.payload), E'\n' order by j.id)
			  from graphile_worker.jobs as j
			  join graphile_worker._private_jobs as p on p.id = j.id`
		if got, want := value[string](q, state), pgtest.Value[string](t, apart, state); got != want {
			t.Errorf("round %d makes\n%s\none by one\n%s", round, got, want)
		}
		if t.Failed() {
			return
		}
	}
}

// randomSpecs draws specs that meet each other under few keys. Their times are given, as now() differs between calls.
func randomSpecs(random *rand.Rand) []shim.JobSpec {
	specs := make([]shim.JobSpec, 1+random.IntN(12))
	for i := range specs {
		specs[i] = shim.JobSpec{
			Task:    fmt.Sprint("task", random.IntN(3)),
			Payload: []any{[]int{i}, i, map[string]int{"i": i}}[random.IntN(3)],
			AddOptions: shim.AddOptions{
				RunAt:       time.Date(2040, 1, 1, 0, random.IntN(60), 0, 0, time.UTC),
				QueueName:   []string{"", "q", "r"}[random.IntN(3)],
				JobKey:      []string{"", "k", "l", "m"}[random.IntN(4)],
				JobKeyMode:  []shim.JobKeyMode{"", shim.Replace, shim.PreserveRunAt}[random.IntN(3)],
				Priority:    random.IntN(3),
				MaxAttempts: random.IntN(3),
			},
		}
	}
	return specs
}

// shown writes what two databases agree about, with ids by their rank.
func shown(jobs []*shim.JobInfo) []string {
	ranks := idsOf(jobs)
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	lines := make([]string, len(jobs))
	for i, job := range jobs {
		lines[i] = fmt.Sprint(slices.Index(ranks, job.ID), " ", job.TaskIdentifier, " ", job.QueueName, " ",
			job.RunAt.UTC(), " ",
			job.Priority, " ", job.MaxAttempts, " ", job.Key, " ", job.Revision)
	}
	return lines
}

func TestManyJobsWithUnsafeDedupeAreRefused(t *testing.T) {
	q := newQueue(t)
	for _, mode := range []shim.JobKeyMode{shim.UnsafeDedupe, "nonsense"} {
		_, err := q.client().AddMany(t.Context(), []shim.JobSpec{
			{Task: "task"},
			{Task: "task", AddOptions: shim.AddOptions{JobKey: "k", JobKeyMode: mode}},
		})
		refusal, ok := errors.AsType[*shim.UnsupportedKeyModeError](err)
		if !ok || refusal.Spec != 1 || refusal.Mode != mode {
			t.Errorf("adding with %q: %v", mode, err)
		}
	}
	if n := q.jobs(); n != 0 {
		t.Errorf("%d jobs were added", n)
	}
}

func TestOneRefusedSpecRefusesAll(t *testing.T) {
	q := newQueue(t)
	specs := []shim.JobSpec{
		{Task: "task", AddOptions: shim.AddOptions{JobKey: "k"}},
		{Task: "task", AddOptions: shim.AddOptions{JobKey: "l", JobKeyMode: shim.PreserveRunAt}},
		{Task: strings.Repeat("x", 129)},
	}
	_, err := q.client().AddMany(t.Context(), specs)
	wantCode(t, err, "GWBID")
	if n := q.jobs(); n != 0 {
		t.Errorf("%d jobs were added", n)
	}
	_, err = q.client().AddMany(t.Context(), slices.Delete(specs, 0, 1))
	wantCode(t, err, "GWBID")
	if !strings.Contains(err.Error(), "It is spec 2 of the call.") {
		t.Errorf("the message does not say which spec it is: %v", err)
	}
}

func TestNoJobsAreAddedFromAnEmptyList(t *testing.T) {
	q := newQueue(t)
	if jobs := many(t)(q.client().AddMany(t.Context(), nil)); len(jobs) != 0 || q.jobs() != 0 {
		t.Errorf("there are %d jobs and %d in the answer", q.jobs(), len(jobs))
	}
}

// encoding/json writes other text in its place, under which two keys could become one.
func TestTextThatIsNotUTF8IsRefused(t *testing.T) {
	q := newQueue(t)
	const broken = "a\xff"
	for _, spec := range []shim.JobSpec{
		{Task: broken},
		{Task: "task", AddOptions: shim.AddOptions{QueueName: broken}},
		{Task: "task", AddOptions: shim.AddOptions{JobKey: broken}},
		{Task: "task", AddOptions: shim.AddOptions{Flags: []string{broken}}},
	} {
		if _, err := q.client().AddMany(t.Context(), []shim.JobSpec{spec}); err == nil ||
			!strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("adding %+v: %v", spec, err)
		}
		_, err := q.client().Add(t.Context(), spec.Task, nil, &spec.AddOptions)
		wantCode(t, err, "22021")
	}
}
