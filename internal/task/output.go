package task

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// maxLine is the number of bytes without a line end after which they are passed on as a line.
const maxLine = 16 << 10

// lines is a writer that calls a function for each line that is written to it, without the line end.
type lines struct {
	emit func(line string)
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		length, skip := l.next()
		if length < 0 {
			return len(p), nil
		}
		l.emit(string(bytes.TrimSuffix(l.rest[:length], []byte("\r"))))
		l.rest = l.rest[length+skip:]
	}
}

// next returns the length of the next line and of its line end. A negative length means that no line is complete yet.
func (l *lines) next() (length, skip int) {
	end := bytes.IndexByte(l.rest, '\n')
	if end >= 0 && end <= maxLine {
		return end, 1
	}
	if len(l.rest) < maxLine+utf8.UTFMax {
		return -1, 0
	}
	length = maxLine
	for length > maxLine-utf8.UTFMax && !utf8.RuneStart(l.rest[length]) {
		length-- // do not split a character
	}
	return length, 0
}

// eachLine calls a function for each line of an output, until the output or its deadline ends.
func eachLine(from io.Reader, emit func(line string)) {
	l := &lines{emit: emit}
	_, _ = io.Copy(l, from)
	l.flush()
}

// flush passes on a last line without a line end.
func (l *lines) flush() {
	if len(l.rest) > 0 {
		l.emit(string(l.rest))
		l.rest = nil
	}
}

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

// after returns the error to store: a message, followed by the lines.
func (t *tail) after(message string) error {
	if lines := t.String(); lines != "" {
		message += "\n" + lines
	}
	return errors.New(storable(message))
}

// beginning returns up to most bytes of a text, and whether the text is longer. It does not split a character.
func beginning(text string, most int) (start string, isCut bool) {
	if len(text) <= most {
		return text, false
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most], true
}

// storable replaces what the type text cannot hold: bytes that are not UTF-8, and the zero byte.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
