package gwui

import (
	"context"
	"fmt"
	"html/template"
	"net/url"
)

func confirmCopy(_ context.Context, _ *Console, q *request) (*view, error) {
	if err := q.needs("copy_job"); err != nil {
		return nil, err
	}
	return question{
		Title: "Add a copy",
		Text: fmt.Sprintf("A job with the task, payload, queue, priority and flags of job %d is added, due now and with all attempts. "+
			"It has no key. Job %d is not changed.", q.id, q.id),
		Action: "copy", Button: "Add a copy", Back: template.URL(fmt.Sprintf("jobs/%d", q.id)),
	}.page("jobs"), nil
}

// addCopy adds a copy of a job, and returns the page of the copy.
func addCopy(ctx context.Context, c *Console, q *request, _ url.Values) (string, error) {
	if err := q.needs("copy_job"); err != nil {
		return "", err
	}
	done, err := once[struct {
		ID int64 `json:"id"`
	}](ctx, c, q, `select r.id from S.copy_job($1::bigint) as r (id)`, q.id)
	if err == nil && (len(done.Rows) != 1 || done.Rows[0].ID == 0) {
		err = noJob(q.id)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("jobs/%d", done.Rows[0].ID), nil
}
