package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	tern "github.com/jackc/tern/v2/migrate"
)

// Grants lists roles by their kind. A role may be of several kinds.
type Grants struct {
	Producers  []string // they only add jobs
	Tasks      []string // the only tasks that these producers may enqueue; empty: all
	Workers    []string // they run jobs
	Schedulers []string // they create recurring jobs
	Monitors   []string // they read the state of the queue, but not the data of jobs
	Admins     []string // they read everything, and change and remove jobs
}

// Granted is one role and its kind.
type Granted struct {
	Role  string
	Kind  string   // producer, worker, scheduler, monitor or admin
	Tasks []string // of a producer limited to tasks
}

// String returns it as a line of text.
func (g Granted) String() string {
	if len(g.Tasks) > 0 {
		return fmt.Sprintf("%s: %s of %s", g.Role, g.Kind, strings.Join(g.Tasks, ", "))
	}
	return g.Role + ": " + g.Kind
}

// Granting is the result of Grant and Revoke.
type Granting struct {
	Granted []Granted
	Others  []string // roles with privileges in the queue's own schema from other grants, which stay
}

// Grant grants roles the privileges of their kinds, in addition to earlier calls, and revokes all other privileges that
// they and public have in the queue's schema. The roles call functions in a separate schema, named after the queue's
// with the suffix _api, which run with the rights of the owner. Migrations and [Migrator.Repair] apply the grants
// again, as does Grant with empty grants. It runs in one transaction.
func (m *Migrator) Grant(ctx context.Context, grants Grants) (Granting, error) {
	return m.changeGrants(ctx, m.remember(grants))
}

// Revoke revokes what Grant has granted to roles; from all of them if none is named. After the last role is removed,
// the schema for roles is dropped, and public may execute the queue's own functions again, with the rights of the
// caller. If the queue was dropped before, Revoke drops the rest of the schema for roles; roles cannot be named then,
// because the record of their grants was dropped with the queue.
func (m *Migrator) Revoke(ctx context.Context, roles ...string) (Granting, error) {
	if left, err := m.removeOrphan(ctx, roles, true); left != "" || err != nil {
		return Granting{}, err
	}
	return m.changeGrants(ctx, m.forget(roles))
}

// GrantSQL returns the SQL that Grant would run, and changes nothing.
func (m *Migrator) GrantSQL(ctx context.Context, grants Grants) (string, error) {
	return m.grantSQL(ctx, m.remember(grants))
}

// RevokeSQL returns the SQL that Revoke would run, and changes nothing.
func (m *Migrator) RevokeSQL(ctx context.Context, roles ...string) (string, error) {
	if left, err := m.removeOrphan(ctx, roles, false); left != "" || err != nil {
		return left, err
	}
	return m.grantSQL(ctx, m.forget(roles))
}

// remember returns the statements that store the grants.
func (m *Migrator) remember(grants Grants) (statements []string) {
	add := func(kind string, roles, tasks []string) {
		if len(roles) > 0 {
			statements = append(statements, fmt.Sprintf("select %s(%s, %s, %s)",
				m.qualified("_gw_remember_grants"), literal(kind), literals(roles), literals(tasks)))
		}
	}
	add("producer", grants.Producers, grants.Tasks)
	add("worker", grants.Workers, nil)
	add("scheduler", grants.Schedulers, nil)
	add("monitor", grants.Monitors, nil)
	add("admin", grants.Admins, nil)
	return statements
}

func (m *Migrator) forget(roles []string) []string {
	statement := "delete from " + m.qualified("_gw_grants") + " as g"
	if len(roles) > 0 {
		statement += " where g.role = any (" + literals(roles) + ")"
	}
	return []string{statement}
}

func (m *Migrator) changeGrants(ctx context.Context, statements []string) (done Granting, err error) {
	conn, _, err := m.connectToChange(ctx, m.refuseGrant)
	if err != nil {
		return Granting{}, err
	}
	defer m.disconnect(ctx, conn)
	if err := m.setSession(ctx, conn); err != nil {
		return Granting{}, err
	}
	err = tern.LockExecTx(ctx, conn, strings.Join(append(statements, m.applyGrants()), ";\n"))
	if isLockConflict(err) {
		return Granting{}, fmt.Errorf("grant: %w; nothing is changed; another session migrates: try again", err)
	}
	if err != nil {
		return Granting{}, m.explainGrant(err)
	}
	return m.readGrants(ctx, conn)
}

func (m *Migrator) applyGrants() string { return "select " + m.qualified("_gw_apply_grants") + "();" }

func (m *Migrator) grantSQL(ctx context.Context, statements []string) (string, error) {
	conn, _, err := m.connectToChange(ctx, m.refuseGrant)
	if err != nil {
		return "", err
	}
	defer m.disconnect(ctx, conn)
	tx, err := conn.Begin(ctx)
	if err != nil {
		return "", fmt.Errorf("plan grants: %w", err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return "", m.explainGrant(err)
		}
	}
	planned, err := collect(ctx, tx, pgx.RowTo[string], "select s from "+m.qualified("_gw_grant_statements")+"() as s")
	if err != nil {
		return "", m.explainGrant(err)
	}
	text := fmt.Sprintf("-- Run this in one transaction, as the owner of schema %s.\n\n", m.quoted())
	statements = append(append(statements, planned...), "select "+m.qualified("_gw_share_rights")+"()")
	return text + strings.Join(statements, ";\n\n") + ";\n", nil
}

