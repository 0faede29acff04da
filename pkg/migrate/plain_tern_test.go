package migrate_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	tern "github.com/jackc/tern/v2/migrate"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/sql"
)

func TestPlainTernInstallsIntoAnEmptySchema(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	execute(t, connect(t, database), "create schema graphile_worker")
	if err := ternMigrate(t, database, "graphile_worker", sql.FS); err != nil {
		t.Fatal(err)
	}
	status, err := newMigrator(t, database, migrate.Config{}).Status(t.Context())
	if err != nil || status.State != migrate.Current || len(status.Changed()) > 0 {
		t.Errorf("state %q, changed %v, %v", status.State, status.Changed(), err)
	}
}

func TestPlainTernInstallsTheSameUnderAnOddNameAsGwMigrate(t *testing.T) {
	const odd = `Odd "name" it's 100%`
	quoted := pgx.Identifier{odd}.Sanitize()
	byTern, byUs := pgtest.EmptyDatabase(t), pgtest.EmptyDatabase(t)
	execute(t, connect(t, byTern), "create schema "+quoted)
	if err := ternMigrate(t, byTern, quoted, sql.FS); err != nil {
		t.Fatal(err)
	}
	up(t, byUs, migrate.Config{Schema: odd})
	if found := differences(shape(t, connect(t, byUs)), shape(t, connect(t, byTern))); found != nil {
		t.Errorf("plain tern installs something else:\n%s", strings.Join(found, "\n"))
	}
}

func TestPlainTernIsStoppedByAQueueThatIsThere(t *testing.T) {
	pgtest.OnOneVersion(t)
	database := graphile(t, 20)
	conn := connect(t, database)
	before := contents(t, conn)
	err := ternMigrate(t, database, "graphile_worker", sql.FS)
	if err == nil || !strings.Contains(err.Error(),
		"Schema graphile_worker has a queue already; if Graphile Worker has made it, "+
			"gw-migrate takes it over") {
		t.Errorf("got %v", err)
	}
	if found := differences(before, contents(t, conn)); found != nil {
		t.Errorf("changed: %v", found)
	}
	if result := up(t, database, migrate.Config{Adopt: true}); result.After != available(t) {
		t.Errorf("a later adoption: %+v", result)
	}
}

// ternMigrate does what tern's own command does with tern.conf; schema is written as SQL wants it.
func ternMigrate(t *testing.T, database, schema string, files fs.FS) error {
	t.Helper()
	runner, err := tern.NewMigrator(t.Context(), connect(t, database), schema+"._gw_schema_version")
	if err != nil {
		t.Fatal(err)
	}
	runner.Data = map[string]any{"schema": schema}
	if err := runner.LoadMigrations(sub(t, files, "migrations")); err != nil {
		t.Fatal(err)
	}
	return runner.Migrate(t.Context())
}
