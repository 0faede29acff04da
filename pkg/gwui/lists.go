package gwui

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/statement"
)

// namesShown is how many tasks, queues or workers a page lists.
const namesShown = 100

// named is a page of rows with names.
type named[T any] struct {
	Rows  []T
	Now   time.Time
	After string // the name that the next page comes after, empty if there is none
	Since string // the name that this page comes after
}

// listNames reads a page of rows that a query returns by name, one more than it shows.
// Its arguments are the name that the page comes after, the number of rows, and args.
func listNames[T any](ctx context.Context, c *Console, what, query, after string, name func(T) string, args ...any) (named[T], error) {
	return cached(ctx, c.cache, what+" "+after, func(ctx context.Context) (named[T], error) {
		found, err := read[T](ctx, c.store, query, append([]any{statement.OrNull(after), namesShown + 1}, args...)...)
		list := named[T]{Rows: found.Rows, Now: found.Now, Since: after}
		if len(list.Rows) > namesShown {
			list.Rows = list.Rows[:namesShown]
			list.After = name(list.Rows[namesShown-1])
		}
		return list, err
	})
}

// task is a row of list_tasks.
type task struct {
	inspect.Counts
	Task    string `json:"task_identifier"`
	Workers int64  `json:"workers"`
}

func (t task) name() string { return t.Task }

// Target returns the target of a pause of the task.
func (t task) Target() target { return target{Task: t.Task} }

// pausable are rows that can be paused, and the pauses.
type pausable[T any] struct {
	named[T]
	Pauses pauses
}

// withPauses returns the result of load, with the pauses.
func withPauses[T any](ctx context.Context, c *Console, q *request, load func() (named[T], error)) (d pausable[T], err error) {
	if d.Pauses, err = c.pauses(ctx, q); err != nil {
		return d, err
	}
	d.named, err = load()
	return d, err
}

func tasksPage(_ context.Context, c *Console, q *request) (*view, error) {
	return &view{Title: "Tasks", Nav: "tasks", panels: []panel{
		{id: "notice", body: "notice", load: c.loadNotice(q)},
		{id: "tasks", body: "tasks", note: "gw-run tasks has no such limit.", load: func(ctx context.Context) (any, error) {
			return withPauses(ctx, c, q, func() (named[task], error) { return c.tasks(ctx, q.query.Get("after")) })
		}},
		{id: "times", body: "tasktimes", note: "gw-run stats --since 1h has no such limit.",
			absent: !q.may["list_kept_tasks"] || !q.may["task_stats"],
			load:   func(ctx context.Context) (any, error) { return c.taskTimes(ctx, q.query.Get("kept")) }},
		{id: "errors", title: "Errors of failed jobs", body: "errors", note: noteErrors, absent: !q.may["error_groups"],
			load: func(ctx context.Context) (any, error) { return c.errorGroups(ctx, q.query.Get("task"), 25) }},
	}}, nil
}

func (c *Console) tasks(ctx context.Context, after string) (named[task], error) {
	return listNames(ctx, c, "tasks", `select t.* from S.list_tasks($1::text, $2::integer) as t order by t.task_identifier`,
		after, task.name)
}

// queue is a row of list_queues.
type queue struct {
	inspect.Counts
	Queue    string         `json:"queue_name"`
	LockedAt inspect.Moment `json:"locked_at"`
	LockedBy string         `json:"locked_by"`
}

func (q queue) name() string { return q.Queue }

// Target returns the target of a pause of the queue.
func (q queue) Target() target { return target{Queue: q.Queue} }

func queuesPage(_ context.Context, c *Console, q *request) (*view, error) {
	return &view{Title: "Queues", Nav: "queues", panels: []panel{
		{id: "notice", body: "notice", load: c.loadNotice(q)},
		{id: "queues", body: "queues", note: "gw-run queues has no such limit.", load: func(ctx context.Context) (any, error) {
			return withPauses(ctx, c, q, func() (named[queue], error) { return c.queues(ctx, q.query.Get("after")) })
		}},
	}}, nil
}

func (c *Console) queues(ctx context.Context, after string) (named[queue], error) {
	return listNames(ctx, c, "queues", `select q.* from S.list_queues($1::text, $2::integer) as q order by q.queue_name`,
		after, queue.name)
}

// worker is a row of list_workers.
type worker struct{ inspect.Worker }

func (w worker) name() string { return w.ID }

// Shown returns the state of the worker as a word.
func (w worker) Shown() string { return cmp.Or(w.State, "unregistered") }

// IsDrained reports whether the worker is to claim no more jobs.
func (w worker) IsDrained() bool { return w.State == "draining" || w.State == "drained" }

// workersData are workers with the versions of their programs.
type workersData struct {
	named[worker]
	Versions []string // if they differ
}

