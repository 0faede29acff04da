package shim

import (
	"context"
	"encoding/json"
	"strings"
)

// carried returns the values to store with jobs that are added under ctx, as JSON, or nil.
func (c *Client) carried(ctx context.Context) (any, error) {
	if c.cfg.Propagator == nil {
		return nil, nil
	}
	values := make(map[string]string)
	for name, value := range c.cfg.Propagator.Inject(ctx) {
		if !strings.ContainsRune(name+value, 0) { // jsonb cannot store it
			values[name] = value
		}
	}
	if len(values) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(values)
	return string(text), err
}

// addedBy returns the from clause of a statement that adds jobs, as r. If carried is not nil, it also stores the
// context given by parameter, with those of the returned jobs, a, that the call has really added.
func addedBy(adding, really string, carried any, parameter string) string {
	if carried == nil {
		return adding + ` as r`
	}
	return `
		(with added as materialized (
		   select a.* from ` + adding + ` as a
		 ), put as (
		   select S._gw_put_job_contexts(pg_catalog.array_agg(a.id), pg_catalog.array_agg(a.revision), ` + parameter +
		`::json)
		     from added as a where ` + really + `
		 )
		 select a.* from added as a cross join put) as r`
}
