package migrate

import (
	"fmt"
	"slices"
	"strings"
)

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

// remedy returns the statements that grant the role the rights that it lacks.
func (r Role) remedy() string {
	var statements []string
	for _, right := range r.Lacks {
		statements = append(statements, fmt.Sprintf("grant %s to %s", right, r.Name))
	}
	return strings.Join(statements, "; ")
}

// Shared returns the roles to which Up grants the rights that they need to call the functions that replace those of
// Graphile Worker.
func (s Status) Shared() []Role {
	if !slices.ContainsFunc(s.Pending, func(m Migration) bool { return m.Version == functionsVersion }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Roles), func(r Role) bool { return !r.writes() })
}

func warnLacking(roles []Role) (warnings []string) {
	for _, r := range roles {
		if len(r.Lacks) > 0 {
			warnings = append(warnings, fmt.Sprintf("role %s lacks rights that it needs to call add_job and the other functions; "+
				"run: %s", r.Name, r.remedy()))
		}
	}
	return warnings
}
