// Package reference runs jobs in our tables with hand-written statements, to which the other contenders are compared.
package reference

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/gwsql/gw/bench/internal/queue"
)

//go:embed reference.sql
var referenceSQL string

// statementName matches the first line of a statement in a file.
var statementName = regexp.MustCompile(`(?m)^-- name: (\S+)\n`)

// statements are the statements of a file by name, each a template.
type statements map[string]*template.Template

// parseStatements parses a file of statements. Text before the first name is ignored.
func parseStatements(file string) (statements, error) {
	found := statements{}
	marks := statementName.FindAllStringSubmatchIndex(file, -1)
	for i, mark := range marks {
		end := len(file)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		name := file[mark[2]:mark[3]]
		if found[name] != nil {
			return nil, fmt.Errorf("read statements: there are two with the name %s", name)
		}
		text := strings.TrimSpace(file[mark[1]:end])
		parsed, err := template.New(name).Option("missingkey=error").Parse(text)
		if err != nil {
			return nil, fmt.Errorf("read statement %s: %w", name, err)
		}
		found[name] = parsed
	}
	return found, nil
}

// text returns a statement for a batch size.
func (s statements) text(name string, n int) (string, error) {
	statement := s[name]
	if statement == nil {
		return "", fmt.Errorf("there is no statement %s", name)
	}
	var text strings.Builder
	if err := statement.Execute(&text, map[string]any{"schema": queue.Schema, "n": n}); err != nil {
		return "", fmt.Errorf("fill in statement %s: %w", name, err)
	}
	return text.String(), nil
}
