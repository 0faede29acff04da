package shim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// addTo adds jobs of a task with these payloads to the named queue q, with one statement.
func (q *queue) addTo(task string, payloads ...string) {
	q.t.Helper()
	q.exec(`
		select graphile_worker.add_job($1, to_json(p), 'q') from unnest($2::text[]) with ordinality as u (p, n) order by n`, task, payloads)
}

// streaks is a worker that has learned to claim many jobs of a queue at once.
type streaks struct {
	*queue
	w       *worker
	started chan string // the payloads of the jobs
	handle  func(ctx context.Context, name string) error
}

func newStreaks(t *testing.T, cfg shim.Config, handle func(ctx context.Context, name string) error) *streaks {
	s := &streaks{queue: newQueue(t), started: make(chan string, 1000), handle: handle}
	s.w = s.worker(cfg)
	s.w.Handle("learn", func(context.Context, *shim.Job) error { return nil })
	s.w.Handle("run", func(ctx context.Context, job *shim.Job) error {
		var name string
		if err := json.Unmarshal(job.Payload, &name); err != nil {
			return err
		}
		s.started <- name
		return s.handle(ctx, name)
	})
	s.addTo("learn", slices.Repeat([]string{"x"}, 500)...)
	s.w.start()
	s.await(`select not exists (select from graphile_worker.jobs)`)
	return s
}

// mustStart expects jobs to start in this order.
func (s *streaks) mustStart(names ...string) {
	s.t.Helper()
	for _, want := range names {
		if got := receive(s.t, s.started); got != want {
			s.t.Fatalf("%s has started, want %s", got, want)
		}
	}
}

func TestTheJobsOfAQueueRunOneByOneInOrderAndAreClaimedTogether(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 8, QuietSuccess: true})
	var running [10]atomic.Bool
	var mu sync.Mutex
	last := make(map[string]int)
	w.Handle("count", func(_ context.Context, job *shim.Job) error {
		var n int
		if err := json.Unmarshal(job.Payload, &n); err != nil {
			return err
		}
		if running[n%10].Swap(true) {
			t.Errorf("job %d runs beside another one of its queue", n)
		}
		defer running[n%10].Store(false)
		mu.Lock()
		defer mu.Unlock()
		if n <= last[job.QueueName] {
			t.Errorf("job %d runs after %d", n, last[job.QueueName])
		}
		last[job.QueueName] = n
		return nil
	})
	q.exec(`
		select graphile_worker.add_job('count', to_json(n), 'q' || n % 10)
		  from generate_series(1, 5000) as n order by n`)
	events := record(w)
	w.start()
	q.await(`select not exists (select from graphile_worker.jobs)`)
	w.stop()
	if claims := len(only[shim.ClaimSucceeded](events())); claims > 250 {
		t.Errorf("there were %d claims of 5000 jobs in 10 queues, want 250 at most", claims)
	}
	if held := value[int](q, `select count(*) from graphile_worker._private_job_queues where locked_at is not null`); held != 0 {
		t.Errorf("%d queues are held", held)
	}
}

func TestAJobThatIsCanceledBehindAnotherOneOfItsStreakDoesNotRun(t *testing.T) {
	goOn := make(chan struct{})
	s := newStreaks(t, shim.Config{}, func(_ context.Context, name string) error {
		if name == "first" {
			<-goOn
		}
		return nil
	})
	s.addTo("run", "first", "canceled", "last")
	s.mustStart("first")
	time.Sleep(20 * time.Millisecond) // a claim may take as long
	s.exec(`select graphile_worker.cancel_jobs(array(select id from graphile_worker._private_jobs where payload::text = '"canceled"'), 'no')`)
	close(goOn)
	s.mustStart("last")
	s.await(`select count(*) = 1 and bool_and(locked_at is null and attempts = max_attempts and last_error = 'no') from graphile_worker._private_jobs`)
	if len(s.started) > 0 {
		t.Errorf("%s has started", <-s.started)
	}
}

func TestAJobWhoseKeyIsReplacedBehindAnotherOneOfItsQueueRunsOnce(t *testing.T) {
	goOn := make(chan struct{})
	s := newStreaks(t, shim.Config{}, func(_ context.Context, name string) error {
		if name == "first" {
			<-goOn
		}
		return nil
	})
	s.exec(`
		select graphile_worker.add_job('run', '"first"', 'q'), graphile_worker.add_job('run', '"old"', 'q', job_key => 'k'),
		       graphile_worker.add_job('run', '"last"', 'q')`)
	s.mustStart("first")
	s.exec(`select graphile_worker.add_job('run', '"new"', 'q', job_key => 'k')`)
	close(goOn)
	s.mustStart("last", "new")
	s.await(`select not exists (select from graphile_worker.jobs)`)
}

