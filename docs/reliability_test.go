package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// promised is a row of one of reliability.md's tables of promises: what is promised, and its tests.
var promised = regexp.MustCompile("(?m)^([A-Z].*?) \\| (`[^|\n]*`)$")

func TestEveryPromiseNamesTestsThatExist(t *testing.T) {
	rows := promised.FindAllStringSubmatch(read(t, "reliability.md"), -1)
	if len(rows) < 10 {
		t.Fatalf("reliability.md makes %d promises", len(rows))
	}
	functions := testFunctions(t)
	for _, row := range rows {
		for _, name := range strings.Split(row[2], ", ") {
			name = strings.Trim(name, "`")
			if strings.HasPrefix(name, "Test") {
				if !functions[name] {
					t.Errorf("there is no test %s, which %q names", name, row[1])
				}
				continue
			}
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("%q names a test that cannot be read: %v", row[1], err)
			}
		}
	}
}

// testFunctions returns the names of all tests in Go.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	names := make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "node_modules":
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		for _, match := range function.FindAllStringSubmatch(read(t, path), -1) {
			names[match[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
