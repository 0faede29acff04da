package gwrun

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// addJob adds a job and returns its id.
func addJob(t *testing.T, pool *pgxpool.Pool, task, payload string) int64 {
	t.Helper()
	return pgtest.Value[int64](t, pool, "select id from graphile_worker.add_job($1, $2::text::json)", task, payload)
}

// wantJob checks that no worker holds a job, and its attempts.
func wantJob(t *testing.T, pool *pgxpool.Pool, id int64, attempts int) {
	t.Helper()
	free := pgtest.Value[bool](t, pool,
		"select locked_at is null and attempts = $2 from graphile_worker._private_jobs where id = $1", id, attempts)
	if !free {
		t.Errorf("job %d is locked, or does not have %d attempts", id, attempts)
	}
}

// tasks creates a folder of shell scripts, given by their file names.
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
