package pgtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
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
