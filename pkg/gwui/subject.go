package gwui

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/statement"
)

// subject is the head of the page of a task, a queue or a worker.
type subject struct {
	Kind, Name string // task, queue or worker
	Counts     *inspect.Counts
	Facts      []fact
	Paused     []part // the pauses that hold its jobs
	Holds      []part // what else holds them
	Links      []link
	Now        time.Time
}

// fact is something known about a subject: a text, a time or a link.
type fact struct {
	Label, Text string
	At          inspect.Moment
	Link        link
	Tasks       []string
}

// mention is a text with the name of what may have a page.
type mention struct{ Before, Kind, Name, After string }

// mentionOf returns a text such as "queue mail" as a mention; the name ends where one of these texts begins.
func mentionOf(text string, ends ...string) mention {
	kind, rest, _ := strings.Cut(text, " ")
	if !slices.Contains([]string{"task", "queue", "worker", "limit"}, kind) {
		return mention{After: text}
	}
	if kind == "limit" {
		ends = append(ends, ", lane ")
	}
	name := rest
	for _, end := range ends {
		name, _, _ = strings.Cut(name, end)
	}
	return mention{kind + " ", kind, name, rest[len(name):]}
}

// named returns the name that the query has under a key, or an error if the role may not call a function, or there is no name.
func (q *request) named(key, function string) (string, error) {
	if !q.may[function] {
		return "", statusError{http.StatusForbidden, fmt.Sprintf("The database role of this console may not read this %s.", key)}
	}
	if q.query.Get(key) == "" {
		return "", errNoPage
	}
	return q.query.Get(key), nil
}

// findOne returns the row of a name, and the time of the answer, or an error if there is none. It is in the list of the first names,
// which other pages read too, or a query finds it.
func findOne[T any](ctx context.Context, c *Console, kind, name, query string, first func(context.Context, string) (named[T], error),
	nameOf func(T) string) (one T, now time.Time, err error) {
	list, err := first(ctx, "")
	if err != nil {
		return one, now, err
	}
	if at := slices.IndexFunc(list.Rows, func(row T) bool { return nameOf(row) == name }); at >= 0 {
		return list.Rows[at], list.Now, nil
	}
	found := answer[T]{Now: list.Now}
	if list.After != "" {
		found, err = readCached[T](ctx, c, kind+" "+name, query, name)
	}
	if err != nil {
		return one, now, err
	}
	if len(found.Rows) == 0 {
		missing := fmt.Sprintf("There is no %s %s.", kind, printable(name))
		if kind == "worker" {
			missing = fmt.Sprintf("The worker %s is not registered, and holds no jobs.", printable(name))
		}
		return one, now, statusError{http.StatusNotFound, missing}
	}
	return found.Rows[0], found.Now, nil
}

// OneTask reports whether the page is that of a task.
func (q *request) OneTask() bool { return q.path == "/task" }

// back is the page of the request, for forms that return to it.
func (q *request) back() string { return strings.TrimPrefix(q.path, "/") + "?" + q.query.Encode() }

// linkBack returns a link to a form that returns to the page of the request.
func (q *request) linkBack(title, what, form string, values url.Values) link {
	values.Set("back", q.back())
	return q.link(title, what, form, values)
}

func taskPage(_ context.Context, c *Console, q *request) (*view, error) {
	name, err := q.named("task", "list_tasks")
	if err != nil {
		return nil, err
	}
	return &view{Title: "Task " + printable(name), Nav: "tasks", panels: []panel{
		{id: "notice", body: "notice", load: c.loadNotice(q)},
		{id: "subject", body: "subject", note: "gw-run tasks has no such limit.", load: func(ctx context.Context) (any, error) { return c.aTask(ctx, q, name) }},
		{id: "errors", title: "Errors of failed jobs", body: "errors", note: noteErrors, absent: !q.may["error_groups"],
			load: func(ctx context.Context) (any, error) { return c.errorGroups(ctx, name, 25) }},
		{id: "charts", title: "Over time", body: "taskcharts", note: "A shorter period reads fewer records.",
			absent: !q.mayTellTimes(), load: func(ctx context.Context) (any, error) { return c.taskCharts(ctx, q, name) }},
	}}, nil
}

