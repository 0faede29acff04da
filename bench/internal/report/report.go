// Package report writes Markdown.
package report

import (
	"fmt"
	"io"
	"strings"
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

// Table writes a table without spaces around its cells.
func (r *Report) Table(t Table) {
	for i, row := range t {
		r.print("|%s|\n", strings.Join(row, "|"))
		if i == 0 {
			r.print("|%s\n", strings.Repeat("---|", len(row)))
		}
	}
	r.print("\n")
}
