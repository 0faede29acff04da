package gwui

import (
	"context"
	"fmt"
	"html/template"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/operate"
	"github.com/gwsql/gw/internal/statement"
)

// errorGroup is a row of error_groups.
type errorGroup struct {
	Task    string         `json:"task_identifier"`
	Group   string         `json:"error_group"`
	Example string         `json:"example"`
	Jobs    int64          `json:"jobs"`
	First   inspect.Moment `json:"first_failed_at"`
	Failed  inspect.Moment `json:"failed_at"`
	IsCut   bool           `json:"is_cut"`
}

// Query returns the filter that finds the jobs of the group.
func (g errorGroup) Query() template.URL {
	return filter{Selection: operate.Selection{State: "failed", Task: g.Task, ErrorGroup: g.Group}}.Conditions().Query()
}

// noteErrors is the note of the panels that group errors.
const noteErrors = "The list of failed jobs has the errors, too, and can be limited to a task."

func overviewPage(_ context.Context, c *Console, q *request) (*view, error) {
	v := &view{Title: "Overview", Nav: ""}
	if !q.may["queue_stats"] {
		v.panels = []panel{{id: "absent", body: "absent", load: func(context.Context) (any, error) { return c.cfg.Schema, nil }}}
		return v, nil
	}
	v.panels = []panel{
		{id: "notice", body: "notice", load: c.loadNotice(q)},
		{id: "incidents", body: "incidents", note: "gw-run doctor has no such limit.",
			load: func(ctx context.Context) (any, error) { return c.incidents(ctx, q) }},
		{id: "paused", body: "paused", note: "gw-run pauses has no such limit.", load: func(ctx context.Context) (any, error) { return c.pauses(ctx, q) }},
		{id: "states", body: "states", note: "gw-run stats has no such limit.", load: func(ctx context.Context) (any, error) { return c.stats(ctx) }},
		{id: "charts", title: "Over time", body: "charts", note: "A shorter period reads fewer rows.", absent: !q.may["list_samples"],
			load: func(ctx context.Context) (any, error) { return c.charts(ctx, q) }},
	}
	return v, nil
}

func (c *Console) stats(ctx context.Context) (stats inspect.Stats, err error) {
	found, err := readCached[inspect.Stats](ctx, c, "stats", `select s.* from S.queue_stats() as s`)
	if len(found.Rows) > 0 {
		stats = found.Rows[0]
	}
	return stats, err
}

// doctorPages is how many pages of a table each finding may read for the overview, which calls doctor repeatedly. They contain
// all jobs of a queue of up to about 100 000.
const doctorPages = 2000

const doctorQuery = `select d.* from S.doctor($1::bigint) as d`

func (c *Console) findings(ctx context.Context) ([]inspect.Finding, error) {
	found, err := readCached[inspect.Finding](ctx, c, "doctor", doctorQuery, doctorPages)
	return found.Rows, err
}

func (c *Console) errorGroups(ctx context.Context, task string, rows int) (answer[errorGroup], error) {
	return readCached[errorGroup](ctx, c, fmt.Sprintf("errors %d %s", rows, task),
		`select e.* from S.error_groups($1::text, $2::integer) as e`, statement.OrNull(task), rows)
}
