package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	tern "github.com/jackc/tern/v2/migrate"
)

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
