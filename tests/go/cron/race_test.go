package cron_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Two Node workers lock items in another order than ours. A tick that waits for them must not hold locks.
func TestATickWaitsForNodeWithoutHoldingLocks(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	var items []item
	for _, identifier := range []string{"a", "b", "c", "new"} {
		items = append(items, newItem(identifier, "* * * * *", "", 0))
	}
	pgtest.Exec(t, pool, `
		insert into graphile_worker._private_known_crontabs (identifier, known_since) values ('a', $1), ('b', $1), ('c', $1)`, noon)
	due := noon.Add(time.Minute)
	move := func(node pgx.Tx, identifier string) {
		t.Helper()
		_, err := node.Exec(t.Context(), `
			insert into graphile_worker._private_known_crontabs as k (identifier, known_since, last_execution) values ($1, $2, $2)
			    on conflict (identifier) do update set last_execution = excluded.last_execution`, identifier, due)
		if err != nil {
			t.Fatalf("move %s on: %v", identifier, err)
		}
	}
	first, second := begin(t, pool), begin(t, pool)
	move(first, "b")
	move(second, "c")

	answers := make(chan []string, 1)
	go func() {
		a, err := tick(t.Context(), pool, itemsJSON(t, items), &noon, due)
		if err != nil {
			t.Errorf("tick: %v", err)
		}
		answers <- a.identifiers()
	}()
	awaitWaitingFor(t, pool, first)
	move(first, "a")
	move(first, "new") // nor does the tick hold a name that is only being inserted
	commit(t, first)
	awaitWaitingFor(t, pool, second)
	move(second, "b")
	commit(t, second)
	if got := <-answers; len(got) > 0 {
		t.Errorf("scheduled items that Node had scheduled: %v", got)
	}
}

// A schedule is changed while a tick waits for its row.
func TestATickSeesWhatItWaitedFor(t *testing.T) {
	for _, change := range []struct {
		call string
		want []string
	}{
		{"graphile_worker.cron_pause('s')", nil},
		{"graphile_worker.cron_unschedule('s')", nil},
		{"graphile_worker.cron_schedule('s', '0 0 1 1 *', 'note')", nil},
		{"graphile_worker.cron_schedule('s', '* * * * *', 'other')", []string{"s"}},
	} {
		pool := pgtest.Pool(t, pgtest.Database(t))
		schedule(t, pool)
		other := begin(t, pool)
		if _, err := other.Exec(t.Context(), "select "+change.call); err != nil {
			t.Fatalf("%s: %v", change.call, err)
		}
		answers := make(chan []string, 1)
		go func() {
			a, err := tick(t.Context(), pool, "[]", &noon, noon.Add(time.Minute))
			if err != nil {
				t.Errorf("tick: %v", err)
			}
			answers <- a.identifiers()
		}()
		awaitWaiting(t, pool, "run_cron")
		commit(t, other)
		if got := <-answers; !slices.Equal(got, change.want) {
			t.Errorf("after %s: scheduled %v, want %v", change.call, got, change.want)
		}
	}
}

// The schedule is paused while a tick that has read it has not committed yet.
func TestNothingIsAddedAfterAPauseHasCommitted(t *testing.T) {
	for _, call := range []string{"graphile_worker.cron_pause('s')", "graphile_worker.cron_unschedule('s')",
		"graphile_worker.cron_schedule('s', '0 0 1 1 *', 'note')"} {
		pool := pgtest.Pool(t, pgtest.Database(t))
		schedule(t, pool)
		ticking := begin(t, pool)
		a, err := tick(t.Context(), ticking, "[]", &noon, noon.Add(time.Minute))
		if err != nil || len(a.Scheduled) != 1 {
			t.Fatalf("scheduled %v, %v", a.Scheduled, err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := pool.Exec(t.Context(), "select "+call)
			ended <- err
		}()
		awaitWaiting(t, pool, "select "+call)
		commit(t, ticking)
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// Workers start at once with many items and patterns that are new in the database.
func TestWorkersThatStartAtOnceMakeTheSameItemsKnown(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	var items []item
	for i := range 60 {
		items = append(items, newItem(fmt.Sprintf("item%d", i), fmt.Sprintf("*/%d * * * *", 60-i), "", time.Hour))
	}
	text := itemsJSON(t, items)
	var mu sync.Mutex
	scheduled := map[string]int{}
	var workers sync.WaitGroup
	for range 6 {
		workers.Go(func() {
			a, err := tick(t.Context(), pool, text, nil, noon.Add(30*time.Second))
			if err != nil {
				t.Errorf("start: %v", err)
				return
			}
			since := a.Handled
			for minute := range 5 {
				a, err = tick(t.Context(), pool, text, &since, noon.Add(time.Duration(minute+1)*time.Minute))
				if err != nil {
					t.Errorf("tick: %v", err)
					return
				}
				since = a.Handled
				mu.Lock()
				for _, r := range a.Scheduled {
					scheduled[r.String()]++
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	for _, item := range items {
		for _, at := range item.between(t, pool, noon, noon.Add(5*time.Minute)) {
			if key := (run{item.Identifier, at, false}).String(); scheduled[key] != 1 {
				t.Errorf("%s was scheduled %d times", key, scheduled[key])
			}
		}
	}
}

func (a answer) identifiers() []string {
	var identifiers []string
	for _, r := range a.Scheduled {
		identifiers = append(identifiers, r.Identifier)
	}
	return identifiers
}

// schedule creates the schedule s, which runs every minute since noon.
func schedule(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	pgtest.Exec(t, pool, "select graphile_worker.cron_schedule('s', '* * * * *', 'note')")
	pgtest.Exec(t, pool, "update graphile_worker._gw_schedules set active_since = $1", noon)
}

func begin(t *testing.T, pool *pgxpool.Pool) pgx.Tx {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func commit(t *testing.T, tx pgx.Tx) {
	t.Helper()
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// awaitWaitingFor returns when a session waits for tx, and gives tx a short lock_timeout.
func awaitWaitingFor(t *testing.T, pool *pgxpool.Pool, tx pgx.Tx) {
	t.Helper()
	pgtest.Await(t, pool, `
		select exists (select from pg_stat_activity as a where $1 = any (pg_blocking_pids(a.pid)))`,
		int32(tx.Conn().PgConn().PID()))
	if _, err := tx.Exec(t.Context(), "set local lock_timeout = '10s'"); err != nil {
		t.Fatal(err)
	}
}

// awaitWaiting returns when a statement that contains part waits for a lock.
func awaitWaiting(t *testing.T, pool *pgxpool.Pool, part string) {
	t.Helper()
	pgtest.Await(t, pool, `
		select exists (select from pg_stat_activity as a
		                where a.datname = current_database() and a.wait_event_type = 'Lock' and a.query like '%' || $1 || '%')`, part)
}
