package shim

import (
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
