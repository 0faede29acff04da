package task

import (
	"strings"
	"unicode/utf8"
)

const (
	tailLines = 20
	tailBytes = 4 << 10
)

// tail keeps the last lines of an output as text that PostgreSQL can store.
type tail struct {
	lines []string
	size  int
}

// add appends a line and removes the first lines if there is too much text. Of a line that is too long, it keeps the
// end.
func (t *tail) add(line string) {
	line = storable(line)
	if excess := len(line) - tailBytes; excess > 0 {
		for !utf8.RuneStart(line[excess]) {
			excess++
		}
		line = line[excess:]
	}
	t.lines = append(t.lines, line)
	t.size += len(line) + 1
	for len(t.lines) > tailLines || t.size > tailBytes+1 {
		t.size -= len(t.lines[0]) + 1
		t.lines = t.lines[1:]
	}
}

// String returns the lines, joined by line ends.
func (t *tail) String() string {
	return strings.Join(t.lines, "\n")
}

// storable replaces what the type text cannot hold: bytes that are not UTF-8, and the zero byte.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
