package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Position is a place in a config file.
type Position struct {
	Path         string
	Line, Column int // from 1; 0 means the file as a whole
}

// String returns path:line:column.
func (p Position) String() string {
	if p.Line == 0 {
		return p.Path
	}
	return fmt.Sprintf("%s:%d:%d", p.Path, p.Line, p.Column)
}

// Problem is an error in a config file.
type Problem struct {
	Position Position
	Message  string // what is wrong, and what to do
}

func (p Problem) Error() string { return p.Position.String() + ": " + p.Message }

// Problems are the errors in a config file, in the order of their positions.
type Problems []Problem

// Error returns a line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// OrNil returns the problems in order as an error, nil if there are none.
func (p Problems) OrNil() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Position.Line, b.Position.Line), cmp.Compare(a.Position.Column, b.Position.Column))
	})
	return slices.Compact(p)
}
