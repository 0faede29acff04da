package gwui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

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

// card is one thing on the overview that an operator has to know.
type card struct {
	Severity string // critical, warning or info
	Title    string
	Since    inspect.Moment
	Jobs     int64  // that it keeps from their end: cards with more of them come first
	Error    string // the most frequent one
	Parts    []part
	Links    []link
	Chart    *chart // of the last hour, if it is recorded
}

// part is what a card says about one subject, and the remedy.
type part struct {
	Subject, Detail, Remedy string
	Command                 string // the remedy as one statement or command; empty: it is not one
	Link                    link   // runs it; without a title the console cannot
}

// About returns the subject as a mention.
func (p part) About() mention { return mentionOf(p.Subject) }

// incidents are the cards of the overview.
type incidents struct {
	Cards []card
	Need  int // those that need somebody
	Now   time.Time
}

// mostCardCharts is how many cards of failing tasks have charts, at most: those with the most jobs.
const mostCardCharts = 3

// mostErrorGroups is how many groups of errors the overview reads.
const mostErrorGroups = 100

// looks are what the overview looks at, and the functions that the role needs for that.
var looks = []struct {
	what, needs string
	read        func(*Console, context.Context, *request) ([]card, error)
}{
	{"problems", "doctor", (*Console).findingCards},
	{"errors of failed jobs", "error_groups", (*Console).failureCards},
	{"workers", "list_workers", (*Console).workerCards},
	{"limits", "list_limits", (*Console).limitCards},
}

// incidents reads what is wrong, all at once. What cannot be read is a card of its own, so that it does not hide the rest.
func (c *Console) incidents(ctx context.Context, q *request) (d incidents, err error) {
	d.Now = time.Now()
	found, errs := make([][]card, len(looks)), make([]error, len(looks))
	var all sync.WaitGroup
	for i, look := range looks {
		if q.may[look.needs] {
			all.Go(func() { found[i], errs[i] = look.read(c, ctx, q) })
		}
	}
	all.Wait()
	for i, err := range errs {
		if errors.Is(err, errLate) {
			return d, err
		} else if err != nil {
			why := c.explain(err, "gw-run has no such limit.")
			found[i] = []card{{Severity: "warning", Title: "Not examined: " + looks[i].what, Parts: []part{{Detail: printable(why.Text + " " + why.Hint)}}}}
		}
		d.Cards = append(d.Cards, found[i]...)
	}
	d.Cards = withoutStaleLocks(d.Cards)
	rank := []string{"critical", "warning", "info"}
	slices.SortStableFunc(d.Cards, func(a, b card) int {
		return cmp.Or(cmp.Compare(slices.Index(rank, a.Severity), slices.Index(rank, b.Severity)), cmp.Compare(b.Jobs, a.Jobs))
	})
	for _, card := range d.Cards {
		if card.Severity != "info" {
			d.Need++
		}
	}
	return d, nil
}

// findingCards returns a card for each kind of finding of doctor. Failed jobs have cards by task, if their errors may be read.
func (c *Console) findingCards(ctx context.Context, q *request) (cards []card, err error) {
	findings, err := c.findings(ctx)
	for _, f := range findings {
		if q.may["error_groups"] && (f.Finding == "failing task" || f.Finding == "failed jobs") {
			continue
		}
		p := part{Subject: f.Subject, Detail: printable(f.Detail), Remedy: adviceOf(f), Command: f.Command}
		if q.acts && isRunnable(f.Command) {
			p.Link = q.link(verbOf(f.Command)+"…", f.Subject, "remedy", remedyOf(f))
		}
		at := slices.IndexFunc(cards, func(o card) bool { return o.Title == f.Finding && o.Severity == f.Severity })
		if at < 0 {
			at = len(cards)
			cards = append(cards, card{Severity: f.Severity, Title: f.Finding})
		}
		cards[at].Parts = append(cards[at].Parts, p)
	}
	return cards, err
}

// withoutStaleLocks leaves out what doctor finds about silent workers, which have cards of their own.
func withoutStaleLocks(cards []card) []card {
	var silent []string
	for _, f := range cards {
		if f.Title == silentTitle {
			silent = append(silent, f.Parts[0].Subject)
		}
	}
	for i := range cards {
		if cards[i].Title == "stale lock" {
			cards[i].Parts = slices.DeleteFunc(cards[i].Parts, func(p part) bool { return slices.Contains(silent, p.Subject) })
		}
	}
	return slices.DeleteFunc(cards, func(f card) bool { return f.Title == "stale lock" && len(f.Parts) == 0 })
}

