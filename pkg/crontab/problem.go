package crontab

import (
	"fmt"
	"regexp"
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

// nicknames are the names that other crons accept in place of five fields.
var nicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

var (
	dayOrMonth   = regexp.MustCompile(`(?i)^(sun|mon|tue|wed|thu|fri|sat|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)`)
	sixthField   = regexp.MustCompile(`^[0-9*/,-]+` + space)
	lastComments = regexp.MustCompile(space + `#`)
)

// lineHint returns what to write in place of a line without five fields, empty if that is not known.
func lineHint(text string) string {
	words := strings.FieldsFunc(text, isSpace)
	if pattern := nicknames[strings.ToLower(words[0])]; pattern != "" {
		return "write " + pattern + " in place of " + words[0]
	}
	if strings.HasPrefix(words[0], "@") {
		return "write five fields in place of " + words[0]
	}
	if strings.Contains(words[0], "=") {
		return "a crontab has no variables; the time zone of a line is its option ?tz=Europe/Berlin"
	}
	for _, word := range words[:min(len(words), fieldCount)] {
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == ',' || r == '-' }) {
			if dayOrMonth.MatchString(part) {
				return "write days and months as numbers: Sunday is 0, Monday is 1, January is 1"
			}
		}
	}
	if len(words) <= fieldCount {
		return "a line has five fields and a task, such as 0 8 * * * send_digest"
	}
	return ""
}

// commandHint says what is wrong with the text after the fields, if it is not a task with options and a payload.
func commandHint(command string) string {
	readable := readableCommand.FindString(command)
	rest := command[len(readable):]
	switch {
	case sixthField.MatchString(command):
		return "a pattern has five fields, without seconds"
	case lastComments.MatchString(command):
		return "a comment needs a line of its own"
	case readable == "" || !strings.ContainsFunc(readable, isSpace) && rest != "":
		return "the name of a task consists of letters, digits, :, /, _ and -, and begins with a letter or _"
	case strings.HasPrefix(rest, "{"):
		return "the payload does not end with }"
	}
	return "the task may be followed by options, which begin with ?, and by a payload in braces"
}
