package gwui

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gwsql/gw/internal/inspect"
)

// event is something in the life of a job.
type event struct {
	At     inspect.Moment
	State  string // the state or the outcome that it led to, if any
	What   string
	Worker string
	Error  string
	IsNext bool // it has not happened yet
}

// timelineData is the life of a job.
type timelineData struct {
	Events []event
	Now    time.Time
	Kept   attemptsData
}

// timeline returns the life of a job, oldest first: from the job itself, its history, and the audit, as far as the role may read them.
func (c *Console) timeline(ctx context.Context, q *request) (d timelineData, err error) {
	jobs, err := c.readJob(ctx, q.may, q.id)
	if err != nil {
		return d, err
	}
	d.Now = jobs.Now
	if q.may["job_history"] {
		if d.Kept, err = c.showAttempts(ctx, q); err != nil {
			return d, err
		}
	}
	for _, a := range d.Kept.Rows {
		e := event{At: a.EndedAt, State: a.Outcome, Worker: a.WorkerID, Error: a.Error}
		if !a.StartedAt.IsNull() {
			e.What = fmt.Sprintf("attempt %s, ran %s", a.Tried(), a.Ran())
		}
		d.Events = append(d.Events, e)
	}
	if len(jobs.Rows) == 0 && len(d.Kept.Rows) == 0 {
		return timelineData{}, nil // the page says that there is no such job
	}
	acts, err := c.actsOn(ctx, q)
	for _, a := range acts.Rows {
		d.Events = append(d.Events, event{At: a.At, What: fmt.Sprintf("%s by %s", a.Act, printable(a.Who())), Error: a.Subject})
	}
	var next []event
	if len(jobs.Rows) > 0 {
		d.Events = append(d.Events, event{At: jobs.Rows[0].CreatedAt, What: "added"})
		next = d.addPresent(jobs.Rows[0])
	} else {
		d.Now = d.Kept.Now
		d.Events = append(d.Events, event{At: d.Kept.Rows[0].CreatedAt, What: "added"})
	}
	slices.SortStableFunc(d.Events, func(a, b event) int { return a.At.Compare(b.At.Time) })
	d.Events = append(d.Events, next...)
	return d, err
}

// addPresent adds what the job itself tells, and returns what comes next.
func (d *timelineData) addPresent(j job) (next []event) {
	left := max(0, j.MaxAttempts-j.Attempts)
	switch j.State {
	case "running":
		claimed := event{At: j.LockedAt, State: "running", What: fmt.Sprintf("attempt %s, claimed", j.Tried()), Worker: j.LockedBy}
		if j.IsCanceled() {
			claimed.What = "claimed" // which attempt it is, is not stored any more
		}
		d.Events = append(d.Events, claimed)
		switch {
		case j.IsCanceled():
			return []event{{IsNext: true, What: "Its cancellation is requested: the worker ends it after its next heartbeat."}}
		case left == 0:
			return []event{{IsNext: true, What: "If this attempt fails, no attempt is left."}}
		}
		return []event{{IsNext: true, What: "If this attempt fails, it is retried: " + plural(left, "attempt") + " left."}}
	case "failed":
		if len(d.Kept.Rows) == 0 {
			d.Events = append(d.Events, event{At: j.UpdatedAt, State: "failed", What: "attempt " + j.Tried(), Error: j.LastError})
		}
		return []event{{IsNext: true, What: "It stays until it is retried or removed."}}
	}
	if j.LastError != "" && j.Attempts > 0 && len(d.Kept.Rows) == 0 {
		d.Events = append(d.Events, event{At: j.UpdatedAt, What: "last changed, after attempt " + j.Tried(), Error: j.LastError})
	}
	if j.State == "scheduled" {
		return []event{{At: j.RunAt, State: "scheduled", IsNext: true, What: "is due"}}
	}
	if j.RunAt.Sub(j.CreatedAt.Time) > time.Second {
		d.Events = append(d.Events, event{At: j.RunAt, State: "ready", What: "due"})
	}
	return []event{{IsNext: true, What: fmt.Sprintf("It waits for a worker, for attempt %d/%d.", j.Attempts+1, j.MaxAttempts)}}
}

// actsOn returns the last acts of operators on a job, oldest first; none if the role may not read them.
func (c *Console) actsOn(ctx context.Context, q *request) (answer[pastAct], error) {
	if !q.may["list_audit"] {
		return answer[pastAct]{}, nil
	}
	acts, err := readCached[pastAct](ctx, c, fmt.Sprintf("audit of job %d", q.id),
		`select a.* from S.list_audit(max_rows => 20, job_id => $1::bigint) as a`, q.id)
	acts.Rows = slices.Clone(acts.Rows)
	slices.Reverse(acts.Rows)
	return acts, err
}