// failureCards returns a card for each task with failed jobs.
func (c *Console) failureCards(ctx context.Context, q *request) (cards []card, err error) {
	groups, err := c.errorGroups(ctx, "", mostErrorGroups)
	byTask := make(map[string][]errorGroup)
	var tasks []string
	for _, g := range groups.Rows { // those with the most jobs first
		if byTask[g.Task] == nil {
			tasks = append(tasks, g.Task)
		}
		byTask[g.Task] = append(byTask[g.Task], g)
	}
	for _, task := range tasks {
		cards = append(cards, q.failureCard(task, byTask[task]))
	}
	if err != nil || !q.may["list_kept_tasks"] || !q.may["task_stats"] {
		return cards, err
	}
	for i := range cards[:min(len(cards), mostCardCharts)] {
		d, err := c.taskCharts(ctx, q, tasks[i])
		if err != nil {
			return cards, err
		}
		if d.IsKept {
			cards[i].Chart = &d.Charts[0]
		}
	}
	return cards, nil
}

// failureCard returns the card of a task with these groups of errors, the largest first.
func (q *request) failureCard(task string, groups []errorGroup) card {
	f := card{Severity: "warning", Since: groups[0].First, Error: cmp.Or(groups[0].Example, "(no error)")}
	about := ""
	for _, g := range groups {
		f.Jobs += g.Jobs
		if g.First.Before(f.Since.Time) {
			f.Since = g.First
		}
		if g.IsCut {
			about = "about "
		}
	}
	f.Title = fmt.Sprintf("%s: %s%s failed", printable(task), about, plural(f.Jobs, "job"))
	failed := url.Values{"state": {"failed"}, "task": {task}}
	f.Links = []link{q.link("Show", task, "jobs", failed), q.link("Task", task, "task", url.Values{"task": {task}})}
	if q.Can("retry_jobs") {
		act := maps.Clone(failed)
		act["act"], act["all"], act["back"] = []string{"retry"}, []string{"1"}, []string{"jobs?" + failed.Encode()}
		f.Links = append(f.Links, q.link("Retry…", task, "jobs/act", act))
	}
	if q.Can("pause") {
		f.Links = append(f.Links, q.link("Pause…", task, "pause", target{Task: task}.values()))
	}
	return f
}

const silentTitle = "A worker is silent"

// workerCards returns a card for each registered worker that is silent or drained.
func (c *Console) workerCards(ctx context.Context, q *request) (cards []card, err error) {
	workers, err := readCached[worker](ctx, c, "registered workers", `
		select w.* from S.list_workers(null, $1::integer, $2::bigint) as w where w.is_registered order by w.worker_id`, namesShown, doctorPages)
	for _, w := range workers.Rows {
		show := q.link("Show", w.ID, "worker", url.Values{"worker": {w.ID}})
		switch {
		case w.State == "silent":
			f := card{Severity: "warning", Title: silentTitle, Since: w.LastSeenAt, Jobs: w.Claimed, Links: []link{show}, Parts: []part{{
				Subject: "worker " + w.ID,
				Detail:  fmt.Sprintf("It holds %s, and has sent no heartbeat. The other workers free them.", plural(w.Claimed, "job")),
				Remedy:  "If its process has ended, start another one. If it lives, look for its connection to the database in its log.",
			}}}
			if q.Can("force_unlock_workers") && w.Claimed > 0 {
				f.Links = append(f.Links, q.link("Unlock…", w.ID, "workers/unlock", url.Values{"worker": {w.ID}}))
			}
			cards = append(cards, f)
		case w.IsDrained():
			f := card{Severity: "info", Title: "A worker is " + w.State, Links: []link{show}, Parts: []part{{
				Subject: "worker " + w.ID, Detail: fmt.Sprintf("It claims no more jobs, and holds %s.", plural(w.Claimed, "job")),
			}}}
			cards = append(cards, f)
		}
	}
	return cards, err
}

// limitCards returns a card for each limit whose lanes are closed or full while jobs wait.
func (c *Console) limitCards(ctx context.Context, q *request) (cards []card, err error) {
	limits, err := c.limits(ctx)
	for _, l := range limits.Rows {
		if l.Waiting == 0 || l.FullLanes+l.ClosedLanes == 0 {
			continue
		}
		more := ""
		if l.MoreWaiting {
			more = "more than "
		}
		f := card{Severity: "info", Title: "Jobs wait for a limit", Jobs: l.Waiting, Parts: []part{{Subject: "limit " + l.Name, Detail: fmt.Sprintf(
			"%s%s wait. Running: %s. %s", more, plural(l.Waiting, "job"), thousands(l.Running), l.lanes())}}}
		if q.may["list_lanes"] {
			f.Links = append(f.Links, q.link("Show", l.Name, "limits/lanes", l.Target().values()))
		}
		if q.Can("set_limit") {
			f.Links = append(f.Links, q.link("Change…", l.Name, "limits/set", l.Target().values()))
		}
		cards = append(cards, f)
	}
	return cards, err
}
