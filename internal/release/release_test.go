package release_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/release"
	"github.com/gwsql/gw/sql"
)

func TestTheFilesOfReleasesAreAsTheyWereReleased(t *testing.T) {
	if err := release.Check("../../sql"); err != nil {
		t.Error(err)
	}
}

func TestAChangedReleasedFileIsNamedWithWhatToDo(t *testing.T) {
	for want, change := range map[string]func(directory string) error{
		"migrations/000001_contract.sql was released and has been changed": func(d string) error {
			return appendTo(d+"/migrations/000001_contract.sql", "\n")
		},
		"migrations/snapshots/000003/claim/get_job.sql was released and is missing": func(d string) error {
			return os.Remove(d + "/migrations/snapshots/000003/claim/get_job.sql")
		},
		"migrations/snapshots/000003/claim/mine.sql is new in a snapshot that has been released": func(d string) error {
			return os.WriteFile(d+"/migrations/snapshots/000003/claim/mine.sql", nil, 0o644)
		},
	} {
		directory := released(t)
		if err := release.Check(directory); err != nil {
			t.Fatal(err)
		}
		if err := change(directory); err != nil {
			t.Fatal(err)
		}
		before := list(t, directory)
		for name, refuse := range map[string]func(string) error{"check": release.Check, "snapshot": release.Snapshot,
			"freeze": release.Freeze} {
			err := refuse(directory)
			if err == nil || !strings.Contains(err.Error(), want+"\n") ||
				!strings.Contains(err.Error(), "restore them with git") {
				t.Errorf("%s: want %q, got %v", name, want, err)
			}
		}
		if after := list(t, directory); after != before {
			t.Error("something is written nevertheless")
		}
	}
}

func TestUntilTheFirstReleaseTheSnapshotIsAllFunctionsAsTheyAre(t *testing.T) {
	directory := copySQL(t)
	if err := os.Remove(directory + "/migrations/CHECKSUMS"); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	before := nextNumber(t, directory)
	edit(t, directory, "functions/report/backoff.sql", "comment on function", "-- changed\ncomment on function")
	edit(t, directory, "functions/install.sql", `{{ template "claim/wake_up.sql" . }}`, "")
	if err := os.Remove(directory + "/functions/claim/wake_up.sql"); err != nil {
		t.Fatal(err)
	}
	snapshot(t, directory)
	for _, name := range []string{"install.sql", "report/backoff.sql"} {
		if read(t, directory, "migrations/snapshots/000003/"+name) != release.WithComments(read(t, directory,
			"functions/"+name)) {
			t.Errorf("%s of the snapshot is another one", name)
		}
	}
	if exists(directory+"/migrations/snapshots/000003/claim/wake_up.sql") || nextNumber(t, directory) != before {
		t.Error("a removed function is left, or dropped by a migration")
	}
}

func TestASnapshotHasACommentOnEachInternalFunction(t *testing.T) {
	for source, want := range map[string]string{
		"-- Returns it's sum, of a and b. Locks: nothing.\ncreate or replace function {{.schema}}._gw_sum(a integer, inout b text[],\n" +
			"  out c text, variadic d text[] default '{}')\n  language sql\nas $x$\n  select $$;\n$$\n$x$;\n": "\n" +
			"comment on function {{.schema}}._gw_sum(integer, text[], text[]) is 'Internal: returns it''s sum, of a and b.';\n",
		"-- Does it.\ncreate or replace procedure {{.schema}}._gw_do()\nas $$\n$$;\n": "\n" +
			"comment on procedure {{.schema}}._gw_do() is 'Internal: does it.';\n",
		"-- One.\ncreate or replace function {{.schema}}._gw_one()\nas $$\n$$;\n\ncomment on function {{.schema}}._gw_one() is 'One.';\n": "",
		"-- For users.\ncreate or replace function {{.schema}}.two()\nas $$\n$$;\n":                                                       "",
	} {
		if got := release.WithComments(source); got != source+want {
			t.Errorf("the comment on\n%s\nis\n%s", source, strings.TrimPrefix(got, source))
		}
	}
}

