package gwui

import (
	"context"
)

// rights are the functions and views of the queue that the pool's role may use.
type rights map[string]bool

// readRights returns them, or those that were read last while the database does not answer in time: then each panel says so
// for itself. A function that an older schema does not have is one that nobody may call.
func (c *Console) readRights(ctx context.Context) (rights, error) {
	may, err := c.askRights(ctx)
	if err == nil {
		c.rights.Store(&may)
	} else if known := c.rights.Load(); known != nil {
		return *known, nil
	}
	return may, err
}

func (c *Console) askRights(ctx context.Context) (rights, error) {
	return cached(ctx, c.cache, "rights", func(ctx context.Context) (rights, error) {
		found, err := read[struct {
			Name string `json:"name"`
		}](ctx, c.store, `
			select p.proname as name
			  from pg_catalog.pg_proc as p
			  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) p.pronamespace
			 where n.nspname operator(pg_catalog.=) $1::text
			   and pg_catalog.has_schema_privilege(n.oid, 'usage')
			   and pg_catalog.has_function_privilege(p.oid, 'execute')
			union
			select v.relname
			  from pg_catalog.pg_class as v
			  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) v.relnamespace
			 where n.nspname operator(pg_catalog.=) $1::text
			   and v.relkind operator(pg_catalog.=) 'v'
			   and pg_catalog.has_schema_privilege(n.oid, 'usage')
			   and pg_catalog.has_table_privilege(v.oid, 'select')`, c.cfg.Schema)
		if err != nil {
			return nil, err
		}
		may := make(rights, len(found.Rows))
		for _, row := range found.Rows {
			may[row.Name] = true
		}
		return may, nil
	})
}
