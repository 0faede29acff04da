package migrate

import (
	"fmt"
	"strings"
)

// PathPolicy is what to do about [Unpinned] functions when a schema of Graphile Worker is taken over.
type PathPolicy string

const (
	RefusePaths PathPolicy = ""     // refuse to take over the schema
	KeepPaths   PathPolicy = "keep" // leave the functions unchanged, with a warning
	SetPaths    PathPolicy = "set"  // run the Statement of each function
)

// An Unpinned is a function of the user that PostgreSQL calls for a table of the queue and that has no search_path of
// its own. Graphile Worker's functions run with the session's search_path, and so did this function. Our functions set
// a search_path of their own, with which it then runs: it no longer finds names without a schema.
type Unpinned struct {
	Caller    string // the trigger, policy, constraint or default that calls it, with its table
	Function  string // the function, with the types of its arguments
	MayAlter  bool   // whether the connected role may run Statement
	Statement string // sets its search_path to the one with which sessions of the queue's owner start
}

// String returns the caller and the function as text.
func (u Unpinned) String() string { return u.Caller + " calls " + u.Function }

// planPaths applies the PathPolicy to the functions without a search_path. With SetPaths their statements run in the
// transaction that replaces Graphile Worker's functions, before these are replaced.
func (m *Migrator) planPaths(status *Status) {
	if len(status.Unpinned) == 0 || status.Refusal != nil {
		return
	}
	switch m.cfg.FunctionPaths {
	case RefusePaths:
		status.Refusal = m.refuseUnpinned(status.Unpinned)
	case KeepPaths:
		status.Warnings = append(status.Warnings, warnUnpinned(status.Unpinned)...)
	case SetPaths:
		var statements strings.Builder
		for _, u := range status.Unpinned {
			if !u.MayAlter {
				status.Refusal = m.refuseAlter(u)
				return
			}
			fmt.Fprintf(&statements, "%s;\n", u.Statement)
			status.Warnings = append(status.Warnings, fmt.Sprintf("%s; its search_path will be set by: %s", u,
				u.Statement))
		}
		status.prepend(functionsVersion, statements.String())
	}
}

func warnUnpinned(unpinned []Unpinned) (warnings []string) {
	for _, u := range unpinned {
		warnings = append(warnings, fmt.Sprintf("%s, which has no search_path of its own and runs with the one of the queue's "+
			"functions; qualify the names in it, or run: %s", u, u.Statement))
	}
	return warnings
}

func (m *Migrator) refuseUnpinned(unpinned []Unpinned) *Refusal {
	var callers, statements []string
	for _, u := range unpinned {
		callers, statements = append(callers, u.String()), append(statements, u.Statement)
	}
	return &Refusal{
		Reason: ReasonPaths,
		Problem: fmt.Sprintf("tables of schema %s call functions that have no search_path of their own: %s; they would run with "+
			"the one of the queue's functions, pg_catalog and pg_temp, and fail on names without a schema",
			m.quoted(), enumerate(callers)),
		WayOut: fmt.Sprintf("gw-migrate --function-paths=set gives them one, with: %s; if every name in them has a schema, "+
			"--function-paths=keep leaves them unchanged", strings.Join(statements, "; ")),
	}
}

func (m *Migrator) refuseAlter(u Unpinned) *Refusal {
	return &Refusal{
		Reason:  ReasonPaths,
		Problem: fmt.Sprintf("%s, which has no search_path of its own and belongs to another role", u),
		WayOut:  fmt.Sprintf("its owner has to run: %s", u.Statement),
	}
}