func TestASnapshotHasWhatDiffersFromTheReleasesAndNothingElse(t *testing.T) {
	directory := released(t)
	snapshot(t, directory)
	if number := nextNumber(t, directory); exists(directory + "/migrations/snapshots/" + number) {
		t.Fatal("there is a snapshot, though nothing differs")
	}
	number := nextNumber(t, directory)
	original := read(t, directory, "functions/report/backoff.sql")

	edit(t, directory, "functions/report/backoff.sql", "-- ", "-- A comment that reaches no database. ")
	snapshot(t, directory)
	if exists(directory + "/migrations/snapshots/" + number) {
		t.Fatal("there is a snapshot, though only a comment beside functions differs")
	}

	edit(t, directory, "functions/report/backoff.sql", "as $$", "as $$ -- changed")
	edit(t, directory, "functions/install.sql", `{{ template "claim/wake_up.sql" . }}`, "")
	if err := os.Remove(directory + "/functions/claim/wake_up.sql"); err != nil {
		t.Fatal(err)
	}
	edit(t, directory, "functions/cron/_gw_check_zone.sql", "_gw_zone_exists(time_zone text)",
		"_gw_zone_exists(time_zone text, more integer)")
	edit(t, directory, "functions/report/return_unknown_jobs.sql", "returns bigint", "returns setof bigint")
	snapshot(t, directory)
	const drops = `
-- Dropped, or created again with other arguments or results.
select {{.schema}}._gw_drop('function _gw_zone_exists(text)');
select {{.schema}}._gw_drop('function return_unknown_jobs(text,bigint[])');
select {{.schema}}._gw_drop('function wake_up(text)');

{{ template "report/backoff.sql" . }}
{{ template "report/return_unknown_jobs.sql" . }}
{{ template "cron/_gw_check_zone.sql" . }}
`
	folder := "migrations/snapshots/" + number
	if got := read(t, directory, folder+"/install.sql"); !strings.HasSuffix(got, drops) {
		t.Errorf("install.sql is\n%s", got)
	}
	if got := strings.Count(list(t, directory+"/"+folder), "\n"); got != 4 {
		t.Errorf("the snapshot has %d files:\n%s", got, list(t, directory+"/"+folder))
	}
	migration := read(t, directory, "migrations/"+number+"_functions.sql")
	if !strings.Contains(migration, `{{ install_snapshot "`+number+`" }}`) ||
		!strings.HasSuffix(migration, "_gw_finish_migration();\n") {
		t.Errorf("the migration is\n%s", migration)
	}

	// The release after that starts from all of them.
	freeze(t, directory)
	next := nextNumber(t, directory)
	snapshot(t, directory)
	if exists(directory + "/migrations/snapshots/" + next) {
		t.Error("there is a snapshot right after a release")
	}
	write(t, directory, "functions/report/backoff.sql", original)
	snapshot(t, directory)
	if got := read(t, directory, "migrations/snapshots/"+next+"/install.sql"); strings.Contains(got, "_gw_drop") ||
		strings.Count(got, "template") != 1 {
		t.Errorf("the snapshot after that is\n%s", got)
	}

	// What was undone leaves nothing behind.
	edit(t, directory, "functions/report/backoff.sql", "as $$", "as $$ -- changed")
	snapshot(t, directory)
	if exists(directory+"/migrations/snapshots/"+next) || exists(directory+"/migrations/"+next+"_functions.sql") {
		t.Error("a snapshot of nothing stays")
	}
}

func TestASnapshotIsInstalledByTheMigrationThatSomebodyHasAddedTo(t *testing.T) {
	directory := released(t)
	number := nextNumber(t, directory)
	edit(t, directory, "functions/report/backoff.sql", "as $$", "as $$ -- changed")
	snapshot(t, directory)
	by := "migrations/" + number + "_by_hand.sql"
	if err := os.Rename(directory+"/migrations/"+number+"_functions.sql", filepath.Join(directory, by)); err != nil {
		t.Fatal(err)
	}
	edit(t, directory, by, "{{ install_snapshot", "create table {{.schema}}._gw_more ();\n{{ install_snapshot")
	hand := read(t, directory, by)
	edit(t, directory, "functions/report/backoff.sql", "-- changed", "-- changed again")
	snapshot(t, directory)
	if read(t, directory, by) != hand || exists(directory+"/migrations/"+number+"_functions.sql") {
		t.Error("the migration is written anew")
	}
	if got := read(t, directory, "migrations/snapshots/"+number+"/report/backoff.sql"); !strings.Contains(got,
		"-- changed again") {
		t.Errorf("the snapshot has %s", got)
	}
}

