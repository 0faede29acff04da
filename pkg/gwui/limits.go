package gwui

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/gwsql/gw/internal/inspect"
)

// limit is a row of list_limits.
type limit struct{ inspect.Limit }

// starts returns how many jobs of a lane may start, as text.
func starts(w inspect.Widths) string {
	if w.Rate == nil {
		return ""
	}
	per := map[string]string{"00:00:01": " a second", "00:01:00": " a minute", "01:00:00": " an hour", "1 day": " a day", "24:00:00": " a day"}
	text := thousands(*w.Rate) + cmp.Or(per[w.Per], " in "+interval(w.Per))
	if w.Burst != nil && *w.Burst != *w.Rate {
		text += ", burst " + thousands(*w.Burst)
	}
	return text
}

// LanesBy returns what assigns a job to a lane, and whether the lanes take turns, as text.
func (l limit) LanesBy() string {
	if l.Fair {
		return l.By + ", fair"
	}
	return l.By
}

// Target returns the target of a pause of the limit.
func (l limit) Target() target { return target{Limit: l.Name} }

type limitsData struct {
	answer[limit]
	Pauses pauses
}

func limitsPage(_ context.Context, c *Console, q *request) (*view, error) {
	return &view{Title: "Limits and pauses", Nav: "limits", panels: []panel{
		{id: "notice", body: "notice", load: c.loadNotice(q)},
		{id: "pauses", title: "Pauses", body: "pauses", note: "gw-run pauses has no such limit.", absent: !q.may["list_pauses"],
			load: func(ctx context.Context) (any, error) { return c.pauses(ctx, q) }},
		{id: "limits", title: "Limits", body: "limits", note: "gw-run limit list has no such limit.", absent: !q.may["list_limits"],
			load: func(ctx context.Context) (any, error) {
				paused, err := c.pauses(ctx, q)
				if err != nil {
					return nil, err
				}
				known, err := c.limits(ctx)
				return limitsData{known, paused}, err
			}},
	}}, nil
}

func (c *Console) limits(ctx context.Context) (answer[limit], error) {
	return readCached[limit](ctx, c, "limits", `select l.* from S.list_limits() as l order by l.name`)
}

// lane is a row of list_lanes.
type lane struct{ inspect.Lane }

// Name returns the key of the lane, or a name for the lane of all jobs of the limit.
func (l lane) Name() string {
	if l.Key == nil || l.IsTotal {
		return "(all)"
	}
	return *l.Key
}

// FirstIDs returns some of the running jobs.
func (l lane) FirstIDs() []int64 { return l.JobIDs[:min(len(l.JobIDs), 5)] }

// lanesData is a page of the lanes of a limit.
type lanesData struct {
	named[lane]
	Limit  limit
	Pauses pauses
}

// Target returns the target of a pause of the lane. A limit with one lane is paused as a whole.
func (d lanesData) Target(l lane) target {
	if l.IsTotal || l.Key == nil || d.Limit.By == "" {
		return d.Limit.Target()
	}
	return target{Limit: d.Limit.Name, Lane: l.Key}
}

func lanesPage(_ context.Context, c *Console, q *request) (*view, error) {
	if !q.may["list_lanes"] || !q.may["list_limits"] {
		return nil, statusError{http.StatusForbidden, "The database role of this console may not read the lanes of limits."}
	}
	name := q.query.Get("limit")
	return &view{Title: "Limit " + printable(name), Nav: "limits", panels: []panel{
		{id: "notice", body: "notice", load: c.loadNotice(q)},
		{id: "lanes", body: "lanes", note: "gw-run limit lanes has no such limit.", load: func(ctx context.Context) (any, error) { return c.lanes(ctx, q, name) }},
	}}, nil
}

func (c *Console) lanes(ctx context.Context, q *request, name string) (d lanesData, err error) {
	if d.Limit, err = c.aLimit(ctx, name); err != nil {
		return d, err
	}
	if d.Limit.Name == "" {
		return d, noLimit(name)
	}
	if d.Pauses, err = c.pauses(ctx, q); err != nil {
		return d, err
	}
	d.named, err = listNames(ctx, c, "lanes "+url.QueryEscape(name), `
		select `+laneColumns+`
		  from S.list_lanes($3::text, $1::text, $2::integer) as l
		 order by l.lane nulls first, l.is_total`, q.query.Get("after"), lane.Name, name)
	if err != nil || d.Since != "" {
		return d, err
	}
	first, err := readCached[lane](ctx, c, "barred "+url.QueryEscape(name),
		`select `+laneColumns+` from S.list_lanes($1::text, max_rows => $2::integer, barred => true) as l`, name, namesShown)
	rows := slices.Clone(first.Rows)
	for _, l := range d.Rows {
		if !slices.ContainsFunc(first.Rows, func(f lane) bool { return f.IsLane(l.Lane) }) {
			rows = append(rows, l)
		}
	}
	d.Rows = rows
	return d, err
}

// laneColumns are the columns of list_lanes that a page needs.
const laneColumns = `l.lane, l.is_total, l.max_running, l.rate, l.per, l.burst, l.running, l.job_ids[1:6] as job_ids, l.reason, l.until,
	l.waiting, l.more_waiting`
