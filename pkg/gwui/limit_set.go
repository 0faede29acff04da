package gwui

import (
	"context"
	"encoding/json"
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
func changing(d panelData, function, title string, t target) link {
	if !d.Q.Can(function) {
		return link{}
	}
	return link{Title: title, What: t.String(), URL: d.actOn(t, limitForms[function])}
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

// readLimit returns the limit of this name as it is now, which may differ from what a page shows.
func (c *Console) readLimit(ctx context.Context, name string) (limit, error) {
	found, err := read[limit](ctx, c.store, `select l.* from S.list_limits() as l where l.name operator(pg_catalog.=) $1::text`, name)
	if err != nil || len(found.Rows) == 0 {
		return limit{}, err
	}
	return found.Rows[0], nil
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
	name := q.query.Get("limit")
	l, err := c.aLimit(ctx, name)
	if err != nil {
		return nil, err
	}
	d := question{
		Title: "New limit", Button: "Set", Back: template.URL(backTo(q.query, "limits")),
		Text: "Later claims obey the limit. Running jobs count if workers of gw run them. " +
			"Without a number, a limit only lets its lanes take turns.",
		Warning: "Workers of Graphile Worker for Node.js do not see limited jobs, unless they are in a named queue.",
	}
	switch {
	case l.Name != "":
		d.Title = "Change " + printable(target{Limit: name}.String())
	case name != "":
		return nil, noLimit(name)
	default:
		d.Fields = []field{{Name: "limit", Label: "Name", Hint: "The name of the limit, which is part of the answer when users ask why jobs do not start."}}
	}
	numbers := numberFields(l.Widths)
	d.Fields = append(d.Fields,
		field{Name: "tasks", Label: "Tasks", Kind: "lines", Hint: "The tasks to which the limit applies, one per line. Empty: all.", Value: asLines(l.Tasks)},
		field{Name: "by", Label: "Lanes by", Hint: "What assigns a job to a lane: payload:FIELD or flag:NAME. Empty: one lane.", Value: l.By},
		numbers[0],
		field{Name: "total_running", Label: "In all lanes", Hint: "How many jobs of all lanes run at once.", Value: numeral(l.TotalRunning)},
		numbers[1], numbers[2], numbers[3],
		field{Name: "fair", Label: "Fair", Kind: "check", Hint: "The lanes take turns.", Value: map[bool]string{true: "yes"}[l.Fair]},
		field{Name: "strict", Label: "Strict", Hint: "For how long a job of a worker that seems dead keeps its slots after another worker may run it, such as 1 minute.", Value: l.Strict})
	return q.asks("limits", d), nil
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
			return nil, statusError{http.StatusBadRequest, fmt.Sprintf("%s is not a whole number in the range of this field.", printable(text))}
		}
		values = append(values, n)
	}
	return values, nil
}

// asLines returns names as the lines of a field. A name that would not be a line by itself is a JSON string.
func asLines(names []string) string {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = name
		if name != strings.TrimSpace(name) || strings.ContainsAny(name, "\r\n") || strings.HasPrefix(name, `"`) {
			text, _ := json.Marshal(name) // a string has no errors
			shown[i] = string(text)
		}
	}
	return strings.Join(shown, "\n")
}

// lines returns the names in the lines of such a field, nil if there are none.
func lines(text string) (found []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		var name string
		if strings.HasPrefix(line, `"`) && json.Unmarshal([]byte(line), &name) == nil {
			line = name
		}
		if line != "" {
			found = append(found, line)
		}
	}
	return found
}

// setLimit changes the limit that the query names, or adds the one whose name was typed.
func setLimit(ctx context.Context, c *Console, q *request, form url.Values) (outcome, error) {
	n, err := numbers(form, "max_running", "total_running", "rate", "burst")
	if err != nil {
		return outcome{}, err
	}
	name := q.query.Get("limit")
	isNew := name == ""
	if isNew {
		name = strings.TrimSpace(form.Get("limit"))
	}
	known, err := c.readLimit(ctx, name)
	switch {
	case err != nil:
		return outcome{}, err
	case isNew && known.Name != "":
		return outcome{}, statusError{http.StatusConflict, fmt.Sprintf("There is a limit %s already; the page Limits has the link to change it.", printable(name))}
	case !isNew && known.Name == "":
		return outcome{}, noLimit(name)
	}
	did := "Changed the limit " + printable(name) + "."
	if isNew {
		did = "Added the limit " + printable(name) + "."
	}
	return outcome{backTo(q.query, "limits"), did}, c.once(ctx, q, `
		select 1 as one
		  from S.set_limit($1::text, $2::text[], $3::text, $4::bigint::integer, $5::bigint::integer, $6::bigint::integer,
		                   $7::text::interval, $8::bigint::integer, $9::boolean, $10::text::interval) as s`,
		name, lines(form.Get("tasks")), statement.OrNull(entered(form, "by", known.By)), n[0], n[1], n[2],
		typed(form, "per"), n[3], form.Get("fair") != "", typed(form, "strict"))
}

