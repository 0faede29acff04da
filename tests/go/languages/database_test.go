package languages

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// shop returns the URL of a database with the queue and the table of the examples, and a pool of connections to it.
func shop(t *testing.T) (string, *pgxpool.Pool) {
	t.Helper()
	database := pgtest.Database(t)
	pool := pgtest.Pool(t, database)
	schema, err := os.ReadFile(examples + "/orders.sql")
	if err != nil {
		t.Fatal(err)
	}
	execSQL(t, pool, string(schema))
	return database, pool
}

// execSQL runs a statement.
func execSQL(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// query returns the one value that a query returns.
func query[T any](t *testing.T, pool *pgxpool.Pool, sql string, args ...any) T {
	t.Helper()
	var value T
	if err := pool.QueryRow(t.Context(), sql, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// waitUntil waits until a query returns true, for 40 seconds at most. It asks again and again: what it waits for is in the database only.
func waitUntil(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		var is bool
		if err := pool.QueryRow(ctx, sql, args...).Scan(&is); err != nil {
			t.Fatalf("wait until %s: %v", sql, err)
		}
		if is {
			return
		}
		<-again.C
	}
}
