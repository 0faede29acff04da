package migrate_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/sql"
)

// pg_tle itself is not here: a stand-in stores the scripts that it is given, and PostgreSQL runs them from its files,
// with a control file of what pg_tle allows.
func isRegisteredWithPgTLE(t *testing.T, server *extensionServer) {
	next := laterRelease(t)
	database, migrated := server.database(t, "tle"), server.database(t, "tle_migrated")
	registry := connect(t, strings.Replace(server.database(t, "registry"), "app:secret@", "postgres@",
		1)) // the files are the server's
	execute(t, registry, readText(t, "testdata", "pg_tle.sql"))
	conn := connect(t, database)

	server.register(t, registry, sql.FS)
	execute(t, conn, "create extension graphile_worker; select graphile_worker.add_job('greet')")
	up(t, migrated, migrate.Config{})
	if found := differences(shape(t, connect(t, migrated)), shape(t, conn)); found != nil {
		t.Errorf("differences:\n%s", strings.Join(found, "\n"))
	}

	stored := "select concat_ws('--', source, target) from pgtle.scripts order by 1"
	before := texts(t, registry, stored)
	server.register(t, registry, sql.FS)
	if after := texts(t, registry, stored); !slices.Equal(before, after) || len(before) != 1 {
		t.Errorf("registered again: %v, before %v", after, before)
	}

	server.register(t, registry, next)
	execute(t, conn, "alter extension graphile_worker update")
	if _, err := newMigratorFrom(t, migrated, migrate.Config{}, next).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := differences(shape(t, connect(t, migrated)), shape(t, conn)); found != nil {
		t.Errorf("differences after the update:\n%s", strings.Join(found, "\n"))
	}
}

// register runs the file for pg_tle, and puts what that stored among the server's files.
func (s *extensionServer) register(t *testing.T, registry *pgx.Conn, source fs.FS) {
	t.Helper()
	files, err := migrate.ExtensionFrom(migrate.ExtensionConfig{PgTLE: true}, source)
	if err != nil {
		t.Fatal(err)
	}
	psql := exec.CommandContext(t.Context(), "psql", "-X", "-q", "--single-transaction", "-v", "ON_ERROR_STOP=1",
		registry.Config().ConnString())
	psql.Stdin = strings.NewReader(files[0].Text)
	if output, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, output)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(s.scripts, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	scripts, err := registry.Query(t.Context(), "select concat_ws('--', name, source, target), ext from pgtle.scripts")
	if err != nil {
		t.Fatal(err)
	}
	var name, text string
	if _, err := pgx.ForEachRow(scripts, []any{&name, &text},
		func() error { write(name+".sql", text); return nil }); err != nil {
		t.Fatal(err)
	}
	version := texts(t, registry, "select default_version from pgtle.extensions")[0]
	write(migrate.ExtensionName+".control", fmt.Sprintf("default_version = '%s'\nsuperuser = false\nrelocatable = false\n", version))
}
