package interleave

import (
	"context"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// comesTo lets session i do steps until it waits for a lock.
func comesTo(ctx context.Context, t *testing.T, d *driver, i int) {
	t.Helper()
	for s := d.sessions[i]; !s.blocked; {
		if s.done {
			t.Fatalf("session %d does not wait for a lock", i+1)
		}
		if _, err := d.step(ctx, i); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAfterASessionWasEndedThatWaitedForALockTheNextRunHasAllItsSteps(t *testing.T) {
	pgtest.OnOneVersion(t)
	ctx, d, w := t.Context(), newTestDriver(t), of("ready", "remove", "remove")
	order := []int{0, 1}
	if err := d.follow(ctx, w, order); err != nil {
		t.Fatal(err)
	}
	want := d.trace

	if err := d.begin(ctx, w); err != nil {
		t.Fatal(err)
	}
	for s := d.sessions[0]; s.next < len(w.sessions[0].calls) || s.at != ""; {
		if _, err := d.step(ctx, 0); err != nil {
			t.Fatal(err)
		}
	}
	comesTo(ctx, t, d, 1)
	if err := d.kill(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if err := d.finish(ctx); err != nil {
		t.Fatal(err)
	}
	if err := d.follow(ctx, w, order); err != nil {
		t.Fatal(err)
	}
	if got := d.trace; len(got) != len(want) {
		t.Errorf("the run has %d steps instead of %d", len(got), len(want))
	}
}

// A session that is canceled may have drawn a turn, and not have told it.
func TestATurnThatNobodyHasLearnedOfIsForgottenInTheNextRun(t *testing.T) {
	pgtest.OnOneVersion(t)
	ctx, d, w := t.Context(), newTestDriver(t), of("ready", "remove", "complete")
	if err := d.follow(ctx, w, nil); err != nil {
		t.Fatal(err)
	}
	if err := d.exec(ctx, "select nextval('interleave.turns1')"); err != nil {
		t.Fatal(err)
	}
	if err := d.begin(ctx, w); err != nil {
		t.Fatal(err)
	}
	if _, err := d.step(ctx, 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for waits, idle := false, false; !waits; {
		err := d.control.QueryRow(ctx, `
			select pg_backend_pid() = any (pg_blocking_pids(a.pid)), a.state like 'idle%'
			  from pg_stat_activity as a
			 where a.pid = $1`, int32(d.sessions[0].pid)).Scan(&waits, &idle)
		if err != nil {
			t.Fatal(err)
		}
		if idle {
			t.Fatal("the session has passed all its stops")
		}
	}
	if err := d.finish(ctx); err != nil {
		t.Fatal(err)
	}
}
