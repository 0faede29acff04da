package pgtest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// patience is the maximum time that a test waits for a condition. It is long because it only matters when a test fails.
const patience = 5 * time.Minute

// Exec runs a statement, or several where there are no arguments.
func Exec(t testing.TB, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Value returns the only column of the only row.
func Value[T any](t testing.TB, pool *pgxpool.Pool, sql string, args ...any) T {
	t.Helper()
	rows, _ := pool.Query(t.Context(), sql, args...) // CollectExactlyOneRow returns the error
	value, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// Await repeats a query until it returns true, for conditions that can only be seen in the database.
func Await(t testing.TB, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		var is *bool // null is not true
		err := pool.QueryRow(ctx, sql, args...).Scan(&is)
		switch {
		case ctx.Err() != nil:
			t.Fatalf("still not true: %s", sql)
		case err != nil:
			t.Fatalf("%s: %v", sql, err)
		case is != nil && *is:
			return
		}
		<-again.C
	}
}

// Damage deletes the TOAST chunks of the payload that was stored last, so that reading it fails and deleting its job
// does not. The payload must be large enough to be stored out of line, and no job may be locked. Damage needs a
// superuser.
func Damage(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	exec := func(sql string) (rows int64) {
		tag, err := tx.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return tag.RowsAffected()
	}
	var pieces string
	if err := tx.QueryRow(t.Context(), `
		select reltoastrelid::regclass from pg_class where oid = 'graphile_worker._private_jobs'::regclass`).Scan(&pieces); err != nil {
		t.Fatal(err)
	}
	// PostgreSQL refuses to change a TOAST table, but not a table whose relkind is 'r'.
	exec(`update pg_class set relkind = 'r' where oid = '` + pieces + `'::regclass`)
	if n := exec(`delete from ` + pieces + ` where chunk_id = (
		select chunk_id from ` + pieces + ` order by age(xmin), chunk_id desc limit 1)`); n == 0 {
		t.Fatal("no payload is stored out of line")
	}
	exec(`update pg_class set relkind = 't' where oid = '` + pieces + `'::regclass`)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}

	// A chunk is found and deleted again, whatever the snapshot, until vacuum has removed it, and vacuum leaves what
	// another transaction may still see, an autovacuum of the database for example.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for gone := false; !gone; {
		Exec(t, pool, `vacuum `+pieces)
		_, err := pool.Exec(ctx, `begin; delete from graphile_worker._private_jobs; rollback`,
			pgx.QueryExecModeSimpleProtocol)
		if gone = err == nil; !gone && !strings.Contains(err.Error(), "tuple concurrently deleted") {
			t.Fatalf("await the vacuum of %s: %v", pieces, err)
		}
	}
}

// Limit is how many jobs of a task run at once.
type Limit struct {
	Name, Task string
	Most       int
}

// SetLimits sets limits.
func SetLimits(ctx context.Context, s Session, limits ...Limit) error {
	for _, l := range limits {
		_, err := s.Exec(ctx, "select graphile_worker.set_limit($1::text, array[$2::text], max_running => $3::integer)",
			l.Name, l.Task, l.Most)
		if err != nil {
			return fmt.Errorf("set the limit %s: %w", l.Name, err)
		}
	}
	return nil
}

// Session is a connection or a pool of pgx.
type Session interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Mutate replaces a part of the body of one of our functions in the schema graphile_worker, which breaks a rule that a
// test must then detect. It returns an error unless the body contains the part exactly once: then the function has
// changed, and the mutant must change as well.
func Mutate(ctx context.Context, s Session, function, sound, broken string) error {
	var definition string
	err := s.QueryRow(ctx, `
		select pg_get_functiondef(p.oid)
		  from pg_proc as p
		 where p.pronamespace = 'graphile_worker'::regnamespace and p.proname = $1`, function).Scan(&definition)
	if err != nil {
		return fmt.Errorf("read %s: %w", function, err)
	}
	if strings.Count(definition, sound) != 1 {
		return fmt.Errorf("%s must contain %q once", function, sound)
	}
	if _, err := s.Exec(ctx, strings.Replace(definition, sound, broken, 1)); err != nil {
		return fmt.Errorf("break %s: %w", function, err)
	}
	return nil
}

// OnOneVersion skips a test with -short, which CI uses on all versions of PostgreSQL but one. Such a test does not
// depend on the server, or on nothing more of it than other tests do.
func OnOneVersion(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("the same on each version of PostgreSQL")
	}
}

const (
	hurriedDeadAfter = "2 seconds"
	// slowDeadAfter is the value of dead_after after slowTime. On a machine that pauses for a second now and then,
	// heartbeats have gaps, so that live workers would count as dead after two seconds.
	slowDeadAfter = "12 seconds"
	slowTime      = 20 * time.Second
)

// Hurry sets dead_after to seconds, so that workers find dead workers soon, and makes recovered jobs run at once.
func Hurry(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	const deadAfter = "select graphile_worker.set_setting('dead_after', $1)"
	Exec(t, pool, deadAfter, hurriedDeadAfter)
	Exec(t, pool, "select graphile_worker.set_setting('recovered_jobs', 'run')")
	relent := time.AfterFunc(slowTime, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, _ = pool.Exec(ctx, deadAfter, slowDeadAfter) // fails if the server is down or the test is over
	})
	t.Cleanup(func() { relent.Stop() })
}

// Mutants returns the mutants (broken rules that a test must detect) that this run tries: one of them, chosen as by
// [Draw].
func Mutants[T any](all []T) []T { return Draw(all, 1) }

// Draw returns the cases that this run tries: all of them if -run names a case ("Mutants/." names each), otherwise a
// new random selection of count cases.
func Draw[T any](all []T, count int) []T {
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return all
	}
	drawn := slices.Clone(all)
	rand.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn[:min(count, len(drawn))]
}