// refuseGrant returns why the grants of a schema cannot be changed: among other reasons, because it is not at this
// program's version.
func (m *Migrator) refuseGrant(status Status) *Refusal {
	if refusal := m.refuseRepair(status); refusal != nil || status.State != Behind {
		return refusal
	}
	return refuse(ReasonAbsent, "bring it up to date by gw-migrate first",
		"schema %s is at version %d of %d", m.quoted(), status.Installed, status.Available)
}

// explainGrant adds a remedy to an error of the server.
func (m *Migrator) explainGrant(err error) error {
	api := quote(m.schema + "_api")
	if isCode(err, "42501") {
		return fmt.Errorf("grant: %w; nothing is changed; if it is the schema that may not be created, let the database's owner "+
			"run: create schema %s authorization the owner of the queue", err, api)
	}
	return fmt.Errorf("grant: %w; nothing is changed", err)
}

func (m *Migrator) readGrants(ctx context.Context, conn *pgx.Conn) (done Granting, err error) {
	done.Granted, err = collect(ctx, conn, pgx.RowToStructByPos[Granted],
		"select g.role, g.kind, g.tasks from "+m.qualified("_gw_grants")+" as g order by g.role, g.kind")
	if err != nil {
		return Granting{}, fmt.Errorf("read grants: %w", err)
	}
	done.Others, err = collect(ctx, conn, pgx.RowTo[string], `
		select distinct case when x.grantee = 0 then 'public' else pg_catalog.pg_get_userbyid(x.grantee)::text end
		  from (select n.nspacl, n.nspowner
		          from pg_catalog.pg_namespace as n
		         where n.nspname = $1
		        union all
		        select p.proacl, p.proowner
		          from pg_catalog.pg_proc as p
		          join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
		         where n.nspname = $1
		        union all
		        select c.relacl, c.relowner
		          from pg_catalog.pg_class as c
		          join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
		         where n.nspname = $1) as a (list, owner)
		 cross join pg_catalog.aclexplode(a.list) as x
		 where x.grantee <> a.owner
		 order by 1`, m.schema)
	if err != nil {
		return Granting{}, fmt.Errorf("read grants: %w", err)
	}
	if len(done.Granted) == 0 {
		done.Others = nil // Revoke does not report other grants
	}
	return done, nil
}

func literal(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

func literals(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = literal(text)
	}
	return "array[" + strings.Join(quoted, ", ") + "]::text[]"
}

// orphanQuery returns the statements that drop the schema for roles of a queue that was dropped, but no objects that
// others have built on it; none if the queue exists, or if there is no such schema. The mark is that of
// _gw_grant_statements.
const orphanQuery = `
with orphan as (
  select n.oid, n.nspname
    from pg_catalog.pg_namespace as n
   where n.nspname = $1 || '_api'
     and pg_catalog.obj_description(n.oid, 'pg_namespace') =
         'What roles may do with the queue in schema ' || pg_catalog.quote_ident($1) || '; made by gw-migrate grants.'
     and not exists (select
                       from pg_catalog.pg_class as c
                       join pg_catalog.pg_namespace as q on q.oid = c.relnamespace
                      where q.nspname = $1 and c.relname = '_gw_grants')
)
select s.statement
  from (select 1, pg_catalog.format('drop view %I.%I', o.nspname, c.relname)
          from orphan as o
          join pg_catalog.pg_class as c on c.relnamespace = o.oid and c.relkind = 'v'
        union all
        select 2, pg_catalog.format('drop routine %I.%I(%s)', o.nspname, p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid))
          from orphan as o
          join pg_catalog.pg_proc as p on p.pronamespace = o.oid
        union all
        select 3, pg_catalog.format('drop schema %I', o.nspname) from orphan as o) as s (step, statement)
 order by s.step, s.statement`

// removeOrphan drops the schema for roles after the queue was dropped, or only returns the SQL for that.
// It returns nothing if nothing is left.
func (m *Migrator) removeOrphan(ctx context.Context, roles []string, do bool) (text string, err error) {
	conn, err := m.connect(ctx)
	if err != nil {
		return "", err
	}
	defer m.disconnect(ctx, conn)
	statements, err := collect(ctx, conn, pgx.RowTo[string], orphanQuery, m.schema)
	if err != nil {
		return "", fmt.Errorf("look for the schema for roles: %w", err)
	}
	switch {
	case len(statements) == 0:
		return "", nil
	case len(roles) > 0:
		return "", errors.New("the queue was dropped, and with it the record of what each role was granted; revoke without roles removes the rest")
	}
	text = strings.Join(statements, ";\n\n") + ";\n"
	if !do {
		return "-- Run this in one transaction, as the owner of schema " + quote(m.schema+"_api") + ".\n\n" + text, nil
	}
	if err := m.setSession(ctx, conn); err != nil {
		return "", err
	}
	if err := tern.LockExecTx(ctx, conn, text); err != nil {
		return "", fmt.Errorf("remove the schema for roles: %w; nothing is changed", err)
	}
	return text, nil
}
