package shim_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/shim"
)

// addFlaggedTo adds jobs of a task, each with a flag and under a key that contains both.
func (q *queue) addFlaggedTo(task string, flags ...string) {
	q.t.Helper()
	q.exec(`select graphile_worker.add_job($1, job_key => $1 || '-' || f, flags => array[f]) from unnest($2::text[]) as f`, task, flags)
}

// flagTracer is a tracer that counts claims, and claims with forbidden flags of tasks.
type flagTracer struct{ claims, flagged atomic.Int64 }

func (c *flagTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, ".get_job_batch(") {
		c.claims.Add(1)
	}
	if strings.Contains(data.SQL, "task_forbidden_flags") {
		c.flagged.Add(1)
	}
	return ctx
}

func (c *flagTracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// pool returns a pool whose queries are traced.
func (c *flagTracer) pool(q *queue) *pgxpool.Pool {
	q.t.Helper()
	config := q.pool.Config()
	config.ConnConfig.Tracer = c
	return q.poolOf(config)
}

func TestAFlagMayBeForbiddenInOneTaskAndNotInAnother(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   shim.Config
		a, b  []shim.TaskOption
		left  string
		tells bool // the database of flags of tasks
	}{
		{"one task", shim.Config{}, []shim.TaskOption{shim.ForbiddenFlags("slow", "big")}, nil, "a-slow a-big", true},
		{"each its own", shim.Config{}, []shim.TaskOption{shim.ForbiddenFlags("slow")},
			[]shim.TaskOption{shim.ForbiddenFlags("big")}, "a-slow b-big", true},
		{"beside the worker's", shim.Config{ForbiddenFlags: []string{"big"}},
			[]shim.TaskOption{shim.ForbiddenFlags("slow")}, nil, "a-slow a-big b-big", true},
		{"the last list", shim.Config{}, []shim.TaskOption{shim.ForbiddenFlags("slow"), shim.ForbiddenFlags("big")},
			nil, "a-big", true},
		{"an empty list", shim.Config{}, []shim.TaskOption{shim.ForbiddenFlags()}, nil, "", false},
		{"a function that names none", shim.Config{},
			[]shim.TaskOption{shim.ForbiddenFlagsFunc(func(context.Context) ([]string, error) { return nil, nil })},
			nil, "", false},
		{"the worker's only", shim.Config{ForbiddenFlags: []string{"big"}}, nil, nil, "a-big b-big", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := newQueue(t)
			tracer := &flagTracer{}
			w := q.workerOn(tracer.pool(q), c.cfg)
			w.Handle("a", nothing, c.a...)
			w.Handle("b", nothing, c.b...)
			q.addFlaggedTo("a", "slow", "big")
			q.addFlaggedTo("b", "slow", "big")
			runOnce(t, w)
			if got := value[string](q, keysLeft); got != c.left {
				t.Errorf("left are %q, want %q", got, c.left)
			}
			if tells := tracer.flagged.Load() > 0; tells != c.tells {
				t.Errorf("the database is told of flags of tasks: %t, want %t", tells, c.tells)
			}
		})
	}
}

func TestForbiddenFlagsOfATaskAreAskedForBeforeEachClaim(t *testing.T) {
	q := newQueue(t)
	var forbidden atomic.Pointer[[]string]
	forbidden.Store(&[]string{"a", "b"})
	w := q.worker(shim.Config{PollInterval: 50 * time.Millisecond})
	w.Handle("task", nothing, shim.ForbiddenFlagsFunc(func(context.Context) ([]string,
		error) {
		return *forbidden.Load(), nil
	}))
	w.Handle("other", nothing)
	q.exec(addFlagged)
	q.addFlaggedTo("other", "a", "b")
	w.start()
	q.await(`select count(*) = 2 from graphile_worker.jobs`)
	forbidden.Store(&[]string{"b"})
	q.await(`select count(*) = 1 from graphile_worker.jobs`)
	forbidden.Store(new([]string))
	q.await(`select count(*) = 0 from graphile_worker.jobs`)
	w.stop()
}

