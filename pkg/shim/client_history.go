package shim

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/gwsql/gw/internal/rows"
)

// KeptTask is a task whose jobs are recorded; see [Client.KeepTask].
type KeptTask struct {
	Task     string
	KeepFor  time.Duration // for how long records are kept at least
	Payloads bool          // payloads are kept when jobs end
	Results  bool          // results are kept
}

// KeepTask records the attempts and ends of the jobs of a task from now on; [Client.JobHistory] returns them. A second
// call for a task replaces the first. An error of the queue has the code GWKFR (KeepFor), one of the task's name
// (GWBNI, GWBID), or GWKLT: open transactions have changed jobs, so that the first call in a database has to be
// repeated when they have ended.
func (c *Client) KeepTask(ctx context.Context, kept KeptTask) error {
	err := c.order(ctx, `select S.keep_task($1::text, `+rows.Microseconds("$2")+`, $3::boolean, $4::boolean)::text`,
		kept.Task, kept.KeepFor.Microseconds(), kept.Payloads, kept.Results)
	return during(err, "keep task %q", kept.Task)
}

// StopKeepingTask ends [Client.KeepTask]. What was recorded is dropped when its time is over. It reports whether the
// task was kept.
func (c *Client) StopKeepingTask(ctx context.Context, task string) (was bool, err error) {
	was, err = singleValue[bool](ctx, c, `select S.stop_keeping_task($1::text)`, task)
	return was, during(err, "stop keeping task %q", task)
}

// KeptTasks returns the tasks whose jobs are recorded, by name.
func (c *Client) KeptTasks(ctx context.Context) ([]KeptTask, error) {
	tasks, err := listed(ctx, c, func(kept *KeptTask) []any {
		return []any{&kept.Task, rows.Span(&kept.KeepFor), &kept.Payloads, &kept.Results}
	}, `select k.task, `+rows.SpanOf("k.keep_for")+`, k.payloads, k.results from S.list_kept_tasks() as k`)
	return tasks, during(err, "list kept tasks")
}

// Attempt is an attempt of a job of a kept task, or its end without an attempt.
type Attempt struct {
	Attempt     int
	MaxAttempts int
	Outcome     string    // completed, failed, permanently_failed, snoozed, returned, recovered, canceled, replaced or removed
	WorkerID    string    // empty without an attempt
	Place       string    // the named queue, and the lanes of a job with limits
	RunAt       time.Time // when it was due; zero if that is not known
	StartedAt   time.Time // when it was claimed; zero without an attempt
	EndedAt     time.Time
	Error       string // its first line
	Payload     json.RawMessage
	Result      json.RawMessage
}

// JobHistory returns the recorded attempts and the end of a job of a kept task, oldest first, also after the job has
// gone. It returns none if the task was not kept.
func (c *Client) JobHistory(ctx context.Context, id int64) ([]Attempt, error) {
	attempts, err := listed(ctx, c, func(a *Attempt) []any {
		return []any{&a.Attempt, &a.MaxAttempts, &a.Outcome, rows.OrZero(&a.WorkerID), rows.OrZero(&a.Place),
			rows.Time(&a.RunAt), rows.Time(&a.StartedAt),
			rows.Time(&a.EndedAt), rows.OrZero(&a.Error), (*[]byte)(&a.Payload), (*[]byte)(&a.Result)}
	}, `
		select h.attempt::integer, h.max_attempts::integer, h.outcome, h.worker_id, h.place,
		       `+rows.TimeOf("h.run_at")+`, `+rows.TimeOf("h.started_at")+`, `+rows.TimeOf("h.ended_at")+`, h.error,
		       h.payload::text, h.result::text
		  from S.job_history($1::bigint) as h`, id)
	return attempts, during(err, "read the history of job %d", id)
}

// TaskStats is what the jobs of a kept task did in a span of time.
type TaskStats struct {
	Attempts          int64
	Completed         int64
	Failed            int64 // attempts that were tried again
	PermanentlyFailed int64
	Recovered         int64 // attempts whose worker died
	Snoozed           int64
	Returned          int64

	Waited Percentiles // from when a job was due to its claim
	Ran    Percentiles // from the claim to the end
}

// Percentiles are the times that 50, 95 and 99 of a hundred attempts did not exceed.
type Percentiles struct{ P50, P95, P99 time.Duration }

// TaskStats returns what the jobs of a kept task did from since until a time, by the ends of their attempts; a zero
// until is now. The percentiles of more than 50 000 attempts are computed from a part of them.
func (c *Client) TaskStats(ctx context.Context, task string, since, until time.Time) (*TaskStats, error) {
	stats, err := firstRow(ctx, c, func(s *TaskStats) []any {
		return []any{&s.Attempts, &s.Completed, &s.Failed, &s.PermanentlyFailed, &s.Recovered, &s.Snoozed, &s.Returned,
			rows.Span(&s.Waited.P50), rows.Span(&s.Waited.P95), rows.Span(&s.Waited.P99), rows.Span(&s.Ran.P50),
			rows.Span(&s.Ran.P95), rows.Span(&s.Ran.P99)}
	}, `
		select s.attempts, s.completed, s.failed, s.permanently_failed, s.recovered, s.snoozed, s.returned,
		       `+rows.SpanOf("s.waited_p50")+`, `+rows.SpanOf("s.waited_p95")+`, `+rows.SpanOf("s.waited_p99")+`,
		       `+rows.SpanOf("s.ran_p50")+`, `+rows.SpanOf("s.ran_p95")+`, `+rows.SpanOf("s.ran_p99")+`
		  from S.task_stats($1::text, $2::timestamptz, $3::timestamptz) as s`,
		task, since.UTC().Format(time.RFC3339Nano), rows.TimeOrNull(until))
	return stats, during(err, "read statistics of task %q", task)
}

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
			rows.OrZero(&a.Place), rows.OrZero(&r.JobKey), rows.Time(&a.StartedAt), rows.Time(&a.EndedAt),
			rows.Time(&a.RunAt), rows.Time(&r.CreatedAt), rows.OrZero(&a.Error)}
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
