// Package release protects the released SQL files from changes. The file migrations/CHECKSUMS lists every released
// file; none of them may change. Later changes in functions/ are written to a snapshot of their own, with the migration
// that installs it.
//
// A directory is the folder sql of this repository: functions, migrations and their snapshots.
package release

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	migrationsFolder = "migrations"
	snapshotsFolder  = "snapshots" // in migrationsFolder
	functionsFolder  = "functions"

	// checksumsFile is a file in migrationsFolder, in the format of sha256sum.
	checksumsFile = "CHECKSUMS"
)

// Checksums are the SHA-256 sums of the released files, in hexadecimal, by their paths in the folder migrations.
type Checksums map[string]string

// ReadChecksums reads the checksums of a directory. Without the file nothing has been released.
func ReadChecksums(directory string) (Checksums, error) {
	text, err := os.ReadFile(filepath.Join(directory, migrationsFolder, checksumsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Checksums{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read checksums: %w", err)
	}
	sums := make(Checksums)
	for line := range strings.Lines(string(text)) {
		sum, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || len(sum) != hex.EncodedLen(sha256.Size) {
			return nil, fmt.Errorf("read checksums: %s: a line is not as sha256sum writes it: %q", checksumsFile, line)
		}
		sums[path] = sum
	}
	return sums, nil
}

// Check returns an error with each released file that was changed or removed, and the remedy.
func Check(directory string) error {
	sums, err := ReadChecksums(directory)
	if err != nil {
		return err
	}
	found, err := sum(directory)
	if err != nil {
		return err
	}
	var wrong []error
	for _, path := range slices.Sorted(maps.Keys(sums)) {
		switch is, ok := found[path]; {
		case !ok:
			wrong = append(wrong, fmt.Errorf("%s/%s was released and is missing", migrationsFolder, path))
		case is != sums[path]:
			wrong = append(wrong, fmt.Errorf("%s/%s was released and has been changed", migrationsFolder, path))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if _, ok := sums[path]; !ok && sums.hasSnapshot(path) {
			wrong = append(wrong, fmt.Errorf("%s/%s is new in a snapshot that has been released", migrationsFolder,
				path))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w\nDatabases have run the released files: restore them with git. A change of a function goes into %s, "+
			"and make snapshot writes it into a migration of its own; a change of a table is a migration of its own",
			errors.Join(wrong...), functionsFolder)
	}
	return nil
}

// Freeze writes the checksums of all migrations and snapshots of a directory, which marks them as released.
func Freeze(directory string) error {
	if err := Check(directory); err != nil {
		return err
	}
	found, err := sum(directory)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, path := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&text, "%s  %s\n", found[path], path)
	}
	return writeFile(filepath.Join(directory, migrationsFolder, checksumsFile), text.String())
}

// hasSnapshot reports whether a path is in the folder of a released snapshot.
func (c Checksums) hasSnapshot(path string) bool {
	folder := snapshotOf(path)
	return folder != "" && slices.ContainsFunc(slices.Collect(maps.Keys(c)), func(released string) bool {
		return snapshotOf(released) == folder
	})
}

// snapshotOf returns the number of the snapshot that a path in the folder migrations is in; empty if it is in none.
func snapshotOf(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) < 3 || parts[0] != snapshotsFolder {
		return ""
	}
	return parts[1]
}

// sum returns the checksums of all migrations and snapshots in their current state.
func sum(directory string) (Checksums, error) {
	sums := make(Checksums)
	err := readSQL(filepath.Join(directory, migrationsFolder), func(path, text string) {
		sum := sha256.Sum256([]byte(text))
		sums[path] = hex.EncodeToString(sum[:])
	})
	if err != nil {
		return nil, fmt.Errorf("sum up migrations: %w", err)
	}
	return sums, nil
}

// readSQL calls use for each file below a folder, in lexical order, with its path relative to the folder.
func readSQL(folder string, use func(path, text string)) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".sql" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		use(filepath.ToSlash(relative), string(text))
		return nil
	})
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