func TestForbiddenFlagsOfATaskAreTakenOverWithItsOthers(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("a", nothing, shim.ForbiddenFlags("slow"))
	w.Handle("b", nothing)
	w.start()
	for _, next := range []struct{ forbids, left string }{{"a", "a-slow"}, {"b", "b-slow"}, {"a", "a-slow"}} {
		tasks := []shim.Task{{Name: "a", Handler: nothing}, {Name: "b", Handler: nothing}}
		for i := range tasks {
			if tasks[i].Name == next.forbids {
				tasks[i].Options = []shim.TaskOption{shim.ForbiddenFlags("slow")}
			}
		}
		if err := w.SetTasks(tasks...); err != nil {
			t.Fatal(err)
		}
		q.await(`select count(*) = 0 from graphile_worker.jobs`) // those that were left before
		q.addFlaggedTo("a", "slow")
		q.addFlaggedTo("b", "slow")
		q.await(`select array_agg(key) = array[$1::text] from graphile_worker.jobs`, next.left)
		q.exec(`select graphile_worker.add_job($1)`, next.forbids)
		q.await(`select array_agg(key) = array[$1::text] from graphile_worker.jobs`, next.left)
		if err := w.SetTasks(shim.Task{Name: "a", Handler: nothing},
			shim.Task{Name: "b", Handler: nothing}); err != nil {
			t.Fatal(err)
		}
	}
	w.stop()
}

func TestWithForbiddenFlagsOfATaskJobsAreStillClaimedTogether(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 20})
	events := record(w)
	w.Handle("task", nothing, shim.ForbiddenFlags("a"))
	q.add("task", 20)
	runOnce(t, w)
	if claims := only[shim.ClaimSucceeded](events()); len(claims) != 1 || claims[0].Jobs != 20 {
		t.Errorf("claims are %+v", claims)
	}
}

func TestWhileForbiddenFlagsOfATaskAreUnknownNothingIsClaimed(t *testing.T) {
	q := newQueue(t)
	calls := 0
	w := q.worker(shim.Config{})
	events := record(w)
	w.Handle("other", nothing)
	w.Handle("task", nothing, shim.ForbiddenFlagsFunc(func(ctx context.Context) ([]string, error) {
		if _, hasDeadline := ctx.Deadline(); !hasDeadline {
			t.Error("the function may take for ever")
		}
		if calls++; calls < 3 {
			return nil, errors.New("no answer")
		}
		return []string{"a"}, nil
	}))
	q.exec(addFlagged)
	runOnce(t, w)
	if got := value[string](q, keysLeft); got != "a" {
		t.Errorf("left are %q", got)
	}
	const want = `task "task": ask for forbidden flags: no answer`
	if failed := only[shim.ClaimFailed](events()); len(failed) != 2 || failed[0].Err.Error() != want {
		t.Errorf("failed %+v", failed)
	}
}

// Claims contain neither a task without room nor its flags.
func TestForbiddenFlagsAreAskedForOnlyOfTasksThatHaveRoom(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 3})
	var full, asked atomic.Bool
	started, end := make(chan struct{}), make(chan struct{})
	w.Handle("long", func(context.Context, *shim.Job) error {
		full.Store(true)
		close(started)
		<-end
		full.Store(false)
		return nil
	}, shim.Concurrency(1), shim.ForbiddenFlagsFunc(func(context.Context) ([]string, error) {
		if full.Load() {
			asked.Store(true)
		}
		return []string{"a"}, nil
	}))
	w.Handle("task", nothing)
	q.add("long", 1)
	w.start()
	receive(t, started)
	q.add("task", 10)
	q.await(`select count(*) = 1 from graphile_worker.jobs`)
	if asked.Load() {
		t.Error("asked for those of a task that has no room")
	}
	close(end)
	q.await(`select count(*) = 0 from graphile_worker.jobs`)
	w.stop()
}

func TestForbiddenFlagsOfATaskHoldInAFloodAndForJobsThatRunAlone(t *testing.T) {
	q := newQueue(t)
	q.addFlaggedTo("drop", "slow", "other")
	q.add("drop", floodJobs)
	q.addFlaggedTo("alone", "slow", "other")
	q.suspect("alone")
	tracer := &flagTracer{}
	w := q.workerOn(tracer.pool(q), shim.Config{Concurrency: 50, QuietSuccess: true})
	w.Handle("drop", nothing, shim.ForbiddenFlags("slow"))
	w.Handle("alone", nothing, shim.ForbiddenFlags("slow"))
	runOnce(t, w)
	if got := value[string](q, keysLeft); got != "drop-slow alone-slow" {
		t.Errorf("left are %q", got)
	}
	if claims, flagged := tracer.claims.Load(), tracer.flagged.Load(); flagged <= claims {
		t.Errorf("%d calls spoke of flags of tasks, want all %d claims and those of jobs that run alone", flagged,
			claims)
	}
}
