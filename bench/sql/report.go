package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// report writes Markdown, each piece as soon as there is one.
type report struct {
	out io.Writer
	err error // the first one of writing
}

func (r *report) print(format string, args ...any) {
	if _, err := fmt.Fprintf(r.out, format, args...); err != nil && r.err == nil {
		r.err = fmt.Errorf("write the report: %w", err)
	}
}

func (r *report) heading(level int, text string) {
	r.print("%s %s\n\n", strings.Repeat("#", level), text)
}

func (r *report) note(format string, args ...any) { r.print(format+"\n\n", args...) }

// A table is rows of cells, the first row being the head.
type table [][]string

func (t *table) add(cells ...string) { *t = append(*t, cells) }

// table writes a table with its columns aligned, so that it can be read as it is.
func (r *report) table(t table) {
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
