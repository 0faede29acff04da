package lint

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// make lint-release names the folder with what GoReleaser wrote.
func TestTheArchivesOfAReleaseContainEverything(t *testing.T) {
	dist := os.Getenv("GW_TEST_DIST")
	if dist == "" {
		t.Skip("GW_TEST_DIST is not set: make lint-release makes a release")
	}
	archives, err := filepath.Glob(filepath.Join(dist, "*.tar.gz"))
	if err != nil || len(archives) != 4 {
		t.Fatalf("archives %v, %v", archives, err)
	}
	want := []string{"gw-run", "gw-migrate", "LICENSE", "README.md", "CHANGELOG.md",
		"licenses/list.txt", "licenses/go/LICENSE", "licenses/github.com/jackc/pgx/v5/LICENSE", "licenses/github.com/prometheus/procfs/NOTICE"}
	for _, program := range want[:2] {
		for _, shell := range []string{"bash", "zsh", "fish"} {
			want = append(want, "completions/"+program+"."+shell)
		}
	}
	for _, archive := range archives {
		files := contents(t, archive)
		for _, name := range want {
			if files[name] == 0 {
				t.Errorf("%s lacks %s", filepath.Base(archive), name)
			}
		}
	}
	for _, pattern := range []string{"*.deb", "*.rpm", "*_checksums.txt"} {
		if found, err := filepath.Glob(filepath.Join(dist, pattern)); err != nil || len(found) == 0 {
			t.Errorf("no %s, %v", pattern, err)
		}
	}
	checkLicenses(t)
}

// checkLicenses wants a licence for every dependency of the list.
func checkLicenses(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(read(t, "build/release/licenses/list.txt")) {
		if fields := strings.Fields(line); len(fields) != 0 && (len(fields) != 3 || fields[2] == "Unknown") {
			t.Errorf("licence of %q", line)
		}
	}
}

// contents returns the sizes of the files in an archive.
func contents(t *testing.T, path string) map[string]int64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]int64)
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = header.Size
	}
}
