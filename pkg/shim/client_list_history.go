package shim

import (
	"cmp"
	"context"
	"time"

	"github.com/gwsql/gw/internal/rows"
)

// HistoryFilter selects rows of [Client.ListHistory]. All given conditions must hold.
type HistoryFilter struct {
	Task     string    // empty for all tasks
	Outcome  string    // one of those of [Attempt]; empty for all
	WorkerID string    // empty for all workers
	JobKey   string    // empty for all jobs, with a key or without
	Failures bool      // only failed, permanently_failed and recovered attempts; without effect beside Outcome
	Since    time.Time // only what ended at this time or later; zero for all that is kept
	Until    time.Time // only what ended before this time; zero for all

	// After is the last row of the page before, nil for the first page.
	After *HistoryRow
	// Limit is the maximum number of rows. Default: 100.
	Limit int
}

// HistoryRow is an attempt or the end of a job of a kept task.
type HistoryRow struct {
	JobID     int64
	Task      string
	JobKey    string // empty without
	CreatedAt time.Time
	Attempt   Attempt // without its payload and result, which [Client.JobHistory] returns
}

// ListHistory returns recorded attempts and ends of jobs of kept tasks, latest first; see [Client.KeepTask]. The next
// page is that after the last row of a page; there is none after a page with fewer rows than the limit.
func (c *Client) ListHistory(ctx context.Context, filter HistoryFilter) ([]HistoryRow, error) {
	var beforeAt, beforeID any
	if after := filter.After; after != nil {
		beforeAt, beforeID = rows.TimeOrNull(after.Attempt.EndedAt), after.JobID
	}
	list, err := listed(ctx, c, func(r *HistoryRow) []any {
		a := &r.Attempt
		return []any{&r.JobID, &r.Task, &a.Attempt, &a.MaxAttempts, &a.Outcome, rows.OrZero(&a.WorkerID),
			rows.OrZero(&a.Place), rows.OrZero(&r.JobKey),
			rows.Time(&a.StartedAt), rows.Time(&a.EndedAt), rows.Time(&a.RunAt), rows.Time(&r.CreatedAt),
			rows.OrZero(&a.Error)}
	}, `
		select h.job_id, h.task_identifier, h.attempt::integer, h.max_attempts::integer, h.outcome, h.worker_id, h.place, h.key,
		       `+rows.TimeOf("h.started_at")+`, `+rows.TimeOf("h.ended_at")+`, `+rows.TimeOf("h.run_at")+`,
		       `+rows.TimeOf("h.created_at")+`, h.error
		  from S.list_history($1::text, $2::text, $3::text, $4::text, $5::boolean, $6::timestamptz, $7::timestamptz, $8::timestamptz,
		                      $9::bigint, $10::integer) as h`,
		rows.OrNull(filter.Task), rows.OrNull(filter.Outcome), rows.OrNull(filter.WorkerID), rows.OrNull(filter.JobKey),
		filter.Failures,
		rows.TimeOrNull(filter.Since), rows.TimeOrNull(filter.Until), beforeAt, beforeID, cmp.Or(filter.Limit, 100))
	return list, during(err, "list the history")
}
