package migrate

import (
	"fmt"
	"slices"
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
		status.warnUnpinned()
	case SetPaths:
		var statements strings.Builder
		for _, u := range status.Unpinned {
			if !u.MayAlter {
				status.Refusal = refuse(ReasonPaths, "its owner has to run: "+u.Statement,
					"%s, which has no search_path of its own and belongs to another role", u)
				return
			}
			fmt.Fprintf(&statements, "%s;\n", u.Statement)
			status.warn("%s; its search_path will be set by: %s", u, u.Statement)
		}
		status.prepend(functionsVersion, statements.String())
	}
}

// warnUnpinned warns of functions that run without a search_path of their own.
func (s *Status) warnUnpinned() {
	for _, u := range s.Unpinned {
		s.warn("%s, which has no search_path of its own and runs with the one of the queue's functions; qualify the "+
			"names in it, or run: %s", u, u.Statement)
	}
}

func (m *Migrator) refuseUnpinned(unpinned []Unpinned) *Refusal {
	var callers, statements []string
	for _, u := range unpinned {
		callers, statements = append(callers, u.String()), append(statements, u.Statement)
	}
	wayOut := fmt.Sprintf("gw-migrate --function-paths=set gives them one, with: %s; if every name in them has a "+
		"schema, --function-paths=keep leaves them unchanged", strings.Join(statements, "; "))
	return refuse(ReasonPaths, wayOut,
		"tables of schema %s call functions that have no search_path of their own: %s; they would run with the one of "+
			"the queue's functions, pg_catalog and pg_temp, and fail on names without a schema",
		m.quoted(), enumerate(callers))
}

// A Role is a role other than the owner with rights to the table of jobs that this program has not granted, such as the
// roles of producers and workers need with Graphile Worker. It calls the functions in the queue's own schema.
type Role struct {
	Name       string   // quoted, or public for all roles
	Privileges []string // on _private_jobs: select, insert, ...
	Lacks      []string // rights that the functions need in addition, in the words of GRANT; empty before they are installed
}

// String returns the role and its privileges as text.
func (r Role) String() string {
	return fmt.Sprintf("%s: %s on _private_jobs", r.Name, strings.Join(r.Privileges, ", "))
}

// writes reports whether the role calls functions that change jobs.
func (r Role) writes() bool {
	return slices.ContainsFunc([]string{"insert", "update", "delete"}, func(privilege string) bool {
		return slices.Contains(r.Privileges, privilege)
	})
}

// Shared returns the roles to which Up grants the rights that they need to call the functions that replace those of
// Graphile Worker.
func (s Status) Shared() []Role {
	if !slices.ContainsFunc(s.Pending, func(m Migration) bool { return m.Version == functionsVersion }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Roles), func(r Role) bool { return !r.writes() })
}

// warnLacking warns of roles that cannot call the functions, with the statements that grant what they need.
func (s *Status) warnLacking() {
	for _, r := range s.Roles {
		if len(r.Lacks) > 0 {
			suffix := " to " + r.Name
			s.warn("role %s lacks rights that it needs to call add_job and the other functions; run: grant %s", r.Name,
				strings.Join(r.Lacks, suffix+"; grant ")+suffix)
		}
	}
}
