package pgtemp

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// usualPlaces returns patterns of the folders in which packages install the server's binaries, often outside of PATH.
func usualPlaces() []string {
	return []string{
		"/usr/lib/postgresql/*/bin",                          // Debian, Ubuntu
		"/usr/pgsql-*/bin",                                   // PostgreSQL's own RPMs
		"/usr/libexec/postgresql*",                           // Alpine
		"/opt/homebrew/opt/postgresql*/bin",                  // Homebrew on Apple silicon
		"/usr/local/opt/postgresql*/bin",                     // Homebrew on Intel
		"/Applications/Postgres.app/Contents/Versions/*/bin", // Postgres.app
		"/usr/local/pgsql/bin",                               // built from source
	}
}

// findBinaries returns the folder with initdb and postgres: the one that pg_config prints, otherwise the one in PATH,
// otherwise the newest of those that match the patterns.
func findBinaries(patterns []string) (string, error) {
	var candidates []string
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		candidates = append(candidates, strings.TrimSpace(string(out)))
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		candidates = append(candidates, filepath.Dir(path))
	}
	candidates = append(candidates, newestFirst(patterns)...)
	for _, dir := range candidates {
		if checkBinaries(dir) == nil {
			return dir, nil
		}
	}
	return "", unavailable("initdb and postgres are neither in the folder that pg_config prints, nor in PATH, nor in " +
		strings.Join(patterns, ", "))
}

// checkBinaries returns an error if a folder lacks binaries that a server needs. Client packages do not contain them.
func checkBinaries(dir string) error {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("look for the server's binaries: %w", err)
		}
	}
	return nil
}

// newestFirst returns the folders that match, sorted by the number in their path (9.6 sorts as 9), the highest first.
func newestFirst(patterns []string) []string {
	var dirs []string
	for _, pattern := range patterns {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			continue // only a malformed pattern is an error
		}
		dirs = append(dirs, matches...)
	}
	number := regexp.MustCompile(`\d+`)
	version := func(dir string) int {
		n, err := strconv.Atoi(number.FindString(dir))
		if err != nil {
			return 0
		}
		return n
	}
	slices.SortStableFunc(dirs, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	return dirs
}
