package baddays

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// Every role that can connect can send notifications. A notification only makes a worker query the database.
func TestForgedNotificationsChangeNothing(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	w := f.workers(1, f.url)[0]
	l := f.load()
	f.awaitMore(20)
	for _, payload := range []string{
		"", "null", `{"count":-1}`, `{"count":1e400}`, `{"count":"many"}`, "{", strings.Repeat("[", 7000),
		"\u202e\ufeff",
		`{"migrationNumber":1000000,"breaking":true}`, "'; drop schema graphile_worker cascade; --",
	} {
		f.exec(`select pg_notify('jobs:insert', $1), pg_notify('worker:migrate', $1)`, payload)
		f.awaitMore(10)
	}
	l.stop()
	f.await(done)
	f.account(l)
	if logs := w.logs.String(); strings.Contains(logs, "level=WARN") || strings.Contains(logs, "level=ERROR") {
		t.Errorf("the worker reacted:\n%s", logs)
	}
}

// The name of a task is never used as a path: an executable only serves the task of its own path in the folder.
func TestTaskNamesThatLookLikePathsStartNothing(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	w := f.startExecutables("w", f.url)
	evil := filepath.Join(f.t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho started,1,,,evil >>\"$NOTES\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.awaitLog(w, "worker started")
	for _, name := range []string{
		evil, "../evil", "work/../../evil", "./work", "work/", "/work", "work\n", "../../../../../../../../bin/sh",
		"work.sh", "wor*", "$(" + evil + ")",
	} {
		f.exec(`select graphile_worker.add_job($1)`, name[:min(len(name), 128)])
	}
	if err := f.add(request{n: 1}, "", 0); err != nil {
		t.Fatal(err)
	}
	f.waitUntil("the job to be done", func() bool { return f.ended() == 1 }, w.logs.String)
	f.await("select count(*) = 11 and bool_and(attempts = 0) from graphile_worker.jobs")
	if runs := f.runs(); len(runs) != 1 {
		t.Errorf("%d jobs were run", len(runs))
	}
}
