package migrate_test

import (
	"io/fs"
	"slices"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/release"
	"github.com/gwsql/gw/pkg/migrate"
)

// Programs of a release continue to work with a schema that a later release has migrated: every statement of the worker
// and the client has the same parameters and results, and every call of a public function is valid.
func TestTheCallsOfEachReleaseStayRight(t *testing.T) {
	for version, past := range pastReleases(t) {
		for n, files := range past.upgrades {
			conn := connect(t, migratedBy(t, files))
			functions, err := release.Functions(t.Context(), conn)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range past.calls.Functions {
				if !slices.ContainsFunc(functions, func(now release.Function) bool { return now.Takes(f) }) {
					t.Errorf("upgrade %d from version %s does not take all calls of %+v", n+1, version, f)
				}
			}
			for _, call := range past.calls.Statements {
				now, err := release.Describe(t.Context(), conn, call.SQL)
				if err != nil {
					t.Errorf("upgrade %d from version %s refuses a call: %v\n%s", n+1, version, err, call.SQL)
				} else if !slices.Equal(now.Parameters, call.Parameters) || !slices.Equal(now.Columns, call.Columns) {
					t.Errorf("upgrade %d from version %s takes a call otherwise:\n%+v\nwas\n%+v", n+1, version, now,
						call)
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
