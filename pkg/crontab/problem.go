package crontab

import (
	"fmt"
	"strings"
)

// Problem is an error or a warning at one place of a crontab.
type Problem struct {
	// Line is the number of the line, from 1.
	Line int
	// Column is the position in the line, in characters, from 1. Text that is missing at the end of a line has the
	// column after its last character.
	Column int
	// Message describes the problem, in Graphile Worker's wording if it has one.
	Message string
	// Hint says what to write instead, if that is known.
	Hint string
}

// String returns the problem in the format of compilers: 3:7: Too large value '24' in ...
func (p Problem) String() string {
	text := fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message)
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	return text
}

// Error contains all problems of a crontab. No item of such a crontab is used.
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
