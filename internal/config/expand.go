package config

import (
	"fmt"
	"regexp"
	"strings"
)

// reference is a variable of the environment in a text, or the sign for a dollar in front of a brace.
var reference = regexp.MustCompile(`\$\$\{|\$\{[^}]*\}?`)

var variable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// Expanded is a text of a file.
type Expanded struct {
	Value   string // with the values of environment variables in it
	Written string // as the file has it: this may be shown
}

// IsExpanded reports whether the text has something in it that the file does not have.
func (t Expanded) IsExpanded() bool { return t.Value != t.Written }

// shown returns how a mistake names the text: as it was made use of, unless variables are in it.
func (t Expanded) shown(used string) string {
	if t.IsExpanded() {
		return t.Written
	}
	return used
}

// expand puts the values of environment variables in the place of each ${NAME}. $${ is ${.
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

// password is that of a URL, with what is before it as a group.
var password = regexp.MustCompile(`^([^/?]*//[^/?:]*:)[^/?]*@`)

// ShownURL returns as much of a URL as people may see: as it is written, without password and query.
func (t Expanded) ShownURL() string {
	shown, _, hasQuery := strings.Cut(t.Written, "?")
	if hasQuery {
		shown += "?..."
	}
	return password.ReplaceAllString(shown, "${1}xxxxx@")
}
