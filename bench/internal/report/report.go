// Package report writes Markdown.
package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Report writes Markdown, each piece as soon as it is complete.
type Report struct {
	out io.Writer
	err error // the first error of writing
}

// New returns a report that is written to out.
func New(out io.Writer) *Report { return &Report{out: out} }

// Err returns the first error of writing.
func (r *Report) Err() error { return r.err }

func (r *Report) print(format string, args ...any) {
	if _, err := fmt.Fprintf(r.out, format, args...); err != nil && r.err == nil {
		r.err = fmt.Errorf("write the report: %w", err)
	}
}

// Heading begins a part of the report.
func (r *Report) Heading(level int, text string) {
	r.print("%s %s\n\n", strings.Repeat("#", level), text)
}

// Note writes a paragraph.
func (r *Report) Note(format string, args ...any) { r.print(format+"\n\n", args...) }

// A Table is rows of cells; the first row is the header.
type Table [][]string

// Add adds a row.
func (t *Table) Add(cells ...string) { *t = append(*t, cells) }

// Table writes a table with aligned columns, so that its source is readable.
func (r *Report) Table(t Table) {
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 3)
		}
	}
	for n, row := range t {
		for i, cell := range row {
			r.print("| %s%s ", cell, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
		}
		r.print("|\n")
		if n == 0 {
			for _, width := range widths {
				r.print("|%s", strings.Repeat("-", width+2))
			}
			r.print("|\n")
		}
	}
	r.print("\n")
}
