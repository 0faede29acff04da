package gwui

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/internal/statement"
)

// failures is the value of the filter for the outcomes of attempts that failed.
const failures = "failures"

// outcomes are the values of the filter for outcomes.
var outcomes = []string{
	failures, "completed", "failed", "permanently_failed", "recovered", "snoozed", "returned", "canceled", "replaced", "removed",
}

// historyFilter selects recorded attempts and ends. They must match all conditions that are given.
type historyFilter struct {
	Outcome, Task, Key, Worker, Since string
}

func newHistoryFilter(values url.Values) historyFilter {
	get := values.Get
	return historyFilter{Outcome: get("outcome"), Task: get("task"), Key: get("key"), Worker: get("worker"), Since: get("since")}
}

// Conditions returns those that are given.
func (f historyFilter) Conditions() conditions {
	return given(condition{"outcome", "outcome", f.Outcome}, condition{"task", "task", f.Task}, condition{"key", "key", f.Key},
		condition{"worker", "worker", f.Worker}, condition{"since", "ended within", f.Since})
}

// position is that of a record in the history, which is sorted by the time of its end, latest first.
type position struct {
	At time.Time
	ID int64 // of the job
}

// newPosition returns the position that a query names, the zero value if there is none.
func newPosition(values url.Values) (p position) {
	at, id, _ := strings.Cut(values.Get("before"), "/")
	var err error
	if p.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
		return position{}
	}
	if p.ID, err = strconv.ParseInt(id, 10, 64); err != nil {
		return position{}
	}
	return p
}

func (p position) String() string {
	return p.At.UTC().Format(time.RFC3339Nano) + "/" + strconv.FormatInt(p.ID, 10)
}

// arguments are before_at and before_id of list_history.
func (p position) arguments() (at, id any) {
	if p.At.IsZero() {
		return nil, nil
	}
	return p.At.UTC().Format(time.RFC3339Nano), p.ID
}

// historyFilterData is the form of the filter.
type historyFilterData struct {
	Path     string
	Filter   historyFilter
	Outcomes []string
	Tasks    []string
}

type historyData struct {
	answer[attempt]
	Filter historyFilter
	IsLate bool     // not the first page
	Next   position // of the next page, the zero value if there is none
}

// Older returns the query of the next page, empty if there is none.
func (d historyData) Older() template.URL {
	if d.Next.At.IsZero() {
		return ""
	}
	return d.Filter.Conditions().With("before", d.Next.String())
}

// keptTask is a row of list_kept_tasks.
type keptTask struct {
	Task     string         `json:"task"`
	KeepFor  float64        `json:"keep_for"` // seconds
	Payloads bool           `json:"payloads"`
	Results  bool           `json:"results"`
	Since    inspect.Moment `json:"kept_since"`
}

func historyPage(_ context.Context, c *Console, q *request) (*view, error) {
	if !q.may["list_history"] {
		return nil, statusError{http.StatusForbidden, "The database role of this console may not read the history of jobs."}
	}
	if query, isForm := asTyped(q.query); isForm {
		return nil, redirectError{"history?" + query}
	}
	f, from := newHistoryFilter(q.query), newPosition(q.query)
	return &view{Title: "History", Nav: "history", panels: []panel{
		{id: "filter", body: "historyfilter", still: true, load: c.loadHistoryFilter(f)},
		{id: "history", body: "history", note: "Give a task or a key, or a shorter time.",
			load: func(ctx context.Context) (any, error) { return c.listHistory(ctx, f, from) }},
		{id: "kept", title: "Kept tasks", body: "kepttasks", note: "list_kept_tasks() has no such limit in psql.",
			load: func(ctx context.Context) (any, error) { return c.keptTasks(ctx) }},
	}}, nil
}

// loadHistoryFilter returns what the form of the filter needs: the names of kept tasks to choose from, if they can be read.
func (c *Console) loadHistoryFilter(f historyFilter) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		d := historyFilterData{Path: "history", Filter: f, Outcomes: outcomes}
		soon, cancel := context.WithTimeout(ctx, c.patience) // without the names the form still works
		defer cancel()
		if kept, err := c.keptTasks(soon); err == nil {
			for _, k := range kept.Rows {
				d.Tasks = append(d.Tasks, k.Task)
			}
		}
		return d, nil
	}
}

