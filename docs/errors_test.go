package docs_test

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/gwsql/gw/sql"
)

func TestEveryErrorCodeIsInTheTableAndTheTableHasNoOther(t *testing.T) {
	raised := raisedCodes(t)
	documented := make(map[string]bool)
	for _, row := range regexp.MustCompile("(?m)^\\| `(GW[A-Z]{3})` \\|").FindAllStringSubmatch(read(t, "errors.md"), -1) {
		if documented[row[1]] {
			t.Errorf("errors.md has %s twice", row[1])
		}
		documented[row[1]] = true
	}
	for _, code := range slices.Sorted(maps.Keys(raised)) {
		if !documented[code] {
			t.Errorf("errors.md lacks %s, which %s raises", code, raised[code])
		}
	}
	for _, code := range slices.Sorted(maps.Keys(documented)) {
		if raised[code] == "" {
			t.Errorf("errors.md has %s, which nothing raises", code)
		}
	}
}

// raisedCodes returns the SQLSTATEs of ours that the functions raise, each with a file that does.
func raisedCodes(t *testing.T) map[string]string {
	t.Helper()
	code := regexp.MustCompile(`'(GW[A-Z]{3})'`)
	raised := make(map[string]string)
	err := fs.WalkDir(sql.FS, "functions", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(sql.FS, path)
		for _, match := range code.FindAllSubmatch(content, -1) {
			raised[string(match[1])] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return raised
}
