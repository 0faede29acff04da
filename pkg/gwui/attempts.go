package gwui

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gwsql/gw/internal/inspect"
)

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
