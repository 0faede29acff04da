package gwui

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/operate"
	"github.com/gwsql/gw/internal/statement"
)

// once runs the statement of an action that is not an operation on jobs, in a transaction with its audit, and returns its rows.
func once[T any](ctx context.Context, c *Console, q *request, sql string, args ...any) (done answer[T], err error) {
	err = c.store.act(ctx, auditOf(q.viewer.Name), func(conn *pgx.Conn) error {
		done, err = ask[T](ctx, c.store, conn, sql, args...)
		return err
	})
	return done, err
}

// once does the same as [once], for a statement whose rows are not needed.
func (c *Console) once(ctx context.Context, q *request, sql string, args ...any) error {
	_, err := once[struct{}](ctx, c, q, sql, args...)
	return err
}

// auditOf returns the audit of a user's action.
func auditOf(viewer string) operate.Audit {
	return operate.Audit{Actor: cmp.Or(viewer, "console")}
}

// question is a page that asks for confirmation of an action that does not change jobs. Its form is sent to the URL of the page,
// whose query names what the action changes: a browser would change the line breaks of a name in a hidden field.
type question struct {
	Title, Text string
	Warning     string
	Statement   string // of SQL, which is run
	Button      string
	Back        template.URL
	Setting     *setting
	Fields      []field
}

// asks returns the page of a question.
func (q *request) asks(nav string, d question) *view {
	d.Fields = q.filled(d.Fields)
	return &view{Title: d.Title, Nav: nav, panels: []panel{
		{id: "confirm", body: "question", still: true, load: func(context.Context) (any, error) { return d, nil }},
	}}
}

// filled returns fields with what the user has typed, if the request sends the form.
func (q *request) filled(fields []field) []field {
	fields = slices.Clone(fields)
	for i := range fields {
		if q.typed != nil {
			fields[i].Value = q.typed.Get(fields[i].Name)
		}
	}
	return fields
}

// typed returns what the user has typed into a field of a form, nil for nothing.
func typed(form url.Values, name string) any {
	return statement.OrNull(strings.TrimSpace(form.Get(name)))
}

// needs returns an error unless the viewer may act by a function; an empty name is none.
func (q *request) needs(function string) error {
	if function != "" && !q.Can(function) {
		return statusError{http.StatusForbidden, "You do not have the right to do this."}
	}
	return nil
}

func confirmCopy(_ context.Context, _ *Console, q *request) (*view, error) {
	return q.asks("jobs", question{
		Title: "Add a copy",
		Text: fmt.Sprintf("A job with the task, payload, queue, priority and flags of job %d is added, due now and with all attempts. "+
			"It has no key. Job %d is not changed.", q.id, q.id),
		Button: "Add a copy", Back: template.URL(fmt.Sprintf("jobs/%d", q.id)),
	}), nil
}

// addCopy adds a copy of a job, and returns the page of the copy.
func addCopy(ctx context.Context, c *Console, q *request, _ url.Values) (outcome, error) {
	done, err := once[struct {
		ID int64 `json:"id"`
	}](ctx, c, q, `select r.id from S.copy_job($1::bigint) as r (id)`, q.id)
	if err == nil && (len(done.Rows) != 1 || done.Rows[0].ID == 0) {
		err = noJob(q.id)
	}
	if err != nil {
		return outcome{}, err
	}
	return outcome{fmt.Sprintf("jobs/%d", done.Rows[0].ID), fmt.Sprintf("Added this copy of job %d.", q.id)}, nil
}

func confirmUnlock(ctx context.Context, c *Console, q *request) (*view, error) {
	id := q.query.Get("worker")
	held, err := read[worker](ctx, c.store, workerQuery, id) // as it is now, not as it was some seconds ago
	if err != nil {
		return nil, err
	}
	d := question{
		Title: "Unlock", Button: "Unlock", Back: template.URL(backTo(q.query, "workers")),
		Warning: "Unlock a worker only if it is dead: the jobs of a live worker would run a second time.",
	}
	if len(held.Rows) == 1 {
		h := held.Rows[0]
		seen, about := "It is not registered.", ""
		if !h.LastSeenAt.IsNull() {
			seen = "It was last seen " + relative(h.LastSeenAt, held.Now) + "."
		}
		if h.IsEstimate {
			about = "about "
		}
		d.Text = fmt.Sprintf("The worker %s holds %s%s, and perhaps named queues. %s", printable(id), about, plural(h.Running, "job"), seen)
	} else {
		d.Text = fmt.Sprintf("The worker %s is not known. Jobs and queues that it holds are freed.", printable(id))
	}
	return q.asks("workers", d), nil
}

func unlockWorker(ctx context.Context, c *Console, q *request, _ url.Values) (outcome, error) {
	id := q.query.Get("worker")
	err := c.once(ctx, q, `select 1 as one from S.force_unlock_workers(array[$1::text]) as f`, id)
	return outcome{backTo(q.query, "workers"), "Freed the jobs and queues of the worker " + printable(id) + "."}, err
}

// drains reports whether a request drains a worker, or lets a drained one claim again.
func (q *request) drains() bool { return q.query.Get("undo") == "" }

func confirmDrain(_ context.Context, _ *Console, q *request) (*view, error) {
	d := question{
		Title: "Drain", Button: "Drain", Back: template.URL(backTo(q.query, "workers")),
		Text: fmt.Sprintf("The worker %s claims no more jobs from its next heartbeat on, and goes on with those that it has. "+
			"Once it is drained, its process can be stopped without interrupting a job.", printable(q.query.Get("worker"))),
	}
	if !q.drains() {
		d.Title, d.Button = "Let claim", "Let claim"
		d.Text = fmt.Sprintf("The worker %s claims jobs again from its next heartbeat on.", printable(q.query.Get("worker")))
	}
	return q.asks("workers", d), nil
}

func drainWorker(ctx context.Context, c *Console, q *request, _ url.Values) (outcome, error) {
	id := q.query.Get("worker")
	done, err := once[struct {
		IsKnown bool `json:"is_known"`
	}](ctx, c, q, `select S.drain_worker($1::text, $2::boolean) as is_known`, id, q.drains())
	if err == nil && !done.Rows[0].IsKnown {
		err = statusError{http.StatusNotFound, fmt.Sprintf("The worker %s is not registered.", printable(id))}
	}
	what := "is drained"
	if !q.drains() {
		what = "claims jobs again"
	}
	return outcome{backTo(q.query, "workers"), fmt.Sprintf("The worker %s %s from its next heartbeat on.", printable(id), what)}, err
}

func confirmSetting(ctx context.Context, c *Console, q *request) (*view, error) {
	known, err := c.settings(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range known.Rows {
		if s.Name == q.query.Get("name") {
			if q.typed != nil {
				s.Value = q.typed.Get("value")
			}
			return q.asks("settings", question{Title: "Set " + s.Name, Text: s.Meaning, Button: "Set", Back: "settings", Setting: &s}), nil
		}
	}
	return nil, errNoPage
}

func setSetting(ctx context.Context, c *Console, q *request, form url.Values) (outcome, error) {
	name := q.query.Get("name")
	set, err := once[setting](ctx, c, q, `select s.value from S.set_setting($1::text, $2::text) as s (value)`,
		name, typed(form, "value"))
	if err != nil || len(set.Rows) != 1 {
		return outcome{}, err
	}
	return outcome{"settings", fmt.Sprintf("%s is %s.", name, printable(set.Rows[0].Value))}, nil
}
