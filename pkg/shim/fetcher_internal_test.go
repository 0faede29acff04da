package shim

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func TestWhatWaitsTooLongIsReturnedAlsoWhileNothingCanBeClaimed(t *testing.T) {
	config, err := pgxpool.ParseConfig("postgres:///nowhere")
	if err != nil {
		t.Fatal(err)
	}
	config.BeforeConnect = func(context.Context, *pgx.ConnConfig) error { return errors.New("no way through") }
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()

	queries := &queries{pool: pool, schema: "graphile_worker"}
	f := newIdle(queries)
	f.fail = func(err error) { t.Error(err) }
	f.backlog.ration = learned(1, time.Millisecond) // so that it would claim
	outcomes := make(chan outcome, 10)
	jobs := []*Job{newClaimed(1, 0, time.Now()), newClaimed(2, 0, time.Now())}
	f.outcomes = outcomes
	f.backlog.add(jobs, false, 1)
	f.held.add(jobs)
	f.backlog.next()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.run(ctx)
	}()
	select {
	case o := <-outcomes:
		if o.job.ID != 2 || o.verdict != verdictReturned {
			t.Errorf("job %d has verdict %d", o.job.ID, o.verdict)
		}
	case <-time.After(patience):
		t.Error("the job that waits was not returned")
	}
	cancel()
	<-ended
}

// If the database reports jobs that are due soon, but claims return none of them, a worker claims at growing intervals.
func TestAWorkerThatClaimsInVainClaimsLessOften(t *testing.T) {
	const due = 20 * time.Millisecond
	f := claims{intake: &intake{sleep: &sleep{pollInterval: 2 * time.Second}}}
	for n := range mostVain {
		if delay := f.unlessVain(due); delay != due {
			t.Errorf("after %d claims in vain the worker waits %v", n+1, delay)
		}
	}
	var waited time.Duration
	for range 20 {
		waited += f.unlessVain(due)
	}
	if waited < 8*time.Second {
		t.Errorf("it makes 20 further claims in %v", waited)
	}
	for _, want := range []time.Duration{time.Second, due} { // a job that is due later
		if delay := f.unlessVain(want); delay != want {
			t.Errorf("it waits %v, want %v", delay, want)
		}
	}
	f = claims{intake: &intake{sleep: &sleep{pollInterval: 100 * time.Millisecond}}, vain: 1000}
	if delay := f.unlessVain(due); delay != f.sleep.pollInterval {
		t.Errorf("it waits %v, longer than it polls", delay)
	}
}
