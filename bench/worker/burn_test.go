package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/internal/pgtest"
)

// newBench returns a bench for ours and the reference, on a server of its own.
func newBench(t *testing.T) *bench {
	t.Helper()
	s, err := server.Take(t.Context(), pgtest.Server(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Admin.Close(context.Background()) })
	if err := queue.Install(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	built, err := buildPrograms(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := built.remove(); err != nil {
			t.Error(err)
		}
	})
	h := &harness.Bench{Options: harness.Options{Rounds: 1}, Server: s, Report: report.New(io.Discard),
		Progress: io.Discard}
	return &bench{Bench: h, outcome: &outcome{}, programs: built}
}

func TestALoadIsWorkedAndARunThatLosesAJobIsRefused(t *testing.T) {
	b := newBench(t)
	for _, c := range []contender{ours, reference1, reference2} {
		r, err := b.burn(t.Context(), c, load{jobs: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if r.seconds <= 0 || r.speed != 1000/r.seconds || r.cpu <= 0 {
			t.Errorf("%s: the result is %+v", c.name, r)
		}
	}

	// Job 7 never comes into being, job 8 comes back.
	conn, err := b.Connect(t.Context(), queue.Template)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), `
		create function lose() returns trigger language plpgsql as $$ begin return null; end $$;
		create trigger lose before insert on `+queue.JobsTable+` for each row when (new.id = 7) execute function lose();
		create function repeat() returns trigger language plpgsql as $$
		begin
		  insert into `+queue.JobsTable+` (id, task_id, attempts) overriding system value values (old.id, old.task_id, old.attempts);
		  return null;
		end $$;
		create trigger repeat after delete on `+queue.JobsTable+` for each row when (old.id = 8 and old.attempts = 1)
		  execute function repeat();`)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = b.burn(t.Context(), ours, load{jobs: 1000})
	const want = "of 1000 jobs 1 were executed fewer than 1 times and 1 more often, such as job 7, 0 times"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %q in it", err, want)
	}
}
