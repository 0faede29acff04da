package migrate_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/release"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/sql"
)

// laterRelease returns the files of a release after this tree; see laterThan.
func laterRelease(t *testing.T) fs.FS {
	t.Helper()
	return laterThan(t, sql.FS)
}

// laterThan returns the files of the release after one, with the migration that make snapshot writes for it and that
// makes a table, too: _gw_mark_escapes(json, text) is gone, _gw_without_marks has one argument more, backoff has
// another body, and _gw_newest() is new.
func laterThan(t *testing.T, files fs.FS) fs.FS {
	t.Helper()
	directory := copyToFolder(t, files)
	migrations, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	if err := release.Freeze(directory); err != nil {
		t.Fatal(err)
	}
	const marks = "functions/shared/_gw_mark_escapes.sql"
	text := readText(t, directory, marks)
	writeText(t, directory, marks, text[:strings.Index(text,
		"-- Returns the JSON with a mark")]+text[strings.LastIndex(text, "\n\n")+2:])
	edit(t, directory, marks, "mark text)", "mark text, more text default '')")
	edit(t, directory, "functions/report/backoff.sql", "as $$", "as $$ /* later */ ")
	edit(t, directory, "functions/install.sql", `{{ template "report/backoff.sql" . }}`,
		`{{ template "report/_gw_newest.sql" . }}`+"\n"+`{{ template "report/backoff.sql" . }}`)
	writeText(t, directory, "functions/report/_gw_newest.sql", `-- The newest.
create or replace function {{.schema}}._gw_newest(
)
  returns integer
  language sql
as $$
  select max(l.id) from {{.schema}}._gw_later as l
$$;
`)
	if err := release.Snapshot(directory); err != nil {
		t.Fatal(err)
	}
	edit(t, directory, fmt.Sprintf("migrations/%06d_functions.sql", len(migrations)+1), "{{ install_snapshot",
		"create table {{.schema}}._gw_later (id integer generated always as identity primary key);\n{{ install_snapshot")
	edit(t, directory, "extension/dump.sql", "'_private_tasks',", "'_private_tasks', '_gw_later', '_gw_later_id_seq',")
	return os.DirFS(directory)
}

