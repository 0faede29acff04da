package migrate_test

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	tern "github.com/jackc/tern/v2/migrate"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/sql"
)

// tablesVersion is the version of the last migration that makes tables; the functions need no more than those.
const tablesVersion = 2

func TestMigratedFunctionsAreThoseOfTheSourceDirectory(t *testing.T) {
	if found := drift(t, sql.FS); found != nil {
		t.Errorf("sql/functions and the snapshots of the migrations differ:\n%s", strings.Join(found, "\n"))
	}
}

func TestOneChangedCharacterOfAFunctionIsFound(t *testing.T) {
	const name = "functions/work/backoff.sql"
	for _, c := range []struct{ what, old, new string }{
		{"body", "$$", "$$ "},
		{"comment", " is\n  '", " is\n  ' "},
	} {
		files := copyFiles(t)
		changed := bytes.Replace(files[name].Data, []byte(c.old), []byte(c.new), 1)
		if bytes.Equal(changed, files[name].Data) {
			t.Fatalf("%s has no %q to change", name, c.old)
		}
		files[name].Data = changed
		if found := drift(t, files); len(found) != 2 {
			t.Errorf("a changed %s is found as %q", c.what, found)
		}
	}
}

// drift returns in what the functions of our migrations and those of the directory functions of files differ.
func drift(t *testing.T, files fs.FS) []string {
	t.Helper()
	migrated := pgtest.EmptyDatabase(t)
	up(t, migrated, migrate.Config{})

	installed := connect(t, pgtest.EmptyDatabase(t))
	const schema = `"graphile_worker"`
	execute(t, installed, "create schema "+schema)
	runner, err := tern.NewMigrator(t.Context(), installed, schema+"._gw_schema_version")
	if err != nil {
		t.Fatal(err)
	}
	runner.Data = map[string]any{"schema": schema}
	if err := runner.LoadMigrations(sub(t, sql.FS, "migrations")); err != nil {
		t.Fatal(err)
	}
	if err := runner.MigrateTo(t.Context(), tablesVersion); err != nil {
		t.Fatal(err)
	}
	code, err := tern.LoadCodePackage(sub(t, files, "functions"))
	if err != nil {
		t.Fatal(err)
	}
	if err := tern.InstallCodePackage(t.Context(), installed, runner.Data, code); err != nil {
		t.Fatal(err)
	}
	return differences(functions(t, connect(t, migrated), "graphile_worker"), functions(t, installed, "graphile_worker"))
}

// functions returns the functions of a schema, with their rights and comments.
func functions(t *testing.T, conn *pgx.Conn, schema string) []string {
	t.Helper()
	lines := texts(t, conn, `
		select format(E'%s\nacl %s\ncomment %s', pg_get_functiondef(p.oid), p.proacl, obj_description(p.oid, 'pg_proc'))
		  from pg_proc as p
		 where p.pronamespace = $1::regnamespace
		   and p.prokind in ('f', 'p')
		 order by 1`, schema)
	if len(lines) == 0 {
		t.Fatal("there are no functions")
	}
	return lines
}

func sub(t *testing.T, files fs.FS, dir string) fs.FS {
	t.Helper()
	files, err := fs.Sub(files, dir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
