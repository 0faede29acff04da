package serve

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gwsql/gw/internal/config"
)

// A service stays, with its children and with the flags that it knows, as long as its task is the same.
func TestATaskThatHasMovedInTheFileIsTheSame(t *testing.T) {
	parse := func(text string) config.Task {
		t.Helper()
		file, err := config.Parse(filepath.Join(t.TempDir(), "gw.yaml"), text, os.Getenv)
		if err != nil {
			t.Fatal(err)
		}
		return file.Tasks["a"]
	}
	before := &service{made: parse("tasks:\n  a: {exec: sh, directory: /, timeout: 5s, forbidden_flags: {query: select 1}}\n")}
	for text, same := range map[string]bool{
		"# moved\ntasks:\n  a:   {exec: sh, directory: /, timeout: 5s, forbidden_flags:  {query: select 1}}\n": true,
		"tasks:\n  a: {exec: sh, directory: /, timeout: 6s, forbidden_flags: {query: select 1}}\n":             false,
		"tasks:\n  a: {exec: sh, directory: /, timeout: 5s, forbidden_flags: {query: select 2}}\n":             false,
		"tasks:\n  a: {exec: sh, directory: /, timeout: 5s, forbidden_flags: [select]}\n":                      false,
		"tasks:\n  a: {exec: sh, directory: /, timeout: 5s}\n":                                                 false,
	} {
		if got := before.serves(parse(text)); got != same {
			t.Errorf("%q is the same: %t", text, got)
		}
	}
}
