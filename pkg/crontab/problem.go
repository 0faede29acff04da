package crontab

import (
	"fmt"
	"strings"
)

// Problem is something that is wrong, or worth a warning, at one place of a crontab.
type Problem struct {
	// Line is the line, 1 for the first.
	Line int
	// Column is where in the line it is, in characters, 1 for the first. What is missing at the end of a line has the
	// column behind its last character.
	Column int
	// Message says what it is, in the words of Graphile Worker where that has some.
	Message string
}

// String returns the problem as compilers do: 3:7: Too large value '24' in ...
func (p Problem) String() string { return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message) }

// Error is everything that is wrong with a crontab. No item of such a crontab is used.
type Error struct {
	// Problems is not empty, and sorted by line.
	Problems []Problem
}

// Error returns one line for each problem.
func (e *Error) Error() string {
	texts := make([]string, len(e.Problems))
	for i, problem := range e.Problems {
		texts[i] = problem.String()
	}
	return strings.Join(texts, "\n")
}
