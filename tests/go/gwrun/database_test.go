package gwrun

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

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

// waitUntil waits until a query returns true. It asks again and again: what it waits for is in the database only.
func waitUntil(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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

// addJob adds a job and returns its id.
func addJob(t *testing.T, pool *pgxpool.Pool, task, payload string) int64 {
	t.Helper()
	return query[int64](t, pool, "select id from graphile_worker.add_job($1, $2::text::json)", task, payload)
}

// wantJob checks the attempts of a job that no worker holds.
func wantJob(t *testing.T, pool *pgxpool.Pool, id int64, attempts int) {
	t.Helper()
	free := query[bool](t, pool,
		"select locked_at is null and attempts = $2 from graphile_worker._private_jobs where id = $1", id, attempts)
	if !free {
		t.Errorf("job %d is locked, or does not have %d attempts", id, attempts)
	}
}

// tasks makes a folder of shell scripts, by the names of the files.
func tasks(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range scripts {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
