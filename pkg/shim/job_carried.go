package shim

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"
)

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
			select c.job_id, c.context::text from S._gw_job_contexts($1::bigint[], $2::integer[]) as c`), ids,
			revisions)
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