// On every way to a release that drops functions, status, doctor(), repair and the migrations agree about which objects
// belong to gw.
func TestAMigrationThatDropsFunctionsIsKnownToEverybody(t *testing.T) {
	later := laterRelease(t)
	fresh := pgtest.EmptyDatabase(t)
	if _, err := newMigratorFrom(t, fresh, migrate.Config{}, later).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := functions(t, connect(t, fresh), "graphile_worker")
	for name, install := range map[string]func(t *testing.T, database string){
		"at once": func(t *testing.T, database string) {
			if _, err := newMigratorFrom(t, database, migrate.Config{}, later).Up(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"release by release": func(t *testing.T, database string) {
			up(t, database, migrate.Config{})
			if _, err := newMigratorFrom(t, database, migrate.Config{}, later).Up(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"by plain tern": func(t *testing.T, database string) {
			execute(t, connect(t, database), "create schema graphile_worker")
			for _, files := range []fs.FS{sql.FS, later} {
				if err := ternMigrate(t, database, "graphile_worker", files); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			database := pgtest.EmptyDatabase(t)
			install(t, database)
			conn := connect(t, database)
			m := newMigratorFrom(t, database, migrate.Config{}, later)
			expectAllIsOurs := func(what string) {
				t.Helper()
				status, err := m.Status(t.Context())
				if err != nil || status.State != migrate.Current || len(status.Changed()) > 0 ||
					len(status.Objects) != len(want)+2 {
					t.Errorf("%s: state %s, %d objects, changed %v, %v", what, status.State, len(status.Objects),
						status.Changed(), err)
				}
				if told := texts(t, conn, "select d.subject from graphile_worker.doctor() as d"); len(told) > 0 {
					t.Errorf("%s: doctor() tells of %v", what, told)
				}
			}
			expectAllIsOurs("after the upgrade")
			if repaired, err := m.Repair(t.Context()); err != nil || len(repaired.Replaced)+len(repaired.Left) > 0 {
				t.Errorf("repair: %+v, %v", repaired, err)
			}
			if name != "by plain tern" { // which gets the schema's name without quotes
				if found := differences(want, functions(t, conn, "graphile_worker")); found != nil {
					t.Errorf("functions differ from those of a fresh install:\n%s", strings.Join(found, "\n"))
				}
			}

			execute(t, conn, `drop function graphile_worker._gw_newest;
				drop function graphile_worker._gw_without_marks;
				create or replace function graphile_worker.backoff(attempts integer) returns interval language sql as 'select null::interval'`)
			repaired, err := m.Repair(t.Context())
			if err != nil || len(repaired.Replaced) != 3 || len(repaired.Left) > 0 {
				t.Errorf("repair of three: %+v, %v", repaired, err)
			}
			expectAllIsOurs("after the repair")
		})
	}
}

// Only the records of the objects that a migration drops are deleted.
func TestAFunctionThatSomebodyDroppedIsMissedAfterAnUpgradeToo(t *testing.T) {
	pgtest.OnOneVersion(t)
	later := laterRelease(t)
	database := pgtest.Database(t)
	conn := connect(t, database)
	execute(t, conn, "drop function graphile_worker.next_run_at; drop function graphile_worker._gw_mark_escapes")
	m := newMigratorFrom(t, database, migrate.Config{}, later)
	if _, err := m.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	status, err := m.Status(t.Context())
	want := []migrate.Object{{Kind: migrate.Function, Name: "next_run_at(text[])", Origin: migrate.Missing}}
	if err != nil || !slices.Equal(status.Changed(), want) {
		t.Errorf("status: %v, %v", status.Changed(), err)
	}
	if got := told(t, conn); !slices.Equal(got, []string{"function next_run_at(text[])"}) {
		t.Errorf("doctor() tells of %v", got)
	}
	if repaired, err := m.Repair(t.Context()); err != nil || !slices.Equal(repaired.Replaced, want) {
		t.Errorf("repair: %+v, %v", repaired, err)
	}
}

func TestOnlyWhatIsOursIsDroppedByAMigration(t *testing.T) {
	conn := connect(t, pgtest.Database(t))
	execute(t, conn, "create function graphile_worker.mine() returns void language sql as ''")
	for _, object := range []string{"function mine()", "function backoff(text)", "table migrations"} {
		if _, err := conn.Exec(t.Context(), "select graphile_worker._gw_drop($1)", object); err == nil ||
			!strings.Contains(err.Error(), "No migration has created a "+object+" in schema graphile_worker. (SQLSTATE 42704)") {
			t.Errorf("%s: %v", object, err)
		}
	}
	execute(t, conn, "select graphile_worker._gw_drop('trigger _gw_contexts_put on _gw_job_context')")
	if got := told(t, conn); len(got) > 0 {
		t.Errorf("doctor() tells of %v", got)
	}
}

// While a program waits to migrate, one of a later release can do it.
func TestAProgramThatALaterReleaseOvertakesLeavesItsSchemaAsItIs(t *testing.T) {
	pgtest.OnOneVersion(t)
	later := laterRelease(t)
	database := pgtest.EmptyDatabase(t)
	if _, err := newMigratorFrom(t, database, migrate.Config{}, upTo(t, available(t)-1)).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	holder := connect(t, database)
	execute(t, holder, "select pg_advisory_lock("+ternLock+")")
	overtaken := false
	m := newMigrator(t, database, migrate.Config{LockTimeout: shortLockTimeout, OnStep: func(step migrate.Step) {
		if step.Action != migrate.Wait || overtaken {
			return
		}
		overtaken = true
		execute(t, holder, "select pg_advisory_unlock("+ternLock+")")
		if _, err := newMigratorFrom(t, database, migrate.Config{}, later).Up(t.Context()); err != nil {
			t.Error(err)
		}
	}})
	result, err := m.Up(t.Context())
	if err != nil || !overtaken || result.After != available(t)+1 || result.Applied != nil {
		t.Errorf("overtaken %v: %+v, %v", overtaken, result, err)
	}
}

// Savepoints hide which functions are made in a transaction.
func TestAnInstallWithSavepointsIsRefused(t *testing.T) {
	text, err := migrate.SQL("")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := connect(t, pgtest.EmptyDatabase(t)).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	savepoint, err := tx.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = savepoint.Exec(t.Context(), text)
	if err == nil || !strings.Contains(err.Error(), "No function of this transaction was found. (SQLSTATE 42704)") {
		t.Errorf("got %v", err)
	}
}

func TestEveryMigrationThatMakesFunctionsRecordsThem(t *testing.T) {
	migrations, err := migrate.Migrations(laterRelease(t), "jobs")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range migrations[functionsVersion-1:] {
		if !strings.HasSuffix(strings.TrimSpace(m.SQL), "\nselect \"jobs\"._gw_finish_migration();") {
			t.Errorf("%s does not end with: select {{.schema}}._gw_finish_migration();", m.Name)
		}
	}
}

func readText(t *testing.T, directory, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(directory, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func writeText(t *testing.T, directory, name, text string) {
	t.Helper()
	path := filepath.Join(directory, name)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) { // copies of embedded files are read-only
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// edit replaces a part of a file, which must have it.
func edit(t *testing.T, directory, name, from, to string) {
	t.Helper()
	text := readText(t, directory, name)
	if !strings.Contains(text, from) {
		t.Fatalf("%s has no %q", name, from)
	}
	writeText(t, directory, name, strings.Replace(text, from, to, 1))
}
