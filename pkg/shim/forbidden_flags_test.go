package shim_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/pkg/shim"
)

const addFlagged = `
	select graphile_worker.add_job('task', job_key => 'none'),
	       graphile_worker.add_job('task', job_key => 'a', flags => array['a']),
	       graphile_worker.add_job('task', job_key => 'b', flags => array['b', 'c'])`

const keysLeft = `select coalesce(string_agg(key, ' ' order by id), '') from graphile_worker.jobs where attempts = 0`

func TestJobsWithAForbiddenFlagAreLeft(t *testing.T) {
	for want, flags := range map[string][]string{"a": {"a"}, "a b": {"c", "a"}, "": {}} {
		t.Run("left "+want, func(t *testing.T) {
			q := newQueue(t)
			w := q.worker(shim.Config{ForbiddenFlags: flags, Concurrency: 3})
			w.Handle("task", func(context.Context, *shim.Job) error { return nil })
			q.exec(addFlagged)
			runOnce(t, w)
			if got := value[string](q, keysLeft); got != want {
				t.Errorf("left are %q, want %q", got, want)
			}
		})
	}
}

func TestForbiddenFlagsAreAskedForBeforeEachClaim(t *testing.T) {
	q := newQueue(t)
	var forbidden atomic.Pointer[[]string]
	forbidden.Store(&[]string{"a", "b"})
	w := q.worker(shim.Config{
		PollInterval:       50 * time.Millisecond,
		ForbiddenFlagsFunc: func(context.Context) ([]string, error) { return *forbidden.Load(), nil },
	})
	w.Handle("task", func(context.Context, *shim.Job) error { return nil })
	q.exec(addFlagged)
	w.start()
	q.await(`select count(*) = 2 from graphile_worker.jobs`)
	forbidden.Store(&[]string{"b"})
	q.await(`select count(*) = 1 from graphile_worker.jobs`)
	forbidden.Store(new([]string))
	q.await(`select count(*) = 0 from graphile_worker.jobs`)
	w.stop()
}

func TestWithForbiddenFlagsJobsAreStillClaimedTogether(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 20, ForbiddenFlagsFunc: func(context.Context) ([]string, error) {
		return []string{"a"}, nil
	}})
	events := record(w)
	w.Handle("task", func(context.Context, *shim.Job) error { return nil })
	q.add("task", 20)
	runOnce(t, w)
	if claims := only[shim.ClaimSucceeded](events()); len(claims) != 1 || claims[0].Jobs != 20 {
		t.Errorf("claims are %+v", claims)
	}
}

func TestWhileForbiddenFlagsAreUnknownNothingIsClaimed(t *testing.T) {
	for name, c := range map[string]struct {
		fail func() error
		want string
	}{
		"error": {func() error { return errors.New("no answer") }, "ask for forbidden flags: no answer"},
		"panic": {func() error { panic("no answer") }, "ask for forbidden flags: panic: no answer"},
		// As if the function had asked a database for what is not there: no mistake of the worker's.
		"a mistake": {func() error { return &pgconn.PgError{Code: "42P01", Message: "undefined table"} },
			"ask for forbidden flags: : undefined table"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			calls := 0
			w := q.worker(shim.Config{ForbiddenFlagsFunc: func(context.Context) ([]string, error) {
				if calls++; calls < 3 {
					return nil, c.fail()
				}
				return []string{"a"}, nil
			}})
			events := record(w)
			w.Handle("task", func(context.Context, *shim.Job) error { return nil })
			q.exec(addFlagged)
			runOnce(t, w)
			if got := value[string](q, keysLeft); got != "a" {
				t.Errorf("left are %q", got)
			}
			failed := only[shim.ClaimFailed](events())
			if len(failed) != 2 || !strings.HasPrefix(failed[0].Err.Error(), c.want) {
				t.Errorf("failed %+v", failed)
			}
			w.logs.await(t, "WARN claim failed, worker will try again", c.want)
		})
	}
}

func TestAListAndAFunctionOfForbiddenFlagsExcludeEachOther(t *testing.T) {
	q := newQueue(t)
	_, err := shim.New(q.pool, shim.Config{
		ForbiddenFlags:     []string{"a"},
		ForbiddenFlagsFunc: func(context.Context) ([]string, error) { return nil, nil },
	})
	if err == nil || !strings.Contains(err.Error(),
		"a list of forbidden flags and a function for them exclude each other") {
		t.Errorf("error is %v", err)
	}
}
