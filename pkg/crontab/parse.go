package crontab

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Load reads the crontab file at path. If the file can be read but is invalid, the error is an [*Error] with the path
// before it. If there is no file, the error matches [io/fs.ErrNotExist].
func Load(path string) ([]Item, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read crontab: %w", err)
	}
	items, err := Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("read crontab %s: %w", path, err)
	}
	return items, nil
}

// Parse reads the text of a crontab and returns its items in their order. If it has any problem, Parse returns no items
// and an [*Error] with all problems.
func Parse(text string) ([]Item, error) {
	report := Check(text)
	if len(report.Problems) > 0 {
		return nil, &Error{report.Problems}
	}
	return report.Items, nil
}

// Report is the result of [Check].
type Report struct {
	// Items are the valid lines, in their order. They are usable only if there are no Problems.
	Items []Item
	// Problems are the reasons why [Parse] refuses the crontab, sorted by line.
	Problems []Problem
	// Warnings are the places that Graphile Worker's own worker, the one for Node.js, would not accept.
	Warnings []Problem
}

// Check reads the text of a crontab as [Parse] does, and returns valid items as well as problems.
func Check(text string) Report {
	var report Report
	identifiers := make(map[string]bool)
	for i, raw := range strings.Split(text, "\n") {
		l, isBlank := newLine(i+1, raw)
		if isBlank {
			continue
		}
		item, identifierAt := l.parse()
		if identifiers[item.Identifier] {
			l.problem(identifierAt, "Invalid crontab; duplicate identifiers found: '%s' - please use '?id=...' to specify "+
				"unique identifiers for your cron items", item.Identifier)
		}
		identifiers[item.Identifier] = item.Identifier != ""
		report.Problems = append(report.Problems, l.problems...)
		report.Warnings = append(report.Warnings, l.warnings...)
		if len(l.problems) == 0 {
			report.Items = append(report.Items, item)
		}
	}
	return report
}

// line is a line of a crontab that is neither blank nor a comment.
type line struct {
	number   int
	text     string // without surrounding white space
	indent   int    // the number of leading white space characters
	problems []Problem
	warnings []Problem
}

// newLine returns the line, and whether it is blank or a comment.
func newLine(number int, raw string) (l line, isBlank bool) {
	text := strings.TrimLeftFunc(raw, isSpace)
	l = line{number: number, indent: utf8.RuneCountInString(raw[:len(raw)-len(text)])}
	l.text = strings.TrimRightFunc(text, isSpace)
	return l, l.text == "" || strings.HasPrefix(l.text, "#")
}

// isSpace reports whether r is white space in JavaScript, where the byte order mark is, but U+0085 is not.
func isSpace(r rune) bool {
	return unicode.Is(unicode.Z, r) || slices.Contains([]rune("\t\n\v\f\r\uFEFF"), r)
}

// problem adds a problem at an offset in the line's text, in bytes.
func (l *line) problem(offset int, format string, args ...any) {
	message := string([]rune(fmt.Sprintf(format, args...))) // each byte that is not UTF-8 becomes U+FFFD
	l.problems = append(l.problems, Problem{Line: l.number, Column: l.column(offset), Message: message})
}

func (l *line) warn(offset int, format string, args ...any) {
	l.warnings = append(l.warnings, Problem{Line: l.number, Column: l.column(offset),
		Message: fmt.Sprintf(format, args...)})
}

func (l *line) column(offset int) int {
	return l.indent + utf8.RuneCountInString(l.text[:offset]) + 1
}

// Source is a source of items: an [Item], the [Text] of a crontab, or a crontab [File].
type Source interface {
	items() ([]Item, error)
}

// Text is the text of a crontab.
type Text string

// File is the path of a crontab file. [Collect] reads it each time it is called.
type File string

func (i Item) items() ([]Item, error) { return []Item{i}, nil }
func (t Text) items() ([]Item, error) { return Parse(string(t)) }
func (f File) items() ([]Item, error) { return Load(string(f)) }

// Collect returns the items of several sources in their order. Its error lists all problems of the sources, or the
// identifiers that occur twice; in that case it returns no items.
func Collect(sources ...Source) ([]Item, error) {
	var all []Item
	var problems []error
	for _, source := range sources {
		items, err := source.items()
		all, problems = append(all, items...), append(problems, err)
	}
	seen := make(map[string]bool)
	for _, item := range all {
		if seen[item.Identifier] {
			problems = append(problems, fmt.Errorf("identifier %q of a recurring job occurs twice", item.Identifier))
		}
		seen[item.Identifier] = true
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return all, nil
}
