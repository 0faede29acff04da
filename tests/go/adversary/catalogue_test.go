package adversary

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// function is a function or a procedure that a role can call, or a relation that it can read.
type function struct {
	name        string // quoted, with its schema
	plain       string
	arguments   []argument
	isView      bool
	isProcedure bool
}

type argument struct {
	name, typ  string
	hasDefault bool
}

// catalogue returns all functions that a role may call and all views that it may read. tests/go/grants checks tables
// and everything else that it may not use.
func catalogue(ctx context.Context, pool *pgxpool.Pool, role string) (functions []function, err error) {
	rows, _ := pool.Query(ctx, `
		select format('%I.%I', n.nspname, p.proname), p.proname, coalesce(p.proargnames[1:p.pronargs], '{}'),
		       array(select format_type(t.oid, null) from unnest(p.proargtypes::oid[]) with ordinality as t (oid, at) order by t.at),
		       p.pronargdefaults::integer, false, p.prokind = 'p'
		  from pg_proc as p
		  join pg_namespace as n on n.oid = p.pronamespace
		 where n.nspname in ('graphile_worker', 'graphile_worker_api') and p.prorettype <> 'trigger'::regtype
		   and has_schema_privilege($1, n.oid, 'usage') and has_function_privilege($1, p.oid, 'execute')
		union all
		select format('%I.%I', n.nspname, c.relname), c.relname, '{}', '{}', 0, true, false
		  from pg_class as c
		  join pg_namespace as n on n.oid = c.relnamespace
		 where n.nspname in ('graphile_worker', 'graphile_worker_api') and c.relkind in ('r', 'v')
		   and has_schema_privilege($1, n.oid, 'usage') and has_table_privilege($1, c.oid, 'select')
		 order by 1`, role) // the error comes again
	var (
		f            function
		names, types []string
		defaults     int
	)
	_, err = pgx.ForEachRow(rows, []any{&f.name, &f.plain, &names, &types, &defaults, &f.isView, &f.isProcedure},
		func() error {
			f.arguments = nil
			for i, typ := range types {
				if err := checkType(typ); err != nil {
					return fmt.Errorf("%s: %w", f.name, err)
				}
				f.arguments = append(f.arguments, argument{name: names[i], typ: typ,
					hasDefault: i >= len(types)-defaults})
			}
			functions = append(functions, f)
			return nil
		})
	return functions, err
}
