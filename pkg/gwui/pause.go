package gwui

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/storable"
)

// target is the target of a pause: a task, a queue, a limit or one of its lanes, or everything.
type target struct {
	Task  string  `json:"task"`
	Queue string  `json:"queue"`
	Limit string  `json:"limit_name"`
	Lane  *string `json:"lane"`
}

// values are those of a query that names the target.
func (t target) values() url.Values {
	values := make(url.Values)
	for name, value := range map[string]string{"task": t.Task, "queue": t.Queue, "limit": t.Limit} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if t.Lane != nil {
		values.Set("lane", *t.Lane)
	}
	if len(values) == 0 {
		values.Set("all", "1")
	}
	return values
}

// arguments are those of pause() and resume().
func (t target) arguments() []any {
	return []any{statement.OrNull(t.Task), statement.OrNull(t.Queue), statement.OrNull(t.Limit), t.Lane}
}

// is reports whether both are the same.
func (t target) is(other target) bool { return t.values().Encode() == other.values().Encode() }

// String returns the target as text.
func (t target) String() string {
	switch {
	case t.Task != "":
		return "the task " + t.Task
	case t.Queue != "":
		return "the queue " + t.Queue
	case t.Lane != nil:
		return fmt.Sprintf("the lane %s of the limit %s", *t.Lane, t.Limit)
	case t.Limit != "":
		return "the limit " + t.Limit
	}
	return "everything"
}

// Everything is the target of a pause of all jobs.
func (p pauses) Everything() target { return target{} }

// Target returns the target of the pause.
func (p pauseRow) Target() target { return p.target }

// pauseRow is a row of list_pauses.
type pauseRow struct {
	target
	Reason   string         `json:"reason"`
	Author   string         `json:"author"`
	PausedAt inspect.Moment `json:"paused_at"`
	Until    inspect.Moment `json:"until"`
}

// pauses are the pauses in force.
type pauses struct{ answer[pauseRow] }

// Of returns the pause of a target, nil if it is not paused by itself.
func (p pauses) Of(t target) *pauseRow {
	for i := range p.Rows {
		if p.Rows[i].is(t) {
			return &p.Rows[i]
		}
	}
	return nil
}

// pauses returns the pauses in force, and none if the role may not read them.
func (c *Console) pauses(ctx context.Context, q *request) (pauses, error) {
	if !q.may["list_pauses"] {
		return pauses{}, nil
	}
	found, err := readCached[pauseRow](ctx, c, "pauses", `select p.* from S.list_pauses() as p`)
	return pauses{found}, err
}

// pausing returns the link by which a target is paused or resumed.
func pausing(d panelData, paused pauses, t target) link {
	p := link{What: t.String()}
	switch isPaused := paused.Of(t) != nil; {
	case isPaused && d.Q.Can("resume"):
		p.Title, p.URL = "Resume…", d.actOn(t, "resume")
	case !isPaused && d.Q.Can("pause"):
		p.Title, p.URL = "Pause…", d.actOn(t, "pause")
	}
	if p.Title == "Pause…" && t.is(target{}) { // no row names it
		p.Title, p.What = "Pause everything…", ""
	}
	return p
}

// actOn returns the URL of the form that acts on a target and returns to this page.
func (d panelData) actOn(t target, form string) template.URL {
	values := t.values()
	values.Set("back", d.Q.back())
	return template.URL(d.Root + form + "?" + values.Encode())
}

// CanPause reports whether the viewer may pause or resume.
func (q *request) CanPause() bool { return q.Can("pause") || q.Can("resume") }

// effect returns the effect of a pause of the target, as a sentence.
func (t target) effect() string {
	whose := "Jobs of " + printable(t.String())
	switch {
	case t == (target{}):
		whose = "No job starts"
	case t.Queue != "":
		whose = "Jobs in " + printable(t.String())
	}
	if t != (target{}) {
		whose += " do not start"
	}
	return whose + " until this pause ends. Running jobs continue, and jobs can be added."
}

// pauseFields are the fields of the form of a pause.
func pauseFields(reason string) []field {
	return []field{
		{Name: "reason", Label: "Reason", Hint: "The reason, which is part of the answer when users ask why jobs do not start.", Value: reason},
		{Name: "for", Label: "Ends in", Hint: "A time from now, such as 30m or 2h. Empty: the pause lasts until it is resumed."},
		{Name: "until", Label: "Or ends at", Hint: "A time, such as 2026-12-24 18:00+01; in UTC without a time zone."},
	}
}

