package shim

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Propagator carries values of a context, such as a trace, from the caller that adds a job to the handler that runs it.
// They are stored beside the job, so payloads are unchanged. They belong to one request for the job: a request that
// replaces the job under its key stores its own values or none. pkg/gwotel implements one for OpenTelemetry.
type Propagator interface {
	// Inject returns the values to store with a job that is added under ctx; nothing is stored if the map is empty.
	// Names and values with a zero byte are ignored.
	Inject(ctx context.Context) map[string]string

	// Extract returns ctx, the context of a handler, with the values stored with its job. It is not called for a job
	// without any.
	Extract(ctx context.Context, carried map[string]string) context.Context
}

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
		   select S._gw_put_job_contexts(pg_catalog.array_agg(a.id), pg_catalog.array_agg(a.revision), ` + parameter + `::json)
		     from added as a where ` + really + `
		 )
		 select a.* from added as a cross join put) as r`
}

// readCarried reads the values stored with jobs. If that fails, the jobs run without them.
func (q *queries) readCarried(ctx context.Context, jobs []*Job) {
	if q.worker.propagator == nil {
		return
	}
	byID := make(map[int64]*Job, len(jobs))
	ids, revisions := make([]int64, len(jobs)), make([]int32, len(jobs))
	for i, job := range jobs {
		byID[job.ID] = job
		ids[i], revisions[i] = job.ID, int32(job.Revision)
	}
	err := q.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, q.text(`
			select c.job_id, c.context::text from S._gw_job_contexts($1::bigint[], $2::integer[]) as c`), ids, revisions)
		if err != nil {
			return err
		}
		var id int64
		var text string
		_, err = pgx.ForEachRow(rows, []any{&id, &text}, func() error {
			return json.Unmarshal([]byte(text), &byID[id].carried)
		})
		return err
	})
	if err != nil {
		q.worker.ownLogger().Warn("contexts of jobs could not be read, jobs run without them", "error", err)
	}
}

// within returns the context for the job's handler, with the values stored with the job.
func (j *Job) within(ctx context.Context) context.Context {
	if j.carried == nil {
		return ctx
	}
	return j.worker.propagator.Extract(ctx, j.carried)
}