func (c *Console) keptTasks(ctx context.Context) (answer[keptTask], error) {
	return readCached[keptTask](ctx, c, "kept tasks", `
		select k.task, pg_catalog.date_part('epoch', k.keep_for) as keep_for, k.payloads, k.results, k.kept_since
		  from S.list_kept_tasks() as k
		 order by k.task
		 limit 500`)
}

func (c *Console) listHistory(ctx context.Context, f historyFilter, from position) (historyData, error) {
	key := fmt.Sprintf("list history %s %s", from, f.Conditions().Query())
	outcome := f.Outcome
	if outcome == failures {
		outcome = ""
	}
	at, id := from.arguments()
	found, err := readCached[attempt](ctx, c, key, `
		select h.job_id, h.task_identifier, h.attempt, h.max_attempts, h.outcome, h.worker_id, h.place, h.key, h.started_at,
		       h.ended_at, pg_catalog.left(h.error, $9::integer) as error
		  from S.list_history($1::text, $2::text, $3::text, $4::text, $5::boolean,
		         pg_catalog.now() operator(pg_catalog.-) $6::text::interval, null, $7::text::timestamptz, $8::bigint, $10::integer) as h
		 order by h.ended_at desc, h.job_id desc, h.attempt desc`,
		statement.OrNull(f.Task), statement.OrNull(outcome), statement.OrNull(f.Worker), statement.OrNull(f.Key), f.Outcome == failures, statement.OrNull(f.Since), at, id,
		errorsCut, rowsShown+1)
	d := historyData{answer: found, Filter: f, IsLate: !from.At.IsZero()}
	if len(d.Rows) > rowsShown {
		d.Rows = d.Rows[:rowsShown]
		last := d.Rows[rowsShown-1]
		d.Next = position{last.EndedAt.Time, last.JobID}
	}
	return d, err
}

const (
	timesShown  = 25          // kept tasks of which a page shows the times, at most
	timesBudget = time.Second // after which a page of them ends
	timesSample = 10_000      // attempts of a task from which percentiles are computed
)

// taskTimes is a row of task_stats, of the last hour.
type taskTimes struct {
	inspect.TaskStats
	IsSlow bool // the query was stopped
}

// Failures returns how many attempts failed: as many as the history has with the condition failures.
func (t taskTimes) Failures() int64 { return t.Failed + t.PermanentlyFailed + t.Recovered }

// taskTimes returns how long the jobs of kept tasks waited and ran in the last hour, by task. Each task costs a query of its own.
// The page ends after the tasks that can be read within the budget, at least one.
func (c *Console) taskTimes(ctx context.Context, after string) (named[taskTimes], error) {
	return cached(ctx, c.cache, "times "+after, func(ctx context.Context) (named[taskTimes], error) {
		began := time.Now()
		kept, err := read[keptTask](ctx, c.store, `
			select k.task
			  from S.list_kept_tasks() as k
			 where $1::text is null or k.task operator(pg_catalog.>) $1::text
			 order by k.task
			 limit $2::integer`, statement.OrNull(after), timesShown+1)
		list := named[taskTimes]{Now: kept.Now, Since: after}
		for i, k := range kept.Rows {
			if i == timesShown || i > 0 && time.Since(began) > c.budget {
				list.After = kept.Rows[i-1].Task
				break
			}
			times, err := read[taskTimes](ctx, c.store, `
				select $1::text as task, s.attempts, s.completed, s.failed, s.permanently_failed, s.recovered,
				       pg_catalog.date_part('epoch', s.waited_p50) as waited_p50, pg_catalog.date_part('epoch', s.waited_p95) as waited_p95,
				       pg_catalog.date_part('epoch', s.ran_p50) as ran_p50, pg_catalog.date_part('epoch', s.ran_p95) as ran_p95
				  from S.task_stats($1::text, pg_catalog.now() operator(pg_catalog.-) interval '1 hour', null, $2::integer) as s`,
				k.Task, timesSample)
			switch {
			case sqlstate.Of(err) == queryCanceled: // the other tasks do not depend on it
				list.Rows = append(list.Rows, taskTimes{inspect.TaskStats{Task: k.Task}, true})
			case err != nil:
				return list, err
			default:
				list.Rows = append(list.Rows, times.Rows...)
			}
		}
		return list, err
	})
}
