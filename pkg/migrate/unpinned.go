package migrate

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// PathPolicy says what to do about an [Unpinned] function when a schema of Graphile Worker is taken over.
type PathPolicy string

const (
	RefusePaths PathPolicy = ""     // take nothing over
	KeepPaths   PathPolicy = "keep" // leave the functions as they are
	SetPaths    PathPolicy = "set"  // run their statements
)

// An Unpinned is a function of the user's that PostgreSQL calls for a table of the queue and that has no search_path of its
// own. Graphile Worker's functions leave the session's path to it; ours have a path of their own, which it gets, too: a
// name without a schema in it is not found then.
type Unpinned struct {
	Caller    string // what calls it: a trigger, policy, constraint or default, with its table
	Function  string // with the types of its arguments
	MayAlter  bool   // whether the role that is connected may run Statement
	Statement string // gives it the path that sessions of the queue's owner begin with
}

// String says what calls what.
func (u Unpinned) String() string { return u.Caller + " calls " + u.Function }

// readUnpinned reads them with the body of our own function, which need not be there yet.
func (m *Migrator) readUnpinned(ctx context.Context, tx pgx.Tx) ([]Unpinned, error) {
	body := m.bodyOf("_gw_unpinned_functions")
	if body == "" {
		return nil, nil
	}
	rows, err := tx.Query(ctx, body)
	if err != nil {
		return nil, fmt.Errorf("read functions without a path: %w", err)
	}
	unpinned, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Unpinned])
	if err != nil {
		return nil, fmt.Errorf("read functions without a path: %w", err)
	}
	return unpinned, nil
}

// planPaths sees to functions without a path before ours take the place of Graphile Worker's: in the same transaction, or
// not at all.
func (m *Migrator) planPaths(status *Status) {
	if len(status.Unpinned) == 0 || status.Refusal != nil {
		return
	}
	switch m.paths {
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
			status.Warnings = append(status.Warnings, fmt.Sprintf("%s, which is given a path by: %s", u, u.Statement))
		}
		status.prepend(functionsVersion, statements.String())
	}
}

func warnUnpinned(unpinned []Unpinned) (warnings []string) {
	for _, u := range unpinned {
		warnings = append(warnings, fmt.Sprintf("%s, which has no search_path of its own and runs under that of the queue's "+
			"functions; qualify the names in it and run: %s", u, u.Statement))
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
		Problem: fmt.Sprintf("tables of schema %s call functions that have no search_path of their own: %s; they would run under "+
			"that of the queue's functions, pg_catalog and pg_temp, and fail where a name in them has no schema",
			m.quoted(), enumerate(callers)),
		WayOut: fmt.Sprintf("gw-migrate --function-paths=set gives them one, by: %s; --function-paths=keep leaves them as they are, "+
			"where every name in them has its schema", strings.Join(statements, "; ")),
	}
}

func (m *Migrator) refuseAlter(u Unpinned) *Refusal {
	return &Refusal{
		Reason:  ReasonPaths,
		Problem: fmt.Sprintf("%s, which has no search_path of its own and belongs to another role", u),
		WayOut:  fmt.Sprintf("let its owner run: %s", u.Statement),
	}
}
