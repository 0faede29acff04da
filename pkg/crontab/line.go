package crontab

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// The character classes \s and . of JavaScript's regular expressions.
const (
	space = `[\t\n\v\f\r\p{Z}\x{FEFF}]`
	dot   = `[^\n\r\x{2028}\x{2029}]`
)

const (
	fields  = `([0-9*/,-]+)` + space + `+`
	task    = `([_a-zA-Z][_a-zA-Z0-9:/_-]*)`
	options = `(?:` + space + `+\?([^\t\n\v\f\r\p{Z}\x{FEFF}]+))?`
	object  = `(?:` + space + `+(\{` + dot + `*\}))?`
)

var (
	linePattern    = regexp.MustCompile(`^` + strings.Repeat(fields, fieldCount) + `(` + dot + `*)$`)
	commandPattern = regexp.MustCompile(`^` + task + options + object + `$`)

	// readableLine and readableCommand match the valid prefix of lines and commands that the other patterns do not
	// match.
	readableLine = regexp.MustCompile(`^(?:` + strings.Repeat(fields, fieldCount) + dot + `*|(?:` + fields +
		`){0,4}[0-9*/,-]*)`)
	readableCommand = regexp.MustCompile(`^(?:` + task + options + object + space + `*)?`)
)

// parse returns the item of a line without problems, and the offset of the text that determines its identifier.
func (l *line) parse() (item Item, identifierAt int) {
	if !utf8.ValidString(l.text) {
		l.problem(strings.IndexRune(l.text, utf8.RuneError), "Line %d of crontab is not valid UTF-8.", l.number)
		return Item{}, 0
	}
	parts := linePattern.FindStringSubmatchIndex(l.text)
	if parts == nil {
		l.problem(len(readableLine.FindString(l.text)), "Could not process line '%d' of crontab: '%s'", l.number,
			l.text)
		l.problems[len(l.problems)-1].Hint = lineHint(l.text)
		return Item{}, 0
	}
	item.Line = l.number
	item.Pattern = l.parsePattern(parts)
	identifierAt = l.parseCommand(&item, parts[2*fieldCount+2])
	return item, identifierAt
}

// parseCommand reads the text after the pattern, from an offset to the end of the line.
func (l *line) parseCommand(item *Item, start int) (identifierAt int) {
	command := l.text[start:]
	parts := commandPattern.FindStringSubmatchIndex(command)
	if parts == nil {
		parts = readableCommand.FindStringSubmatchIndex(command)
		l.problem(start+parts[1], "Invalid command specification in line %d of crontab.", l.number)
		l.problems[len(l.problems)-1].Hint = commandHint(command)
	}
	identifierAt = start
	if parts[2] >= 0 {
		item.Task = command[parts[2]:parts[3]]
		item.Identifier = item.Task
	}
	if len(item.Task) > maxNameLength {
		l.problem(start, "Invalid command specification in line %d of crontab: the task has %d characters, must have at most %d.",
			l.number, len(item.Task), maxNameLength)
	}
	if parts[4] >= 0 {
		if at := l.parseOptions(item, start+parts[4], start+parts[5]); at > 0 {
			identifierAt = at
		}
	}
	if parts[6] >= 0 {
		item.Payload = l.parsePayload(start + parts[6])
	}
	return identifierAt
}

// parsePayload reads the JSON5 object from an offset to the end of the line.
func (l *line) parsePayload(start int) []byte {
	payload, wrong := parseJSON5(l.text[start:])
	if wrong != nil {
		l.problem(start+wrong.offset, "Failed to parse JSON5 payload on line %d of crontab: %s", l.number, wrong)
		return nil
	}
	if _, err := checkPayload(payload); err != nil {
		l.problem(start, "Failed to parse JSON5 payload on line %d of crontab: %s", l.number, err)
	}
	return payload
}
