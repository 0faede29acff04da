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

// usualPlaces are the folders where packagers put the server's binaries, which they often keep out of PATH.
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

// findBinaries returns the folder with initdb and postgres: the one that pg_config names, else the one in PATH, else the
// newest of those that match the patterns.
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
	return "", unavailable("initdb and postgres are neither where pg_config says, nor in PATH, nor in " + strings.Join(patterns, ", "))
}

// checkBinaries says whether a folder has what a server needs; client packages come without it.
func checkBinaries(dir string) error {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("look for the server's binaries: %w", err)
		}
	}
	return nil
}

// newestFirst lists the folders that match, by the number in their path (9.6 sorts as 9), the highest first.
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
