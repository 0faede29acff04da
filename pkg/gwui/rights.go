package gwui

import (
	"context"
	"time"
)

// rights are the functions and views of the queue that the pool's role may use.
type rights map[string]bool

// rightsFresh is how long rights are kept. If a page offers an action that the role may not take, the database refuses it.
const rightsFresh = 10 * time.Second

// knownRights are rights, and when they were read.
type knownRights struct {
	may rights
	at  time.Time
}

// readRights returns them, or the last known ones if the database does not answer in time: each panel then shows this error.
// A function that does not exist in an older schema counts as one that the role may not call.
func (c *Console) readRights(ctx context.Context) (rights, error) {
	known := c.rights.Load()
	if known != nil {
		if time.Since(known.at) < rightsFresh {
			return known.may, nil
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.patience, errLate)
		defer cancel()
	}
	may, err := c.askRights(ctx)
	switch {
	case err == nil && len(may) > 0:
		c.rights.Store(&knownRights{may, time.Now()})
	case err != nil && known != nil:
		return known.may, nil
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
