package migrate_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/release"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/sql"
)

// Programs of a release continue to work with a schema that a later release has migrated: every statement of the worker and the
// client has the same parameters and results, and every call of a public function is valid.
func TestTheCallsOfEachReleaseStayRight(t *testing.T) {
	for name, files := range map[string]fs.FS{"this schema": sql.FS, "a later one": laterRelease(t)} {
		conn := connect(t, migratedBy(t, files))
		functions, err := release.Functions(t.Context(), conn)
		if err != nil {
			t.Fatal(err)
		}
		for version, calls := range releasedCalls(t) {
			for _, f := range calls.Functions {
				if !slices.ContainsFunc(functions, func(now release.Function) bool { return now.Takes(f) }) {
					t.Errorf("%s does not take all calls of version %s of %+v", name, version, f)
				}
			}
			for _, call := range calls.Statements {
				now, err := release.Describe(t.Context(), conn, call.SQL)
				if err != nil {
					t.Errorf("%s refuses a call of version %s: %v\n%s", name, version, err, call.SQL)
				} else if !slices.Equal(now.Parameters, call.Parameters) || !slices.Equal(now.Columns, call.Columns) {
					t.Errorf("%s takes a call of version %s otherwise:\n%+v\nwas\n%+v", name, version, now, call)
				}
			}
		}
	}
}

func migratedBy(t *testing.T, files fs.FS) (database string) {
	t.Helper()
	database = pgtest.EmptyDatabase(t)
	if _, err := newMigratorFrom(t, database, migrate.Config{}, files).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return database
}

// releasedCalls returns what the worker and the client of each release send, as make calls has recorded it, by version.
func releasedCalls(t *testing.T) map[string]release.Calls {
	t.Helper()
	paths, err := filepath.Glob("testdata/*/calls.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("no calls of a release are kept; make calls records them")
	}
	released := make(map[string]release.Calls)
	for _, path := range paths {
		if released[filepath.Base(filepath.Dir(path))], err = release.ReadCalls(path); err != nil {
			t.Fatal(err)
		}
	}
	return released
}
