package shim

import (
	"cmp"
	"context"
	"fmt"
	"time"
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

// ListHistory returns recorded attempts and ends of jobs of kept tasks, latest first; see [Client.KeepTask]. The next page is that
// after the last row of a page; there is none after a page with fewer rows than the limit.
func (c *Client) ListHistory(ctx context.Context, filter HistoryFilter) ([]HistoryRow, error) {
	var beforeAt, beforeID any
	if after := filter.After; after != nil {
		beforeAt, beforeID = textOfTime(after.Attempt.EndedAt), after.JobID
	}
	rows, err := listed(ctx, c, func(scan func(...any) error) (row HistoryRow, err error) {
		a := &row.Attempt
		var worker, place, key, lastError *string
		err = scan(&row.JobID, &row.Task, &a.Attempt, &a.MaxAttempts, &a.Outcome, &worker, &place, &key, (*moment)(&a.StartedAt),
			(*moment)(&a.EndedAt), (*moment)(&a.RunAt), (*moment)(&row.CreatedAt), &lastError)
		a.WorkerID, a.Place, a.Error, row.JobKey = orZero(worker), orZero(place), orZero(lastError), orZero(key)
		return row, err
	}, `
		select h.job_id, h.task_identifier, h.attempt::integer, h.max_attempts::integer, h.outcome, h.worker_id, h.place, h.key,
		       `+momentOf("h.started_at")+`, `+momentOf("h.ended_at")+`, `+momentOf("h.run_at")+`, `+momentOf("h.created_at")+`, h.error
		  from S.list_history($1::text, $2::text, $3::text, $4::text, $5::boolean, $6::timestamptz, $7::timestamptz, $8::timestamptz,
		                      $9::bigint, $10::integer) as h`,
		orNull(filter.Task), orNull(filter.Outcome), orNull(filter.WorkerID), orNull(filter.JobKey), filter.Failures,
		textOfTime(filter.Since), textOfTime(filter.Until), beforeAt, beforeID, cmp.Or(filter.Limit, 100))
	if err != nil {
		return nil, fmt.Errorf("list the history: %w", err)
	}
	return rows, nil
}

// textOfTime returns a time as a parameter, nil for a zero time.
func textOfTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}
