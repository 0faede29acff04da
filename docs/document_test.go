package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// root is the top of the repository, where README.md lies and the paths in the documents begin.
const root = ".."

// block is a fenced piece of code in a document.
type block struct {
	language string
	before   string // the text since the block before it
	line     int    // of its first line of code, from 1
	code     string // with the last line end
	source   string // the file that it says it is taken from, empty if it says nothing
}

// A block that is also in a file which is tested has this line above it.
var takenFrom = regexp.MustCompile(`^<!-- tested: (\S+) -->$`)

// documents returns the paths of what we have written for users.
func documents(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(paths, filepath.Join(root, "README.md"), filepath.Join(root, "CHANGELOG.md"),
		filepath.Join(root, "CONTRIBUTING.md"))
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// blocks returns the fenced code of a document in order.
func blocks(t *testing.T, path string) []block {
	t.Helper()
	var found []block
	var current *block
	var before, above string
	for i, line := range strings.SplitAfter(read(t, path), "\n") {
		text := strings.TrimSuffix(line, "\n")
		fence, isFence := strings.CutPrefix(text, "```")
		switch {
		case isFence && current == nil:
			current = &block{language: fence, before: before, line: i + 2}
			if match := takenFrom.FindStringSubmatch(above); match != nil {
				current.source = match[1]
			}
		case isFence:
			found = append(found, *current)
			current, before = nil, ""
		case current != nil:
			current.code += line
		default:
			before += line
		}
		above = text
	}
	if current != nil {
		t.Fatalf("%s:%d: the code has no end", path, current.line)
	}
	return found
}
