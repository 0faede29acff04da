package migrate_test

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	tern "github.com/jackc/tern/v2/migrate"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/release"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/sql"
)

func TestMigratedFunctionsAreThoseOfTheSourceDirectory(t *testing.T) {
	for name, files := range map[string]fs.FS{"this release": sql.FS, "a later one": laterRelease(t)} {
		if found := drift(t, files, files); found != nil {
			t.Errorf("%s: sql/functions and the snapshots of the migrations differ:\n%s", name,
				strings.Join(found, "\n"))
		}
	}
}

func TestOneChangedCharacterOfAFunctionIsFound(t *testing.T) {
	pgtest.OnOneVersion(t)
	const name = "functions/report/backoff.sql"
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
		if found := drift(t, sql.FS, files); len(found) != 2 {
			t.Errorf("a changed %s is found as %q", c.what, found)
		}
	}
}

// drift returns in what the functions that migrations leave and those of the directory functions differ.
func drift(t *testing.T, migrations, sources fs.FS) []string {
	t.Helper()
	migrated, installed := pgtest.EmptyDatabase(t), pgtest.EmptyDatabase(t)
	for _, database := range []string{migrated, installed} {
		if _, err := newMigratorFrom(t, database, migrate.Config{}, migrations).Up(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	conn := connect(t, installed)
	execute(t, conn, `do $$
		declare f regprocedure;
		begin
		  for f in select p.oid from pg_proc as p where p.pronamespace = 'graphile_worker'::regnamespace loop
		    execute format('drop routine if exists %s cascade', f);
		  end loop;
		end $$`)
	code, err := tern.LoadCodePackage(withComments(t, sub(t, sources, "functions")))
	if err != nil {
		t.Fatal(err)
	}
	if err := tern.InstallCodePackage(t.Context(), conn, map[string]any{"schema": `"graphile_worker"`},
		code); err != nil {
		t.Fatal(err)
	}
	return differences(functions(t, connect(t, migrated), "graphile_worker"), functions(t, conn, "graphile_worker"))
}

// withComments returns the files of the directory functions with the comments that a snapshot gets.
func withComments(t *testing.T, sources fs.FS) fs.FS {
	t.Helper()
	files := make(fstest.MapFS)
	err := fs.WalkDir(sources, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(sources, path)
		files[path] = &fstest.MapFile{Data: []byte(release.WithComments(string(text)))}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
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
