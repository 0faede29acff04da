package terminal

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Column is a column of a table of rows of one type.
type Column[T any] struct {
	Title   string
	Numbers bool // aligned to the right
	Cell    func(row T, now time.Time) string
}

// Table prints rows under the titles of their columns, as they are at a time. An empty cell is shown as "-".
func Table[T any](out io.Writer, columns []Column[T], rows []T, now time.Time) error {
	cells := make([][]string, len(rows)+1)
	for _, column := range columns {
		cells[0] = append(cells[0], column.Title)
	}
	for i, row := range rows {
		for _, column := range columns {
			cells[i+1] = append(cells[i+1], cmp.Or(Printable(column.Cell(row, now)), "-"))
		}
	}
	widths := make([]int, len(columns))
	for _, line := range cells {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, line := range cells {
		for i, cell := range line {
			if columns[i].Numbers {
				fmt.Fprintf(&b, "%*s", widths[i], cell)
			} else if i < len(line)-1 {
				fmt.Fprintf(&b, "%-*s", widths[i], cell)
			} else {
				b.WriteString(cell)
			}
			if i < len(line)-1 {
				b.WriteString("  ")
			}
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// Printable returns text on one line, with escapes in place of control characters. Names and errors of jobs are not
// trusted: they could contain control sequences for the terminal.
func Printable(text string) string {
	if strings.IndexFunc(text, isControl) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isControl(r) {
			b.WriteString(strings.Trim(fmt.Sprintf("%+q", r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isControl(r rune) bool { return !unicode.IsPrint(r) }

// Short returns the beginning of the first line of text, with an ellipsis if there is more.
func Short(text string, most int) string {
	line, _, more := strings.Cut(text, "\n")
	if runes := []rune(line); len(runes) > most {
		line, more = string(runes[:most-1]), true
	}
	if more {
		return line + "…"
	}
	return line
}