// attemptsShown is how many attempts of a job its page lists: the last ones.
const attemptsShown = 100

// attempt is a row of job_history or list_history.
type attempt struct {
	inspect.Attempt
	Payload      string `json:"payload"` // the beginning, like Result
	PayloadBytes int    `json:"payload_bytes"`
	Result       string `json:"result"`
	ResultBytes  int    `json:"result_bytes"`
}

// attemptsData is the history of a job.
type attemptsData struct {
	answer[attempt]
	ID          int64
	IsLong      bool // there are earlier attempts
	Key         string
	Payload     *document // of a job that has gone, if it is kept
	Result      *document // if it is kept
	HidesResult bool
}

// document is a JSON document as a page shows it.
type document struct {
	Title string
	Text  string // indented
	Bytes int    // of the whole document
	IsCut bool   // Text is only its beginning
}

// ID returns the beginning of the ids of its elements.
func (d document) ID() string { return "kept-" + strings.ToLower(d.Title) }

// document returns how a document of a job is shown, nil if there is none. What has been cut cannot be redacted.
func (c *Console) document(title, task, text string, bytes int, redact func(string, json.RawMessage) json.RawMessage) *document {
	if bytes == 0 {
		return nil
	}
	d := &document{Title: title, Bytes: bytes, IsCut: len(text) < bytes}
	switch {
	case redact == nil:
		d.Text = inspect.Indent(text)
	case !d.IsCut:
		d.Text = inspect.Indent(string(redact(task, json.RawMessage(text))))
	}
	return d
}

// readHistory returns what is recorded of a job: its last attempts and its end, oldest first. The first of more rows than are
// shown is only there to tell that there are more.
func (c *Console) readHistory(ctx context.Context, id int64) (answer[attempt], error) {
	return cached(ctx, c.cache, fmt.Sprintf("history %d", id), func(ctx context.Context) (answer[attempt], error) {
		found, err := read[attempt](ctx, c.store, `
			select h.attempt, h.max_attempts, h.outcome, h.worker_id, h.place, h.started_at, h.ended_at, h.error, h.task_identifier,
			       h.key, h.created_at, h.run_at,
			       pg_catalog.left(h.payload::text, $2::integer) as payload, pg_catalog.octet_length(h.payload::text) as payload_bytes,
			       pg_catalog.left(h.result::text, $2::integer) as result, pg_catalog.octet_length(h.result::text) as result_bytes
			  from S.job_history($1::bigint) as h
			 order by h.ended_at desc, h.attempt desc
			 limit $3::integer`, id, mostPayload, attemptsShown+1)
		slices.Reverse(found.Rows)
		return found, err
	})
}

// lastRecord returns the last record of a job that has gone, or an error that says that there is none.
func (c *Console) lastRecord(ctx context.Context, q *request) (*attempt, answer[attempt], error) {
	gone := noJob(q.id)
	acts, err := c.auditOfJob(ctx, q)
	if err != nil {
		return nil, answer[attempt]{}, err
	}
	gone.text += acts
	if !q.may["job_history"] {
		return nil, answer[attempt]{}, gone
	}
	history, err := c.readHistory(ctx, q.id)
	if err != nil {
		return nil, history, err
	}
	if len(history.Rows) == 0 {
		return nil, history, statusError{http.StatusNotFound, gone.text +
			" Nothing is recorded of it: jobs are recorded from the time when keep_task() is called for their task."}
	}
	return &history.Rows[len(history.Rows)-1], history, nil
}

// showAttempts returns what is recorded of a job, and its result.
func (c *Console) showAttempts(ctx context.Context, q *request) (d attemptsData, err error) {
	jobs, err := c.readJob(ctx, q.may, q.id)
	if err != nil {
		return d, err
	}
	history, err := c.readHistory(ctx, q.id)
	if err != nil || len(history.Rows) == 0 {
		return d, err
	}
	d = attemptsData{answer: history, ID: q.id, IsLong: len(history.Rows) > attemptsShown}
	if d.IsLong {
		d.Rows = d.Rows[1:]
	}
	last := d.Rows[len(d.Rows)-1]
	d.Key = last.Key
	if len(jobs.Rows) == 0 { // of others, the page shows the payload that is stored with the job
		d.Payload = c.document("Payload", last.Task, last.Payload, last.PayloadBytes, c.cfg.Redact)
	}
	if d.HidesResult = last.ResultBytes > 0 && c.cfg.Redact != nil && c.cfg.RedactResult == nil; !d.HidesResult {
		d.Result = c.document("Result", last.Task, last.Result, last.ResultBytes, c.cfg.RedactResult)
	}
	return d, nil
}