func TestAFunctionOfGraphileWorkerKeepsItsArguments(t *testing.T) {
	directory := released(t)
	edit(t, directory, "functions/produce/remove_job.sql", "(text) is", "(text, text) is")
	if err := release.Snapshot(directory); err == nil ||
		!strings.Contains(err.Error(), "function remove_job(text): its arguments") {
		t.Errorf("got %v", err)
	}
}

func TestAReleaseFreezesMigrationsAndDatesTheChangelog(t *testing.T) {
	repository := t.TempDir()
	directory := copySQL(t)
	if err := os.Rename(directory, repository+"/sql"); err != nil {
		t.Fatal(err)
	}
	write(t, repository, "CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- All.\n\n## [0.0.1] - 2026-01-01\n")
	day := time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)
	for _, version := range []string{"v1", "0.0.1"} {
		if err := release.Cut(repository, version, day); err == nil {
			t.Errorf("version %s is taken", version)
		}
	}
	if err := release.Cut(repository, "98.0.0", day); err != nil {
		t.Fatal(err)
	}
	want := "# Changelog\n\n## [Unreleased]\n\n## [98.0.0] - 2026-11-22\n\n### Added\n\n- All.\n\n## [0.0.1] - 2026-01-01\n"
	if got := read(t, repository, "CHANGELOG.md"); got != want {
		t.Errorf("the changelog is\n%s", got)
	}
	if sums := read(t, repository, "sql/migrations/CHECKSUMS"); !strings.Contains(sums,
		"  snapshots/000003/install.sql\n") {
		t.Errorf("the checksums are\n%s", sums)
	}
	if err := release.Cut(repository, "99.0.0", day); err == nil ||
		!strings.Contains(err.Error(), "nothing that is unreleased") {
		t.Errorf("a second release of nothing: %v", err)
	}
}

func TestAFunctionTakesTheCallsOfAnEarlierOneIfSomethingWasAppended(t *testing.T) {
	earlier := release.Function{Name: "f", Arguments: "a text, b integer DEFAULT 1", Results: "TABLE(x text)"}
	for _, c := range []struct {
		arguments, results string
		want               bool
	}{
		{earlier.Arguments, earlier.Results, true},
		{"a text, b integer DEFAULT 1, c numeric DEFAULT (1, 2)", earlier.Results, true},
		{earlier.Arguments, "TABLE(x text, y text)", true},
		{"a text, b integer DEFAULT 1, c text", earlier.Results, false},
		{"a text", earlier.Results, false},
		{"z text, b integer DEFAULT 1", earlier.Results, false},
		{earlier.Arguments, "TABLE(y text, x text)", false},
		{earlier.Arguments, "TABLE(x text[])", false},
	} {
		later := release.Function{Name: "f", Arguments: c.arguments, Results: c.results}
		if later.Takes(earlier) != c.want {
			t.Errorf("%+v: %v", later, !c.want)
		}
	}
}

// released returns a copy of sql, all of which has been released.
func released(t *testing.T) string {
	t.Helper()
	directory := copySQL(t)
	snapshot(t, directory)
	freeze(t, directory)
	return directory
}

func copySQL(t *testing.T) string {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "sql")
	if err := os.CopyFS(directory, sql.FS); err != nil {
		t.Fatal(err)
	}
	if err := filepath.Walk(directory, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			err = os.Chmod(path, 0o644) // embedded files are read-only
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return directory
}

func snapshot(t *testing.T, directory string) {
	t.Helper()
	if err := release.Snapshot(directory); err != nil {
		t.Fatal(err)
	}
}

func freeze(t *testing.T, directory string) {
	t.Helper()
	if err := release.Freeze(directory); err != nil {
		t.Fatal(err)
	}
}

// nextNumber returns the number of the migration that comes next.
func nextNumber(t *testing.T, directory string) string {
	t.Helper()
	paths, err := filepath.Glob(directory + "/migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%06d", len(paths)+1)
}

func read(t *testing.T, directory, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(directory, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, directory, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// edit replaces a part of a file, which must have it.
func edit(t *testing.T, directory, name, from, to string) {
	t.Helper()
	text := read(t, directory, name)
	if !strings.Contains(text, from) {
		t.Fatalf("%s has no %q", name, from)
	}
	write(t, directory, name, strings.Replace(text, from, to, 1))
}

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// list describes the files below a directory, a line each.
func list(t *testing.T, directory string) string {
	t.Helper()
	var lines strings.Builder
	err := filepath.Walk(directory, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			fmt.Fprintln(&lines, path, info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines.String()
}
