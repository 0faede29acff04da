package gwui

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/statement"
)

// changing returns the link to a form that changes a limit or a lane by a function.
func changing(d panelData, function, title string, t target) pausing {
	if !d.Q.Can(function) {
		return pausing{}
	}
	return pausing{Title: title, What: t.String(), URL: d.actOn(t, limitForms[function])}
}

// limitForms are the paths of the forms that change limits, by the functions that the forms call.
var limitForms = map[string]string{"set_limit": "limits/set", "drop_limit": "limits/drop", "override_lane": "limits/override", "open_lane": "limits/open"}

// MayChangeLimits reports whether the viewer may pause, resume or change limits.
func (q *request) MayChangeLimits() bool {
	return q.CanPause() || q.Can("set_limit") || q.Can("drop_limit") || q.Can("override_lane") || q.Can("open_lane")
}

// aLimit returns the limit of this name; a limit without a name if there is none.
func (c *Console) aLimit(ctx context.Context, name string) (limit, error) {
	known, err := c.limits(ctx)
	if i := slices.IndexFunc(known.Rows, func(l limit) bool { return l.Name == name }); i >= 0 {
		return known.Rows[i], err
	}
	return limit{}, err
}

// noLimit is the error for a limit that does not exist.
func noLimit(name string) error {
	return statusError{http.StatusNotFound, fmt.Sprintf("There is no limit %s.", printable(name))}
}

// numberFields are the numbers of a limit, or those that override them for a lane.
func numberFields(w inspect.Widths) []field {
	if w.Burst != nil && w.Rate != nil && *w.Burst == *w.Rate {
		w.Burst = nil // follows the rate when that is changed
	}
	return []field{
		{Name: "max_running", Label: "At once", Hint: "How many jobs of a lane run at once.", Value: numeral(w.MaxRunning)},
		{Name: "rate", Label: "Starts", Hint: "How many jobs of a lane start per time.", Value: numeral(w.Rate)},
		{Name: "per", Label: "Per", Hint: "The time of these starts, such as 1s, 1 minute or 1 day.", Value: w.Per},
		{Name: "burst", Label: "Burst", Hint: "How many of them may start at the same moment. Empty: the number of starts.", Value: numeral(w.Burst)},
	}
}

func numeral(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func confirmLimit(ctx context.Context, c *Console, q *request) (*view, error) {
	if err := q.needs("set_limit"); err != nil {
		return nil, err
	}
	name := q.query.Get("limit")
	l, err := c.aLimit(ctx, name)
	if err != nil {
		return nil, err
	}
	back := backTo(q.query, "limits")
	d := question{
		Title: "New limit", Action: "set", Button: "Set", Back: template.URL(back), Hidden: map[string]string{"back": back},
		Text: "Later claims obey the limit. Running jobs count if workers of gw run them. " +
			"Without a number, a limit only lets its lanes take turns.",
		Warning: "Workers of Graphile Worker for Node.js do not see limited jobs, unless they are in a named queue.",
	}
	switch {
	case l.Name != "":
		d.Title, d.Hidden["limit"] = "Change "+printable(target{Limit: name}.String()), name
	case name != "":
		return nil, noLimit(name)
	default:
		d.Fields = []field{{Name: "limit", Label: "Name", Hint: "The name of the limit, which is part of the answer when users ask why jobs do not start."}}
	}
	numbers := numberFields(l.Widths)
	d.Fields = append(d.Fields,
		field{Name: "tasks", Label: "Tasks", Kind: "lines", Hint: "The tasks to which the limit applies, one per line. Empty: all.", Value: strings.Join(l.Tasks, "\n")},
		field{Name: "by", Label: "Lanes by", Hint: "What assigns a job to a lane: payload:FIELD or flag:NAME. Empty: one lane.", Value: l.By},
		numbers[0],
		field{Name: "total_running", Label: "In all lanes", Hint: "How many jobs of all lanes run at once.", Value: numeral(l.TotalRunning)},
		numbers[1], numbers[2], numbers[3],
		field{Name: "fair", Label: "Fair", Kind: "check", Hint: "The lanes take turns.", Value: map[bool]string{true: "yes"}[l.Fair]},
		field{Name: "strict", Label: "Strict", Hint: "For how long a job of a worker that seems dead keeps its slots after another worker may run it, such as 1 minute.", Value: l.Strict})
	return d.page("limits"), nil
}

// numbers returns the values of fields, null where they are empty.
func numbers(form url.Values, names ...string) (values []any, err error) {
	for _, name := range names {
		text := strings.TrimSpace(form.Get(name))
		if text == "" {
			values = append(values, nil)
			continue
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return nil, statusError{http.StatusBadRequest, fmt.Sprintf("Nothing was done: %s is not a whole number in the range of this field.", printable(text))}
		}
		values = append(values, n)
	}
	return values, nil
}

// lines returns the lines of a field that are not empty, nil if there are none.
func lines(text string) (found []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			found = append(found, line)
		}
	}
	return found
}