func (c *Console) aTask(ctx context.Context, q *request, name string) (s subject, err error) {
	t, now, err := findOne[task](ctx, c, "task", name, `
		select t.* from S.list_tasks(max_rows => 2147483647) as t where t.task_identifier operator(pg_catalog.=) $1::text`, c.tasks, task.name)
	if err != nil {
		return s, err
	}
	s = subject{Kind: "task", Name: name, Counts: &t.Counts, Now: now}
	if err := c.addFirst(ctx, q, &s); err != nil {
		return s, err
	}
	s.Facts = append(s.Facts, fact{Label: "Workers", Text: thousands(t.Workers), Link: q.link("", "", "workers", nil)})
	if t.Workers == 0 && t.Ready > 0 {
		s.Holds = append(s.Holds, part{Subject: "no worker", Detail: "No worker that is registered, and was seen in the last five minutes, has this task."})
	}
	if err := c.addPauses(ctx, q, &s, target{Task: name}); err != nil {
		return s, err
	}
	if q.may["list_limits"] {
		limits, err := c.limits(ctx)
		if err != nil {
			return s, err
		}
		for _, l := range limits.Rows {
			if l.Tasks == nil || slices.Contains(l.Tasks, name) {
				s.Holds = append(s.Holds, q.holding(l))
			}
		}
	}
	if q.may["cron_schedules"] {
		schedules, err := c.schedules(ctx, q.may["cron_next"])
		if err != nil {
			return s, err
		}
		for _, r := range schedules.Rows {
			if r.Task == name {
				s.Facts = append(s.Facts, fact{Label: "Next run of " + printable(r.Name), At: r.NextRun, Link: q.link("", "", "recurring", nil)})
			}
		}
	}
	s.Links = append(s.Links, q.link("Jobs", "", "jobs", url.Values{"task": {name}}))
	if q.may["list_history"] {
		s.Links = append(s.Links, q.link("History", "", "history", url.Values{"task": {name}}))
	}
	if t.Failed > 0 && q.Can("retry_jobs") {
		s.Links = append(s.Links, q.linkBack("Retry all failed…", name, "jobs/act", url.Values{"act": {"retry"}, "all": {"1"}, "state": {"failed"}, "task": {name}}))
	}
	return s, nil
}

// holding returns what a limit says about the tasks to which it applies.
func (q *request) holding(l limit) part {
	p := part{Subject: "limit " + l.Name, Detail: fmt.Sprintf("%s. Running: %s. Waiting: %s. %s",
		l.numbers(), thousands(l.Running), thousands(l.Waiting), l.lanes())}
	if q.may["list_lanes"] {
		p.Link = q.link("Lanes", l.Name, "limits/lanes", l.Target().values())
	}
	return p
}

// lanes returns how many lanes of the limit are full and closed, as text.
func (l limit) lanes() string {
	return fmt.Sprintf("Lanes: %s full, %s closed, of %s.", thousands(l.FullLanes), thousands(l.ClosedLanes), thousands(l.Lanes))
}

// numbers returns how many jobs the limit lets run or start, as text.
func (l limit) numbers() string {
	var parts []string
	if l.MaxRunning != nil {
		parts = append(parts, thousands(*l.MaxRunning)+" at once")
	}
	if l.TotalRunning != nil {
		parts = append(parts, thousands(*l.TotalRunning)+" in all lanes")
	}
	if text := starts(l.Widths); text != "" {
		parts = append(parts, text)
	}
	if parts == nil {
		return "Its lanes take turns"
	}
	return strings.Join(parts, ", ")
}

// addFirst adds which job comes first, and since when it is due.
func (c *Console) addFirst(ctx context.Context, q *request, s *subject) error {
	if !q.may["first_waiting"] {
		return nil
	}
	of := target{Task: s.Name}
	if s.Kind == "queue" {
		of = target{Queue: s.Name}
	}
	first, err := readCached[struct {
		ID    int64          `json:"job_id"`
		RunAt inspect.Moment `json:"run_at"`
	}](ctx, c, "first of "+s.Kind+" "+s.Name, `select f.* from S.first_waiting($1::text, $2::text) as f`, statement.OrNull(of.Task), statement.OrNull(of.Queue))
	for _, f := range first.Rows {
		s.Facts = append(s.Facts, fact{Label: "First in line, due", At: f.RunAt, Link: q.link(fmt.Sprintf("job %d", f.ID), "", fmt.Sprintf("jobs/%d", f.ID), nil)})
	}
	return err
}

// addPauses adds the pauses that hold the jobs of a target, and the link that pauses or resumes it.
func (c *Console) addPauses(ctx context.Context, q *request, s *subject, t target) error {
	paused, err := c.pauses(ctx, q)
	if err != nil {
		return err
	}
	for _, p := range paused.Rows {
		if p.is(t) || p.is(target{}) {
			s.Paused = append(s.Paused, part{Subject: p.String(), Detail: p.told(paused.Now, q.zone)})
		}
	}
	s.Links = append(s.Links, pausing(panelData{Root: root(q.path), Q: q}, paused, t))
	return nil
}

