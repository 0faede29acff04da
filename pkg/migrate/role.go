package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A Role has rights to the table of jobs that somebody else than this program has granted, as roles beside the owner need
// them with Graphile Worker. It calls the queue's functions itself, and may run Node workers.
type Role struct {
	Name       string   // quoted; public for everybody
	Privileges []string // on _private_jobs: select, insert, ...
	Lacks      []string // what our functions need besides, in the words of GRANT; nothing before they are there
}

// String says what the role may do.
func (r Role) String() string {
	return fmt.Sprintf("%s: %s on _private_jobs", r.Name, strings.Join(r.Privileges, ", "))
}

// writes reports whether the role calls functions that change jobs.
func (r Role) writes() bool {
	return slices.ContainsFunc([]string{"insert", "update", "delete"}, func(privilege string) bool {
		return slices.Contains(r.Privileges, privilege)
	})
}

// remedy returns the statements that give the role what it lacks.
func (r Role) remedy() string {
	var statements []string
	for _, right := range r.Lacks {
		statements = append(statements, fmt.Sprintf("grant %s to %s", right, r.Name))
	}
	return strings.Join(statements, "; ")
}

// readRoles reads them with the body of our own function, which need not be there yet.
func (m *Migrator) readRoles(ctx context.Context, tx pgx.Tx) ([]Role, error) {
	body := m.bodyOf("_gw_direct_roles")
	if body == "" {
		return nil, nil
	}
	rows, err := tx.Query(ctx, body)
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	roles, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Role])
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	return roles, nil
}

// Shared returns the roles that Up lets call the functions that take the place of Graphile Worker's.
func (s Status) Shared() []Role {
	if !slices.ContainsFunc(s.Pending, func(m Migration) bool { return m.Version == functionsVersion }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Roles), func(r Role) bool { return !r.writes() })
}

func warnLacking(roles []Role) (warnings []string) {
	for _, r := range roles {
		if len(r.Lacks) > 0 {
			warnings = append(warnings, fmt.Sprintf("role %s lacks rights that add_job and the other functions need to be called by "+
				"it; run: %s", r.Name, r.remedy()))
		}
	}
	return warnings
}