// target returns the target that the query names.
func (q *request) target() (target, error) {
	t := target{Task: q.query.Get("task"), Queue: q.query.Get("queue"), Limit: q.query.Get("limit")}
	if q.query.Has("lane") {
		t.Lane = new(q.query.Get("lane"))
	}
	if t == (target{}) && q.query.Get("all") == "" {
		return t, statusError{http.StatusBadRequest, "The request does not name what to pause or to resume."}
	}
	return t, nil
}

// ask returns the page that asks for confirmation of an act on a target.
func (q *request) ask(verb string, t target) question {
	return question{Title: verb + " " + printable(t.String()), Button: verb, Back: template.URL(backTo(q.query, "limits"))}
}

// askAbout returns the target that the query names, the pauses in force, and the page that asks for confirmation of an
// act on it.
func (c *Console) askAbout(ctx context.Context, q *request, verb string) (
	t target, paused pauses, d question, err error,
) {
	if t, err = q.target(); err != nil {
		return t, paused, d, err
	}
	paused, err = c.pauses(ctx, q)
	return t, paused, q.ask(verb, t), err
}

func confirmPause(ctx context.Context, c *Console, q *request) (*view, error) {
	t, paused, d, err := c.askAbout(ctx, q, "Pause")
	if err != nil {
		return nil, err
	}
	d.Text, d.Fields = t.effect(), pauseFields("")
	if t == (target{}) {
		d.Warning = "Workers of Graphile Worker for Node.js do not obey a pause of everything."
	}
	if now := paused.Of(t); now != nil {
		d.Warning = "This is paused already; the form changes the reason and the end of that pause."
		d.Fields = pauseFields(now.Reason)
	}
	return q.asks("limits", d), nil
}

func pause(ctx context.Context, c *Console, q *request, form url.Values) (outcome, error) {
	t, err := q.target()
	if err != nil {
		return outcome{}, err
	}
	if typed(form, "for") != nil && typed(form, "until") != nil {
		return outcome{}, statusError{http.StatusBadRequest, "Give one end, not two."}
	}
	return outcome{backTo(q.query, "limits"), "Paused " + printable(t.String()) + "."}, c.once(ctx, q, `
		select 1 as one
		  from S.pause($1::text, $2::text, $3::text, $4::text, $5::text,
		               coalesce($6::text::timestamptz, pg_catalog.now() operator(pg_catalog.+) $7::text::interval)) as p`,
		append(t.arguments(), storable.Arg(typed(form, "reason")), typed(form, "until"), typed(form, "for"))...)
}

func confirmResume(ctx context.Context, c *Console, q *request) (*view, error) {
	t, paused, d, err := c.askAbout(ctx, q, "Resume")
	if err != nil {
		return nil, err
	}
	d.Text = "Due jobs start at once."
	if now := paused.Of(t); now != nil {
		d.Text = now.told(paused.Now, q.zone) + " Due jobs start at once."
	}
	return q.asks("limits", d), nil
}

// told returns who has paused it, when and why, as a sentence.
func (p pauseRow) told(now time.Time, zone *time.Location) string {
	text := fmt.Sprintf("Paused by %s %s", printable(p.Author), relative(p.PausedAt, now))
	if !p.Until.IsNull() {
		text += ", until " + absolute(p.Until, zone)
	}
	if p.Reason != "" {
		text += ": " + printable(p.Reason)
	}
	return strings.TrimRight(text, ".") + "."
}

func resume(ctx context.Context, c *Console, q *request, _ url.Values) (outcome, error) {
	t, err := q.target()
	if err != nil {
		return outcome{}, err
	}
	done, err := once[struct {
		WasPaused bool `json:"was_paused"`
	}](ctx, c, q, `select r.was_paused from S.resume($1::text, $2::text, $3::text, $4::text) as r (was_paused)`, t.arguments()...)
	did := "Resumed " + printable(t.String()) + "."
	if len(done.Rows) == 1 && !done.Rows[0].WasPaused {
		did = sentence(errors.New(printable(t.String()) + " was not paused"))
	}
	return outcome{backTo(q.query, "limits"), did}, err
}