func workersPage(_ context.Context, c *Console, q *request) (*view, error) {
	return &view{Title: "Workers", Nav: "workers", panels: []panel{
		{id: "notice", body: "notice", load: c.loadNotice(q)},
		{id: "workers", body: "workers", note: "gw-run workers has no such limit.", load: func(ctx context.Context) (any, error) {
			list, err := c.workers(ctx, q.query.Get("after"))
			d := workersData{named: list}
			for _, w := range list.Rows {
				if w.IsRegistered && w.Version != "" && w.State != "silent" && !slices.Contains(d.Versions, w.Version) {
					d.Versions = append(d.Versions, w.Version)
				}
			}
			return d, err
		}},
	}}, nil
}

func (c *Console) workers(ctx context.Context, after string) (named[worker], error) {
	return listNames(ctx, c, "workers", `select w.* from S.list_workers($1::text, $2::integer) as w order by w.worker_id`,
		after, worker.name)
}

// schedule is a row of cron_schedules, with its next runs.
type schedule struct {
	Name        string         `json:"identifier"`
	Task        string         `json:"task_identifier"`
	Pattern     string         `json:"pattern"`
	Zone        string         `json:"time_zone"`
	Paused      bool           `json:"paused"`
	NextRun     inspect.Moment `json:"next_run"`
	Next        []string       `json:"next_runs"` // by the clock of its zone
	LastRun     inspect.Moment `json:"last_run"`
	MissedRun   inspect.Moment `json:"missed_run"`
	LastJob     int64          `json:"last_job_id"`
	LastOutcome string         `json:"last_outcome"`
}

// recurring is a row of recurring_jobs.
type recurring struct {
	Name       string         `json:"identifier"`
	Workers    []string       `json:"workers"`
	KnownSince inspect.Moment `json:"known_since"`
	LastRun    inspect.Moment `json:"last_run"`
}

// noteCron is the note of the panels of recurring jobs.
const noteCron = "gw-run cron list has no such limit."

func recurringPage(_ context.Context, c *Console, q *request) (*view, error) {
	return &view{Title: "Recurring", Nav: "recurring", panels: []panel{
		{id: "notice", body: "notice", load: c.loadNotice(q)},
		{id: "schedules", title: "Schedules in the database", body: "schedules", note: noteCron, absent: !q.may["cron_schedules"],
			load: func(ctx context.Context) (any, error) { return c.schedules(ctx, q.may["cron_next"]) }},
		{id: "crontabs", title: "Crontabs", body: "crontabs", note: noteCron, absent: !q.may["recurring_jobs"],
			load: func(ctx context.Context) (any, error) {
				return readCached[recurring](ctx, c, "crontabs",
					`select r.* from S.recurring_jobs as r where not r.is_schedule order by r.identifier limit 500`)
			}},
	}}, nil
}

func (c *Console) schedules(ctx context.Context, withRuns bool) (answer[schedule], error) {
	runs := `null`
	if withRuns {
		runs = `array(
			with recursive run as (
			  select s.next_run as at, 1 as number where s.next_run is not null
			  union all
			  select S.cron_next(s.pattern, r.at, s.time_zone), r.number operator(pg_catalog.+) 1
			    from run as r
			   where r.number operator(pg_catalog.<) 5 and r.at is not null)
			select pg_catalog.to_char(pg_catalog.timezone(s.time_zone, r.at), 'Dy YYYY-MM-DD HH24:MI') from run as r
			 where r.at is not null order by r.number)`
	}
	return readCached[schedule](ctx, c, "schedules", `
		select s.identifier, s.task_identifier, s.pattern, s.time_zone, s.paused, s.next_run, s.last_run, s.last_job_id,
		       s.last_outcome, s.missed_run, `+runs+` as next_runs
		  from S.cron_schedules as s
		 order by s.identifier
		 limit 500`)
}

// pastAct is a row of list_audit.
type pastAct struct {
	ID        int64          `json:"id"`
	At        inspect.Moment `json:"at"`
	EndedAt   inspect.Moment `json:"ended_at"`
	Act       string         `json:"act"`
	Jobs      int64          `json:"jobs"`
	Subject   string         `json:"subject"`
	IDs       []int64        `json:"job_ids"`
	Role      string         `json:"role"`
	Actor     string         `json:"actor"`
	Selection string         `json:"selection"`
}

// FirstIDs returns some of the jobs.
func (a pastAct) FirstIDs() []int64 { return a.IDs[:min(len(a.IDs), 5)] }

// About returns what the act was about, as a mention.
func (a pastAct) About() mention {
	switch a.Act {
	case "drain", "undrain":
		return mentionOf("worker " + a.Subject)
	case "unlock":
		if !strings.Contains(a.Subject, ", ") { // otherwise it names several workers
			return mentionOf("worker " + a.Subject)
		}
	case "keep task", "stop keeping task":
		return mentionOf("task "+a.Subject, " for ")
	case "set limit", "override lane", "open lane", "drop limit":
		return mentionOf("limit "+a.Subject, ": ")
	case "pause":
		return mentionOf(a.Subject, ": ", " until 2")
	case "resume":
		return mentionOf(a.Subject)
	}
	return mention{After: a.Subject}
}

// Who returns the user, or the role if there is none.
func (a pastAct) Who() string { return cmp.Or(a.Actor, a.Role) }

