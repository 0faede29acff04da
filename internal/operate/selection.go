package operate

import (
	"fmt"
	"strings"

	"github.com/gwsql/gw/internal/statement"
)

// Selection is conditions that select jobs. A job must match all conditions that are given.
type Selection struct {
	State, Task, Queue, Key, Older, Newer string

	ErrorGroup string // as error_groups returns it; only the console has it
}

// IsEmpty reports whether there are no conditions.
func (s Selection) IsEmpty() bool { return s == Selection{} }

// String returns the conditions as text, for the audit; empty without conditions.
func (s Selection) String() string {
	var words []string
	for _, c := range [][2]string{
		{"state ", s.State}, {"task ", s.Task}, {"queue ", s.Queue}, {"key ", s.Key}, {"added before ", s.Older},
		{"added within ", s.Newer},
	} {
		if c[1] != "" {
			words = append(words, c[0]+c[1])
		}
	}
	return strings.Join(words, ", ")
}

// Arguments returns the conditions but the group as the first six arguments of the SQL functions that take them.
func (s Selection) Arguments() []any {
	return []any{statement.OrNull(s.State), statement.OrNull(s.Task), statement.OrNull(s.Queue),
		statement.OrNull(s.Key), statement.OrNull(s.Older), statement.OrNull(s.Newer)}
}

// Conditions returns the SQL of the arguments, as the parameters of a statement from number first on.
func Conditions(first int) string {
	return fmt.Sprintf("$%d::text, $%d::text, $%d::text, $%d::text, $%d::text::interval, $%d::text::interval",
		first, first+1, first+2, first+3, first+4, first+5)
}
