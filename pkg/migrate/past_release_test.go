package migrate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/release"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/pkg/shim"
	"github.com/gwsql/gw/sql"
)

// A pastRelease is a release whose programs have to work with the schemas of later ones.
type pastRelease struct {
	files    fs.FS         // as the release came with them
	calls    release.Calls // what its worker and its client send
	upgrades []fs.FS       // the files of the releases after it, in order
}

// pastReleases returns, by version, the releases whose calls make calls has recorded, and a made-up one; after each of
// them come this tree and the release after it.
func pastReleases(t *testing.T) map[string]pastRelease {
	t.Helper()
	paths, err := filepath.Glob("testdata/*/calls.json")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]pastRelease{"made up": madeUpRelease(t)}
	for _, path := range paths {
		calls := readCalls(t, path)
		found[filepath.Base(filepath.Dir(path))] = pastRelease{upTo(t, calls.Schema), calls,
			[]fs.FS{sql.FS, laterRelease(t)}}
	}
	return found
}

// madeUpRelease returns a release without the samples of the queue, with the calls of a worker that has run with its
// schema.
func madeUpRelease(t *testing.T) pastRelease {
	t.Helper()
	files, next := releaseWithoutSamples(t)
	return pastRelease{files, recordCalls(t, files), []fs.FS{next, laterThan(t, next)}}
}

// releaseWithoutSamples returns the files of a release that lacks a table and the functions that use it, and those of
// the next one, which differs from this tree only in its migrations: the last one, which make snapshot writes, makes
// the functions, and the table.
func releaseWithoutSamples(t *testing.T) (files, next fs.FS) {
	t.Helper()
	directory := copyToFolder(t, sql.FS)
	made := removeSamples(t, directory)
	if err := os.Remove(filepath.Join(directory, "migrations/CHECKSUMS")); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := release.Freeze(directory); err != nil {
		t.Fatal(err)
	}

	after := copyToFolder(t, os.DirFS(directory))
	for _, folder := range []string{"functions", "extension"} {
		if err := os.RemoveAll(filepath.Join(after, folder)); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(after, folder), sub(t, sql.FS, folder)); err != nil {
			t.Fatal(err)
		}
	}
	if err := release.Snapshot(after); err != nil {
		t.Fatal(err)
	}
	edit(t, after, fmt.Sprintf("migrations/%06d_functions.sql", available(t)+1), "{{ install_snapshot",
		made+"{{ install_snapshot")
	return os.DirFS(directory), os.DirFS(after)
}

// removeSamples removes the samples of the queue from the functions and from the migrations of a directory, and returns
// the statements that make their table.
func removeSamples(t *testing.T, directory string) (made string) {
	t.Helper()
	table := regexp.MustCompile(`(?ms)^(?:create table|comment on table|comment on column) \{\{\.schema\}\}\._gw_samples\b.*?;\n`)
	uses := regexp.MustCompile(`(?m)^(?:\{\{ template "inspect/samples.sql" \. \}\}| +perform \{\{\.schema\}\}\._gw_take_sample\(\);|` +
		` +delete from \{\{\.schema\}\}\._gw_samples .*;| +'_gw_samples',)\n`)
	err := fs.WalkDir(os.DirFS(directory), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || entry.IsDir():
			return err
		case entry.Name() == "samples.sql":
			return os.Remove(filepath.Join(directory, path))
		}
		text := readText(t, directory, path)
		made += strings.Join(table.FindAllString(text, -1), "")
		if without := uses.ReplaceAllString(table.ReplaceAllString(text, ""), ""); without != text {
			writeText(t, directory, path, without)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made + "alter table {{.schema}}._gw_samples enable row level security;\n" // as 000002 does for all its tables
}

// recordCalls returns what a worker sends to a schema: it claims jobs one after the other, in and out of queues, and a
// job of it fails.
func recordCalls(t *testing.T, files fs.FS) release.Calls {
	t.Helper()
	folder := t.TempDir()
	recorded, kept := filepath.Join(folder, "recorded"), filepath.Join(folder, "calls.json")
	database := migratedBy(t, files)
	pool := pgtest.RecordingPool(t, database, recorded)
	pgtest.Exec(t, pool, `create table done (n integer, worker text)`)
	pgtest.Exec(t, pool, `
		select count(graphile_worker.add_job(case n when 1 then 'fail' else 'note' end, json_build_object('n', n), case when n % 5 = 0 then 'q' || n % 25 end))
		  from generate_series(1, 200) as n`)
	w := newWorker(t, pool, "recorded")
	w.Handle("fail", func(context.Context, *shim.Job) error { return errors.New("no") })
	stop := start(t, w)
	pgtest.Await(t, pool, `select count(*) = 199 from done`)
	pgtest.Await(t, pool, `select exists (select from graphile_worker._private_jobs where last_error is not null)`)
	stop()
	if err := release.KeepCalls(t.Context(), connect(t, database), recorded, kept); err != nil {
		t.Fatal(err)
	}
	return readCalls(t, kept)
}

// readCalls reads a file that [release.KeepCalls] has written.
func readCalls(t *testing.T, path string) (calls release.Calls) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &calls); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return calls
}

func TestAnUpgradeFromASmallerReleaseGivesWhatAFreshInstallHas(t *testing.T) {
	files, next := releaseWithoutSamples(t)
	database := migratedBy(t, files)
	conn := connect(t, database)
	if got := texts(t, conn, `select to_regclass('graphile_worker._gw_samples') || '' where to_regclass('graphile_worker._gw_samples') is not null`); len(got) > 0 {
		t.Error("the smaller release has the table")
	}
	m := newMigratorFrom(t, database, migrate.Config{}, next)
	result, err := m.Up(t.Context())
	if err != nil || result.Before != available(t) || result.After != available(t)+1 {
		t.Fatalf("from %d to %d: %v", result.Before, result.After, err)
	}
	if found := differences(shape(t, connect(t, pgtest.Database(t))), shape(t, conn)); found != nil {
		t.Errorf("a fresh install differs:\n%s", strings.Join(found, "\n"))
	}
	if status, err := m.Status(t.Context()); err != nil || status.State != migrate.Current ||
		len(status.Changed()) > 0 {
		t.Errorf("state %s, changed %v, %v", status.State, status.Changed(), err)
	}
}

// copyToFolder copies files into a temporary folder, in which they can be changed.
func copyToFolder(t *testing.T, files fs.FS) (directory string) {
	t.Helper()
	directory = t.TempDir()
	if err := os.CopyFS(directory, files); err != nil {
		t.Fatal(err)
	}
	return directory
}