func setLimit(ctx context.Context, c *Console, q *request, form url.Values) (string, error) {
	if err := q.needs("set_limit"); err != nil {
		return "", err
	}
	n, err := numbers(form, "max_running", "total_running", "rate", "burst")
	if err != nil {
		return "", err
	}
	get := func(name string) any { return statement.OrNull(strings.TrimSpace(form.Get(name))) }
	return backTo(form, "limits"), c.once(ctx, q, `
		select 1 as one
		  from S.set_limit($1::text, $2::text[], $3::text, $4::bigint::integer, $5::bigint::integer, $6::bigint::integer,
		                   $7::text::interval, $8::bigint::integer, $9::boolean, $10::text::interval) as s`,
		strings.TrimSpace(form.Get("limit")), lines(form.Get("tasks")), get("by"), n[0], n[1], n[2], get("per"), n[3],
		form.Get("fair") != "", get("strict"))
}

func confirmDrop(_ context.Context, _ *Console, q *request) (*view, error) {
	t, err := q.limit("drop_limit", q.query)
	if err != nil {
		return nil, err
	}
	d := q.ask("Drop", t, "drop")
	d.Text = "Later claims do not obey it. The numbers of single lanes are deleted, too."
	return d.page("limits"), nil
}

func dropLimit(ctx context.Context, c *Console, q *request, form url.Values) (string, error) {
	t, err := q.limit("drop_limit", form)
	if err != nil {
		return "", err
	}
	return backTo(form, "limits"), c.once(ctx, q, `select 1 as one from S.drop_limit($1::text) as d`, t.Limit)
}

func confirmOverride(ctx context.Context, c *Console, q *request) (*view, error) {
	t, err := q.lane("override_lane", q.query)
	if err != nil {
		return nil, err
	}
	l, err := c.aLimit(ctx, t.Limit)
	if err != nil {
		return nil, err
	}
	d := q.ask("Numbers of", t, "override")
	d.Text = "The numbers below replace those of the limit" + told(l) + " for this lane. Without a number, the lane has those of the limit again."
	d.Button, d.Fields = "Set", numberFields(inspect.Widths{})
	return d.page("limits"), nil
}

// told returns the numbers of a limit as text.
func told(l limit) string {
	var words []string
	if l.MaxRunning != nil {
		words = append(words, thousands(*l.MaxRunning)+" at once")
	}
	if l.Rate != nil {
		words = append(words, starts(l.Widths))
	}
	if words == nil {
		return ""
	}
	return " (" + strings.Join(words, "; ") + ")"
}

func overrideLane(ctx context.Context, c *Console, q *request, form url.Values) (string, error) {
	t, err := q.lane("override_lane", form)
	if err != nil {
		return "", err
	}
	n, err := numbers(form, "max_running", "rate", "burst")
	if err != nil {
		return "", err
	}
	return backTo(form, "limits"), c.once(ctx, q, `
		select 1 as one
		  from S.override_lane($1::text, $2::text, $3::bigint::integer, $4::bigint::integer, $5::text::interval, $6::bigint::integer) as o`,
		t.Limit, *t.Lane, n[0], n[1], statement.OrNull(strings.TrimSpace(form.Get("per"))), n[2])
}

func confirmOpen(_ context.Context, _ *Console, q *request) (*view, error) {
	t, err := q.limit("open_lane", q.query)
	if err != nil {
		return nil, err
	}
	d := q.ask("Open", t, "open")
	d.Text = "A worker has closed this lane, because a service accepts no more requests. When it is open, its jobs may start at once, " +
		"and a worker may close it again."
	return d.page("limits"), nil
}

func open(ctx context.Context, c *Console, q *request, form url.Values) (string, error) {
	t, err := q.limit("open_lane", form)
	if err != nil {
		return "", err
	}
	return backTo(form, "limits"), c.once(ctx, q, `select o.opened from S.open_lane($1::text, $2::text) as o (opened)`, t.Limit, t.Lane)
}

// limit returns the limit, or its lane, that a URL or a form names, if the viewer may act on it by a function.
func (q *request) limit(function string, values url.Values) (target, error) {
	t, err := q.target(function, values)
	if err == nil && t.Limit == "" {
		err = errNoPage
	}
	return t, err
}

// lane does the same for a lane, and returns an error if the target is not a lane.
func (q *request) lane(function string, values url.Values) (target, error) {
	t, err := q.limit(function, values)
	if err == nil && t.Lane == nil {
		err = errNoPage
	}
	return t, err
}
