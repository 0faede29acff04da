package release

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const unreleased = "## [Unreleased]\n"

// Cut makes a release of the repository in a directory: it writes the checksums of all migrations, and a version and a
// date over the unreleased section of the changelog. On an error it changes nothing.
func Cut(repository, version string, date time.Time) error {
	if !regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`).MatchString(version) {
		return fmt.Errorf("version %q: it is not written as 1.2.3", version)
	}
	path := filepath.Join(repository, "CHANGELOG.md")
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read changelog: %w", err)
	}
	changelog, err := withVersion(string(text), version, date)
	if err != nil {
		return err
	}
	directory := filepath.Join(repository, "sql")
	if err := Snapshot(directory); err != nil {
		return err
	}
	if err := Freeze(directory); err != nil {
		return err
	}
	return writeFile(path, changelog)
}

func withVersion(changelog, version string, date time.Time) (string, error) {
	if strings.Contains(changelog, "## ["+version+"]") {
		return "", fmt.Errorf("the changelog has version %s already", version)
	}
	before, after, ok := strings.Cut(changelog, unreleased)
	if !ok {
		return "", errors.New("the changelog has no section " + strings.TrimSpace(unreleased))
	}
	if next := regexp.MustCompile(`(?m)^## `).Split(after, 2)[0]; strings.TrimSpace(next) == "" {
		return "", errors.New("the changelog has nothing that is unreleased")
	}
	return fmt.Sprintf("%s%s\n## [%s] - %s\n%s", before, unreleased, version, date.UTC().Format(time.DateOnly), after),
		nil
}
