package docs_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// The quick start explains each message of the first log, with the logged text.
func TestTheMessagesOfTheLogTableAreLogged(t *testing.T) {
	pgtest.OnOneVersion(t)
	_, section, _ := strings.Cut(read(t, "quick-start.md"), "\n## The log\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var code strings.Builder
	for _, dir := range []string{"pkg/shim", "internal/serve"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
				code.WriteString(read(t, path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	messages := 0
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]+) \\|").FindAllStringSubmatch(section, -1) {
		for _, message := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			messages++
			if !strings.Contains(code.String(), `"`+message[1]+`"`) {
				t.Errorf("quick-start.md explains the message %q, which nobody logs", message[1])
			}
		}
	}
	if messages < 10 {
		t.Errorf("quick-start.md explains %d messages, want a table of them", messages)
	}
}