func queuePage(_ context.Context, c *Console, q *request) (*view, error) {
	name, err := q.named("queue", "list_queues")
	if err != nil {
		return nil, err
	}
	f := newFilter(url.Values{"queue": {name}})
	return &view{Title: "Queue " + printable(name), Nav: "queues", panels: []panel{
		{id: "notice", body: "notice", load: c.loadNotice(q)},
		{id: "subject", body: "subject", note: "gw-run queues has no such limit.", load: func(ctx context.Context) (any, error) { return c.aQueue(ctx, q, name) }},
		{id: "jobs", title: "Newest jobs", body: "jobs", note: "The list of jobs can be limited to a state.", load: func(ctx context.Context) (any, error) { return c.listJobs(ctx, q, f) }},
	}}, nil
}

func (c *Console) aQueue(ctx context.Context, q *request, name string) (s subject, err error) {
	one, now, err := findOne[queue](ctx, c, "queue", name, `
		select q.* from S.list_queues(max_rows => 2147483647) as q where q.queue_name operator(pg_catalog.=) $1::text`, c.queues, queue.name)
	if err != nil {
		return s, err
	}
	s = subject{Kind: "queue", Name: name, Counts: &one.Counts, Now: now}
	if err := c.addFirst(ctx, q, &s); err != nil {
		return s, err
	}
	if !one.LockedAt.IsNull() {
		s.Facts = append(s.Facts, fact{Label: "Held since", At: one.LockedAt},
			fact{Label: "Held by", Link: q.link(printable(one.LockedBy), "", "worker", url.Values{"worker": {one.LockedBy}})})
	}
	err = c.addPauses(ctx, q, &s, one.Target())
	return s, err
}

func workerPage(_ context.Context, c *Console, q *request) (*view, error) {
	name, err := q.named("worker", "list_workers")
	if err != nil {
		return nil, err
	}
	f := newFilter(url.Values{"state": {"running"}, "worker": {name}})
	recent := historyFilter{Worker: name, Since: "1h"}
	return &view{Title: "Worker " + printable(name), Nav: "workers", panels: []panel{
		{id: "notice", body: "notice", load: c.loadNotice(q)},
		{id: "subject", body: "subject", note: "gw-run workers has no such limit.", load: func(ctx context.Context) (any, error) { return c.aWorker(ctx, q, name) }},
		{id: "jobs", title: "Jobs that it holds", body: "jobs", note: "gw-run jobs has no such limit.", absent: !q.may["search_jobs"],
			load: func(ctx context.Context) (any, error) { return c.listJobs(ctx, q, f) }},
		{id: "history", title: "Ended in the last hour", body: "history", note: "gw-run history has no such limit.", absent: !q.may["list_history"],
			load: func(ctx context.Context) (any, error) { return c.listHistory(ctx, recent, position{}) }},
	}}, nil
}

// workerQuery finds a worker by its id.
const workerQuery = `
	select w.* from S.list_workers(null, 10000) as w where w.worker_id operator(pg_catalog.=) $1::text`

func (c *Console) aWorker(ctx context.Context, q *request, name string) (s subject, err error) {
	w, now, err := findOne(ctx, c, "worker", name, workerQuery, c.workers, worker.name)
	if err != nil {
		return s, err
	}
	s = subject{Kind: "worker", Name: name, Now: now, Facts: []fact{{Label: "State", Text: w.Shown()},
		{Label: "Running", Text: count(w.Running, w.Scale)}, {Label: "Claimed", Text: count(w.Claimed, w.Scale)}}}
	if !w.LongestSince.IsNull() {
		s.Facts = append(s.Facts, fact{Label: "Longest", At: w.LongestSince})
	}
	if w.IsRegistered {
		s.Facts = append(s.Facts, fact{Label: "Concurrency", Text: thousands(int64(w.Concurrency))}, fact{Label: "Last seen", At: w.LastSeenAt},
			fact{Label: "Started", At: w.StartedAt}, fact{Label: "Process", Text: fmt.Sprintf("%s:%d", printable(w.Host), w.PID)},
			fact{Label: "Version", Text: printable(w.Version)}, fact{Label: "Tasks", Text: "any", Tasks: w.Tasks})
	}
	s.Links = q.WorkerLinks(w)
	return s, nil
}

// WorkerLinks returns the links to what can be done with a worker.
func (q *request) WorkerLinks(w worker) (links []link) {
	if w.IsRegistered && q.Can("drain_worker") {
		if w.IsDrained() {
			links = append(links, q.linkBack("Let claim…", w.ID, "workers/drain", url.Values{"worker": {w.ID}, "undo": {"1"}}))
		} else {
			links = append(links, q.linkBack("Drain…", w.ID, "workers/drain", url.Values{"worker": {w.ID}}))
		}
	}
	if q.Can("force_unlock_workers") {
		links = append(links, q.linkBack("Unlock…", w.ID, "workers/unlock", url.Values{"worker": {w.ID}}))
	}
	return links
}
