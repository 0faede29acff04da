package config

import (
	"fmt"
	"regexp"
	"strings"
)

// reference matches a reference ${NAME} to an environment variable, or the escape $${ for a literal ${.
var reference = regexp.MustCompile(`\$\$\{|\$\{[^}]*\}?`)

var variable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// Expanded is a text of a config file in which references to environment variables are replaced.
type Expanded struct {
	Value   string // with the values of environment variables
	Written string // as written in the file; this may be shown
}

// IsExpanded reports whether the value differs from the text in the file.
func (t Expanded) IsExpanded() bool { return t.Value != t.Written }

// shown returns the text for an error message: used, the value as it was used, unless it contains variables.
func (t Expanded) shown(used string) string {
	if t.IsExpanded() {
		return t.Written
	}
	return used
}

// expand replaces each ${NAME} by the value of the environment variable, and $${ by ${.
func expand(text string, getenv func(string) string) (expanded string, problems []string) {
	expanded = reference.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$${" {
			return "${"
		}
		name := variable.FindStringSubmatch(found)
		if name == nil {
			problems = append(problems, fmt.Sprintf("%q is not a reference ${NAME} to an environment variable; write $${ for a literal ${", found))
			return found
		}
		value := getenv(name[1])
		if value == "" {
			problems = append(problems, fmt.Sprintf("the environment variable %s is not set; write $${ for a literal ${", name[1]))
		}
		return value
	})
	return expanded, problems
}

// password matches the password of a URL; the group is the text before it.
var password = regexp.MustCompile(`^([^/?]*//[^/?:]*:)[^/?]*@`)

// ShownURL returns a URL for messages: as written in the file, without password and query.
func (t Expanded) ShownURL() string {
	shown, _, hasQuery := strings.Cut(t.Written, "?")
	if hasQuery {
		shown += "?..."
	}
	return password.ReplaceAllString(shown, "${1}xxxxx@")
}