func confirmDrop(_ context.Context, _ *Console, q *request) (*view, error) {
	t, err := q.limit()
	if err != nil {
		return nil, err
	}
	d := q.ask("Drop", t)
	d.Text = "Later claims do not obey it. The numbers of single lanes are deleted, too."
	return q.asks("limits", d), nil
}

func dropLimit(ctx context.Context, c *Console, q *request, _ url.Values) (outcome, error) {
	t, err := q.limit()
	if err != nil {
		return outcome{}, err
	}
	return outcome{"limits", "Dropped " + printable(t.String()) + "."}, c.once(ctx, q, `select 1 as one from S.drop_limit($1::text) as d`, t.Limit)
}

func confirmOverride(ctx context.Context, c *Console, q *request) (*view, error) {
	t, err := q.lane()
	if err != nil {
		return nil, err
	}
	l, err := c.aLimit(ctx, t.Limit)
	if err != nil {
		return nil, err
	}
	inForce, err := c.widths(ctx, l, *t.Lane)
	if err != nil {
		return nil, err
	}
	d := q.ask("Numbers of", t)
	d.Text = "These numbers are in force for this lane. Without a number, or with that of the limit" + told(l) + ", the lane follows the limit."
	d.Button, d.Fields = "Set", numberFields(inForce)
	return q.asks("limits", d), nil
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

// widths returns the numbers in force for a lane: those of the limit if it has none of its own.
func (c *Console) widths(ctx context.Context, l limit, key string) (inspect.Widths, error) {
	before := []rune(key) // the lanes are read from its beginning on, which sorts before it
	found, err := read[lane](ctx, c.store, `
		select l.lane, l.max_running, l.rate, l.per, l.burst
		  from S.list_lanes($1::text, $2::text, 10000) as l
		 where l.lane operator(pg_catalog.=) $3::text`, l.Name, statement.OrNull(string(before[:max(len(before)-1, 0)])), key)
	if err != nil || len(found.Rows) == 0 {
		return l.Widths, err
	}
	return found.Rows[0].Widths, nil
}

// overrideLane gives a lane numbers of its own. Those that are the limit's follow the limit.
func overrideLane(ctx context.Context, c *Console, q *request, form url.Values) (outcome, error) {
	t, err := q.lane()
	if err != nil {
		return outcome{}, err
	}
	l, err := c.readLimit(ctx, t.Limit)
	if err != nil {
		return outcome{}, err
	}
	ofLimit := url.Values{}
	for _, f := range numberFields(l.Widths) {
		ofLimit.Set(f.Name, f.Value)
	}
	own := url.Values{}
	for _, together := range [][]string{{"max_running"}, {"rate", "per", "burst"}} {
		if !slices.ContainsFunc(together, func(name string) bool { return strings.TrimSpace(form.Get(name)) != ofLimit.Get(name) }) {
			continue
		}
		for _, name := range together {
			own[name] = form[name]
		}
	}
	n, err := numbers(own, "max_running", "rate", "burst")
	if err != nil {
		return outcome{}, err
	}
	per := typed(own, "per")
	return outcome{backTo(q.query, "limits"), "Changed the numbers of " + printable(t.String()) + "."}, c.once(ctx, q, `
		select 1 as one
		  from S.override_lane($1::text, $2::text, $3::bigint::integer, $4::bigint::integer, $5::text::interval, $6::bigint::integer) as o`,
		t.Limit, *t.Lane, n[0], n[1], per, n[2])
}

func confirmOpen(_ context.Context, _ *Console, q *request) (*view, error) {
	t, err := q.limit()
	if err != nil {
		return nil, err
	}
	d := q.ask("Open", t)
	d.Text = "A worker has closed this lane, because a service accepts no more requests. When it is open, its jobs may start at once, " +
		"and a worker may close it again."
	return q.asks("limits", d), nil
}

func open(ctx context.Context, c *Console, q *request, _ url.Values) (outcome, error) {
	t, err := q.limit()
	if err != nil {
		return outcome{}, err
	}
	return outcome{backTo(q.query, "limits"), "Opened " + printable(t.String()) + "."}, c.once(ctx, q, `select o.opened from S.open_lane($1::text, $2::text) as o (opened)`, t.Limit, t.Lane)
}

// limit returns the limit, or its lane, that the query names.
func (q *request) limit() (target, error) {
	t, err := q.target()
	if err == nil && t.Limit == "" {
		err = errNoPage
	}
	return t, err
}

// lane does the same for a lane, and returns an error if the target is not a lane.
func (q *request) lane() (target, error) {
	t, err := q.limit()
	if err == nil && t.Lane == nil {
		err = errNoPage
	}
	return t, err
}