// What runs next after a failure is what would run next if each job were claimed alone: if the failed job may run again
// soon, the worker gives the others back. The next claim takes the failed job first unless it began before the failure.
func TestAFailureInTheMiddleOfAStreak(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		runAgain bool
	}{
		"with the default back-off": {err: errors.New("failed")},
		"for good":                  {err: shim.Discard(nil)},
		"to be tried at once":       {err: shim.RetryIn(0, nil), runAgain: true},
		"snoozed for no time":       {err: shim.Snooze(0), runAgain: true},
	} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			s := newStreaks(t, shim.Config{}, func(_ context.Context, name string) error {
				if name == "b" && tries.Add(1) == 1 {
					return c.err
				}
				return nil
			})
			events := record(s.w)
			s.exec(`
				select graphile_worker.add_job('run', '"a"', 'q', priority => -2), graphile_worker.add_job('run', '"b"', 'q', priority => -1),
				       graphile_worker.add_job('run', '"c"', 'q')`)
			s.mustStart("a", "b")
			if !c.runAgain {
				s.mustStart("c")
				s.await(`select not exists (select from graphile_worker.jobs where locked_at is not null)`)
				return
			}
			next := []string{receive(s.t, s.started), receive(s.t, s.started)}
			slices.Sort(next)
			if !slices.Equal(next, []string{"b", "c"}) {
				t.Errorf("then %v have started, want b and c", next)
			}
			s.await(`select not exists (select from graphile_worker.jobs)`)
			goesBack := func(e shim.JobReported) bool {
				return e.Outcome == shim.OutcomeReturned && string(e.Job.Payload) == `"c"`
			}
			if !slices.ContainsFunc(only[shim.JobReported](events()), goesBack) {
				t.Error("c did not go back when b failed")
			}
		})
	}
}

func TestTheUnstartedJobsOfAStreakGoBackWhenOneTakesLong(t *testing.T) {
	goOn := make(chan struct{})
	s := newStreaks(t, shim.Config{}, func(_ context.Context, name string) error {
		if name == "long" {
			<-goOn
		}
		return nil
	})
	s.addTo("run", "long", "b", "c")
	s.mustStart("long")
	s.await(`select count(*) = 2 from graphile_worker.jobs where attempts = 0 and locked_at is null`)
	if free := value[bool](s.queue, `select locked_at is null from graphile_worker._private_job_queues`); free {
		t.Error("the queue is free although its first job runs")
	}
	s.exec(`select graphile_worker.add_job('run', '"urgent"', 'q', priority => -1)`)
	close(goOn)
	s.mustStart("urgent", "b", "c")
	s.await(`select not exists (select from graphile_worker.jobs)`)
}

func TestAStoppingWorkerReturnsTheUnstartedJobsOfAStreak(t *testing.T) {
	goOn := make(chan struct{})
	s := newStreaks(t, shim.Config{}, func(_ context.Context, name string) error {
		<-goOn
		return nil
	})
	s.addTo("run", "first", "b", "c")
	s.mustStart("first")
	stopped := make(chan error)
	go func() { stopped <- s.w.Stop(context.WithoutCancel(t.Context())) }()
	s.await(`select count(*) = 2 from graphile_worker.jobs where attempts = 0 and locked_at is null`)
	if free := value[bool](s.queue, `select locked_at is null from graphile_worker._private_job_queues`); free {
		t.Error("the queue is free although its first job runs")
	}
	close(goOn)
	if err := receive(t, stopped); err != nil {
		t.Error(err)
	}
	left := value[string](s.queue, `
		select string_agg(format('%s %s', payload, attempts), ', ' order by id) from graphile_worker._private_jobs where locked_at is null`)
	if left != `"b" 0, "c" 0` {
		t.Errorf("left are %s", left)
	}
	if free := value[bool](s.queue, `select locked_at is null from graphile_worker._private_job_queues`); !free {
		t.Error("the queue is held")
	}
}

func TestAWorkerThatHasLostAJobOfAStreakStartsNoOtherOfIt(t *testing.T) {
	goOn := make(chan struct{})
	s := newStreaks(t, shim.Config{WorkerID: "gw-one"}, func(ctx context.Context, name string) error {
		if name == "first" {
			<-ctx.Done()
			<-goOn
		}
		return nil
	})
	s.exec(`select graphile_worker.set_setting('beat_every', '100 milliseconds')`)
	s.addTo("run", "first", "b", "c")
	s.mustStart("first")
	s.exec(`
		do $$ begin
		  perform graphile_worker.force_unlock_workers('{gw-one}');
		  perform graphile_worker.get_job('other');
		end $$`)
	close(goOn)
	s.w.logs.await(t, "lease lost")
	s.await(`select count(*) = 2 from graphile_worker._private_jobs where locked_at is null and attempts = 0`)
	if len(s.started) > 0 {
		t.Errorf("%s has started although another worker holds the queue", <-s.started)
	}
}

func TestAStreakOfAnExecutorThatRunsSeveralJobsAtOnce(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{QuietSuccess: true})
	var order []string
	w.HandleMany("many", 100, func(_ context.Context, jobs []*shim.Job) []error {
		queues := make(map[string]bool)
		for _, job := range jobs {
			if queues[job.QueueName] {
				t.Errorf("two jobs of the queue %s run at once", job.QueueName)
			}
			queues[job.QueueName] = true
			order = append(order, fmt.Sprintf("%s %s", job.QueueName, job.Payload))
		}
		return nil
	})
	q.exec(`select graphile_worker.add_job('many', to_json(n), 'q' || n % 3) from generate_series(1, 600) as n order by n`)
	w.start()
	q.await(`select not exists (select from graphile_worker.jobs)`)
	w.stop()
	last := make(map[string]int)
	for _, ran := range order {
		var queue string
		var n int
		if _, err := fmt.Sscan(ran, &queue, &n); err != nil || n <= last[queue] {
			t.Fatalf("%s ran after %d: %v", ran, last[queue], err)
		}
		last[queue] = n
	}
}