func (a pastAct) told() string {
	text := fmt.Sprintf("%s by %s", a.Act, printable(a.Who()))
	if a.Subject != "" {
		text += ": " + printable(a.Subject)
	}
	return text
}

type auditData struct {
	answer[pastAct]
	Filter auditFilter
	Below  int64 // the next page, 0 if there is none
}

// Older returns the query of the next page, empty if there is none.
func (d auditData) Older() template.URL {
	if d.Below == 0 {
		return ""
	}
	return d.Filter.Conditions().With("below", strconv.FormatInt(d.Below, 10))
}

// auditFilter selects acts. They must match all conditions that are given.
type auditFilter struct{ Person, Act, Job, Since string }

func newAuditFilter(values url.Values) auditFilter {
	f := auditFilter{Person: values.Get("person"), Act: values.Get("act"), Since: strings.TrimSpace(values.Get("since"))}
	if job := number(values, "job"); job > 0 {
		f.Job = strconv.FormatInt(job, 10)
	}
	return f
}

// Conditions returns those that are given.
func (f auditFilter) Conditions() conditions {
	return given(condition{"person", "by", f.Person}, condition{"act", "act", f.Act}, condition{"job", "job", f.Job},
		condition{"since", "done within", f.Since})
}

// arguments are those of list_audit after max_rows.
func (f auditFilter) arguments() []any {
	return []any{statement.OrNull(f.Person), statement.OrNull(f.Act), statement.OrNull(f.Job), statement.OrNull(f.Since)}
}

// auditOfJob returns the last acts on a job, as a sentence; empty if there are none, or they must not be read.
func (c *Console) auditOfJob(ctx context.Context, q *request) (string, error) {
	acts, err := c.actsOn(ctx, q)
	var texts []string
	for _, a := range acts.Rows {
		texts = append(texts, fmt.Sprintf("%s by %s at %s", a.Act, printable(a.Who()), absolute(a.At, q.zone)))
	}
	if texts == nil {
		return "", err
	}
	return " The audit has: " + strings.Join(texts, ", ") + ".", err
}

func auditPage(_ context.Context, c *Console, q *request) (*view, error) {
	below, f := number(q.query, "below"), newAuditFilter(q.query)
	return &view{Title: "Audit", Nav: "audit", panels: []panel{
		{id: "filter", body: "auditfilter", still: true, load: func(context.Context) (any, error) {
			return struct {
				Path   string
				Filter auditFilter
			}{"audit", f}, nil
		}},
		{id: "audit", body: "audit", note: "list_audit() has no such limit in psql.", load: func(ctx context.Context) (any, error) {
			return cached(ctx, c.cache, fmt.Sprintf("audit %d %s", below, f.Conditions().Query()), func(ctx context.Context) (d auditData, err error) {
				from := any(below)
				if below == 0 {
					from = nil
				}
				d.Filter = f
				d.answer, err = read[pastAct](ctx, c.store, `
					select a.* from S.list_audit($1::bigint, $2::integer, $3::text, $4::text, $5::text::bigint,
					                             pg_catalog.now() operator(pg_catalog.-) $6::text::interval) as a
					 order by a.id desc`, append([]any{from, rowsShown + 1}, f.arguments()...)...)
				if len(d.Rows) > rowsShown {
					d.Rows = d.Rows[:rowsShown]
					d.Below = d.Rows[rowsShown-1].ID
				}
				return d, err
			})
		}},
	}}, nil
}

// setting is a row of list_settings.
type setting struct {
	Name      string         `json:"name"`
	Value     string         `json:"value"`
	Default   string         `json:"default_value"`
	Least     string         `json:"least_value"`
	Greatest  string         `json:"greatest_value"`
	Words     []string       `json:"words"`
	Meaning   string         `json:"meaning"`
	UpdatedAt inspect.Moment `json:"updated_at"`
}

// Size returns a value of a setting in bytes with the largest unit in which it is a whole number, empty for other settings.
func (s setting) Size(value string) string {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n == 0 || !strings.Contains(s.Meaning, "in bytes") {
		return ""
	}
	units := []string{"B", "KiB", "MiB", "GiB"}
	at := 0
	for ; n%1024 == 0 && at < len(units)-1; at++ {
		n /= 1024
	}
	return fmt.Sprintf("%d %s", n, units[at])
}

func settingsPage(_ context.Context, c *Console, q *request) (*view, error) {
	return &view{Title: "Settings", Nav: "settings", panels: []panel{
		{id: "notice", body: "notice", load: c.loadNotice(q)},
		{id: "settings", body: "settings", note: "list_settings() has no such limit in psql.", load: func(ctx context.Context) (any, error) { return c.settings(ctx) }},
	}}, nil
}

func (c *Console) settings(ctx context.Context) (answer[setting], error) {
	return readCached[setting](ctx, c, "settings", `select s.* from S.list_settings() as s order by s.name`)
}

func helpPage(_ context.Context, c *Console, q *request) (*view, error) {
	return &view{Title: "Help", Nav: "help", panels: []panel{
		{id: "help", body: "help", still: true, load: func(context.Context) (any, error) { return navigation, nil }},
	}}, nil
}
