package release

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// firstFunctions is the migration that installs all functions.
const firstFunctions = "000003"

const installFile = "install.sql"

// Snapshot writes the functions of a directory to the snapshot that is not released yet. Before the first release the
// snapshot contains all functions. Afterwards it contains those that differ from the releases, and Snapshot also writes
// the migration that installs it, or removes both when nothing differs any more. It returns an error if a released file
// was changed.
func Snapshot(directory string) error {
	if err := Check(directory); err != nil {
		return err
	}
	sums, err := ReadChecksums(directory)
	if err != nil {
		return err
	}
	functions, err := readSource(filepath.Join(directory, functionsFolder))
	if err != nil {
		return fmt.Errorf("read functions: %w", err)
	}
	for name, text := range functions {
		functions[name] = WithComments(text)
	}
	first := snapshotsFolder + "/" + firstFunctions + "/" + installFile
	if _, released := sums[first]; !released {
		return writeSnapshot(directory, firstFunctions, functions)
	}

	before, err := released(directory, sums)
	if err != nil {
		return err
	}
	delta, err := difference(before, functions)
	if err != nil {
		return err
	}
	return writeDelta(directory, sums, delta)
}

// released returns the functions after all released snapshots.
func released(directory string, sums Checksums) (source, error) {
	state := make(source)
	for _, path := range slices.Sorted(maps.Keys(sums)) {
		number := snapshotOf(path)
		if number == "" || !strings.HasSuffix(path, number+"/"+installFile) {
			continue
		}
		files, err := readSource(filepath.Join(directory, migrationsFolder, snapshotsFolder, number))
		if err != nil {
			return nil, fmt.Errorf("read snapshot %s: %w", number, err)
		}
		dropped := named(files[installFile], dropPattern)
		for name, text := range state {
			makes := slices.Collect(maps.Keys(functionsIn(text)))
			isGone := func(object string) bool { return slices.Contains(dropped, object) }
			if len(makes) > 0 && len(slices.DeleteFunc(makes, isGone)) == 0 {
				delete(state, name)
			}
		}
		maps.Copy(state, files)
	}
	return state, nil
}

var (
	dropPattern     = regexp.MustCompile(`(?m)^select \{\{\.schema\}\}\._gw_drop\('(.*)'\);$`)
	templatePattern = regexp.MustCompile(`\{\{ template "([^"]+)" \. \}\}`)
)

// named returns the names in an install.sql that a pattern matches: those of the files that it loads, in order, or of
// the objects that it drops.
func named(install string, pattern *regexp.Regexp) (names []string) {
	for _, match := range pattern.FindAllStringSubmatch(install, -1) {
		names = append(names, match[1])
	}
	return names
}

// difference returns the files of a snapshot that changes the functions before into those after.
func difference(before, after source) (source, error) {
	delta := make(source)
	var install strings.Builder
	install.WriteString("-- Written by make snapshot: the differences of sql/functions from the earlier snapshots.\n")

	made := after.functions()
	var dropped []string
	for object, f := range before.functions() {
		if later, ok := made[object]; !ok || f.needsDrop(later) {
			dropped = append(dropped, object)
		}
	}
	slices.Sort(dropped)
	for i, object := range dropped {
		if isShared(object) {
			return nil, fmt.Errorf("%s: its arguments and results are those of Graphile Worker, and may not change",
				object)
		}
		if i == 0 {
			install.WriteString("\n-- Dropped, or created again with other arguments or results.\n")
		}
		fmt.Fprintf(&install, "select {{.schema}}._gw_drop('%s');\n", object)
	}

	changed := 0
	for _, name := range named(after[installFile], templatePattern) {
		text, ok := after[name]
		if !ok {
			return nil, fmt.Errorf("%s/%s names %s, which does not exist", functionsFolder, installFile, name)
		}
		if withoutHeaders(text) == withoutHeaders(before[name]) {
			continue
		}
		if changed++; changed == 1 {
			install.WriteString("\n")
		}
		delta[name] = text
		fmt.Fprintf(&install, "{{ template %q . }}\n", name)
	}
	if changed > 0 || len(dropped) > 0 {
		delta[installFile] = install.String()
	}
	return delta, nil
}

// isShared reports whether a function is one of Graphile Worker's seven.
func isShared(object string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(object, "function "), "(")
	return slices.Contains([]string{
		"add_job", "add_jobs", "remove_job", "complete_jobs", "permanently_fail_jobs", "reschedule_jobs",
		"force_unlock_workers",
	}, name)
}

// writeDelta writes the snapshot and, where there is none, the migration that installs it.
func writeDelta(directory string, sums Checksums, delta source) error {
	name, next, err := openMigration(directory, sums)
	if err != nil {
		return err
	}
	number := next
	if name != "" {
		number = name[:len(firstFunctions)]
	}
	path := filepath.Join(directory, migrationsFolder, name)
	plain := fmt.Sprintf(migrationText, number)
	if len(delta) == 0 {
		if name == "" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read migration: %w", err)
		}
		if string(text) == plain {
			return errors.Join(os.Remove(path), os.RemoveAll(snapshotFolder(directory, number)))
		}
		delta = source{installFile: "-- Written by make snapshot: sql/functions does not differ from the earlier snapshots.\n"}
	}
	if name == "" {
		if err := writeFile(filepath.Join(path, number+"_functions.sql"),
			plain); err != nil { // path is the folder then
			return err
		}
	}
	return writeSnapshot(directory, number, delta)
}

// migrationText is a migration that installs a snapshot, to which other changes can be added by hand.
const migrationText = `-- The functions that differ from those of the release before, in snapshots/%[1]s; both are written by make snapshot. Add by
-- hand what else changes: what the functions need before they are installed, what needs them after that.
{{ install_snapshot "%[1]s" }}

select {{.schema}}._gw_finish_migration();
`

// openMigration returns the name of the migration that installs the unreleased snapshot, "" if there is none, and the
// number of the next migration.
func openMigration(directory string, sums Checksums) (name, next string, err error) {
	names, err := filepath.Glob(filepath.Join(directory, migrationsFolder, "*.sql"))
	if err != nil {
		return "", "", fmt.Errorf("list migrations: %w", err)
	}
	for _, path := range names {
		base := filepath.Base(path)
		text, err := os.ReadFile(path)
		if err != nil {
			return "", "", fmt.Errorf("read migration: %w", err)
		}
		if _, isReleased := sums[base]; isReleased || !strings.Contains(string(text), "install_snapshot") {
			continue
		}
		if name != "" {
			return "", "", fmt.Errorf("%s and %s both install a snapshot, and neither is released: keep one", name,
				base)
		}
		name = base
	}
	return name, fmt.Sprintf("%06d", len(names)+1), nil
}

func snapshotFolder(directory, number string) string {
	return filepath.Join(directory, migrationsFolder, snapshotsFolder, number)
}

// writeSnapshot replaces the files of a snapshot.
func writeSnapshot(directory, number string, files source) error {
	folder := snapshotFolder(directory, number)
	if err := os.RemoveAll(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove old snapshot: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeFile(filepath.Join(folder, filepath.FromSlash(name)), files[name]); err != nil {
			return err
		}
	}
	return nil
}
