package gwui

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/rows"
)

const (
	rowsShown = 50      // of a list of jobs
	mostRead  = 100_000 // jobs that a list, or the count for a confirmation, may read to find them
	errorsCut = 300     // characters of an error in a list

	mostPreview = 20_000 // bytes of a payload of which a list shows the beginning
	previewCut  = 300    // characters of it
)

// jobStates are the states of jobs, in the order in which a job has them.
var jobStates = []string{"ready", "scheduled", "running", "failed"}

// job is a row of list_jobs, show_jobs or jobs_without_data.
type job struct {
	inspect.Job
	Payload string `json:"payload"`
	Bytes   int    `json:"payload_bytes"` // of the whole payload
}

// IsCanceled reports whether the job runs although it was canceled: its worker has not heard of it yet. cancel_jobs counts such a job
// beyond its last attempt.
func (j job) IsCanceled() bool { return j.State == "running" && j.Attempts > j.MaxAttempts }

// When returns the time of a job that matters in its state, as text.
func (j job) When(now time.Time) string {
	switch j.State {
	case "ready":
		return "due " + relative(j.RunAt, now)
	case "scheduled":
		return relative(j.RunAt, now)
	case "running":
		text := "for " + lasting(j.LockedAt.Since(now))
		if j.IsCanceled() {
			text += ", canceled"
		}
		return text
	default:
		return relative(j.UpdatedAt, now)
	}
}

// WhenAt is the time that When returns as text.
func (j job) WhenAt() inspect.Moment {
	switch j.State {
	case "running":
		return j.LockedAt
	case "failed":
		return j.UpdatedAt
	default:
		return j.RunAt
	}
}

type jobList struct {
	Filter    filter
	Jobs      []job
	Now       time.Time
	Next      int64 // the below_id of the next page, 0 if there is none
	IsSample  bool  // running jobs of workers that do not register may be missing
	IsSearch  bool  // the page ended before it was full: the search can continue
	Below     int64
	ShowsData bool
	Acts      []jobAct
}

// Most is how many jobs a page of the list reads at most.
func (l jobList) Most() int {
	if l.Filter.Path != "" {
		return mostPayloads
	}
	return mostRead
}

// Back returns the query of this page of the list.
func (l jobList) Back() template.URL {
	if l.Below == 0 {
		return l.Filter.Conditions().Query()
	}
	return l.Filter.Conditions().With("below", strconv.FormatInt(l.Below, 10))
}

// Older returns the query of the next page.
func (l jobList) Older() template.URL {
	return l.Filter.Conditions().With("below", strconv.FormatInt(l.Next, 10))
}

func jobsPage(_ context.Context, c *Console, q *request) (*view, error) {
	if query, isForm := asTyped(q.query); isForm {
		return nil, redirectError{"jobs?" + query}
	}
	f := newFilter(q.query)
	if err := c.mayUse(f); err != nil {
		return nil, err
	}
	return &view{Title: "Jobs", Nav: "jobs", panels: []panel{
		{id: "notice", body: "notice", load: c.loadNotice(q)},
		{id: "filter", body: "filter", still: true, load: c.loadFilter(q, f)},
		{id: "chart", body: "jobcharts", note: "A shorter period reads fewer records.", absent: !q.hasChart(f),
			load: func(ctx context.Context) (any, error) { return c.jobCharts(ctx, q, f) }},
		{id: "errors", body: "errorchips", note: noteErrors, absent: f.State != "failed" || !f.isPlain() || !q.may["error_groups"],
			load: func(ctx context.Context) (any, error) { return c.errorGroups(ctx, f.Task, errorChips) }},
		{id: "jobs", body: "jobs", load: func(ctx context.Context) (any, error) { return c.listJobs(ctx, q, f) },
			note: "Give a state, a queue or a key, or a shorter time."},
	}}, nil
}

// errorChips is how many groups of errors are above a list of failed jobs, at most.
const errorChips = 5

// isPlain reports whether the filter has no conditions but a state and a task.
func (f filter) isPlain() bool {
	f.State, f.Task = "", ""
	return len(f.Conditions()) == 0
}

// mayUse returns an error if jobs must not be searched by this filter: by a payload, of which only a part may be seen.
func (c *Console) mayUse(f filter) error {
	if f.Path != "" && c.cfg.Redact != nil {
		return statusError{http.StatusBadRequest, "This console shows payloads in part only, so they cannot be searched."}
	}
	return nil
}

// filterData is the form of the filter.
type filterData struct {
	Path      string
	Filter    filter
	Tasks     []string
	ShowsData bool
	Counts    *inspect.Counts // of the states, if the condition is none or one that has counts
}

// loadFilter returns what the form of the filter needs: the names of tasks to choose from, if they can be read.
func (c *Console) loadFilter(q *request, f filter) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		d := filterData{Path: "jobs", Filter: f, ShowsData: q.may["search_jobs"]}
		soon, cancel := context.WithTimeout(ctx, c.patience) // without the names the form still works
		defer cancel()
		if tasks, err := c.tasks(soon, ""); q.may["list_tasks"] && err == nil {
			for _, t := range tasks.Rows {
				d.Tasks = append(d.Tasks, t.Task)
			}
			d.Counts = f.countsIn(tasks)
		}
		return d, nil
	}
}

// countsIn returns how many jobs of all tasks, or of the one of the filter, are in each state, by the rows of all tasks; nil if they do not
// tell, because the filter has other conditions or there are more tasks.
func (f filter) countsIn(tasks named[task]) *inspect.Counts {
	if !f.isPlain() || f.Task == "" && tasks.After != "" {
		return nil
	}
	var all *inspect.Counts
	for _, t := range tasks.Rows {
		switch {
		case f.Task != "" && f.Task != t.Task:
		case all == nil:
			all = &t.Counts
		default:
			all.Ready += t.Ready
			all.Scheduled += t.Scheduled
			all.Running += t.Running
			all.Failed += t.Failed
		}
	}
	return all
}

func (c *Console) listJobs(ctx context.Context, q *request, f filter) (jobList, error) {
	below := number(q.query, "below")
	key := fmt.Sprintf("jobs %d %s", below, f.Conditions().Query())
	list, err := cached(ctx, c.cache, key, func(ctx context.Context) (jobList, error) {
		search, args := f.search(q.may, below, rowsShown+1, mostRead)
		hits, err := read[found](ctx, c.store, search, args...)
		if err != nil || len(hits.Rows) == 0 {
			return jobList{}, err
		}
		return c.pageOf(ctx, q.may, hits.Rows[0])
	})
	list.Filter, list.Below, list.ShowsData, list.Acts = f, below, q.may["show_jobs"], q.jobActs(f.State)
	return list, err
}

// pageOf returns the jobs that a search has found, except the last one, which only shows that there are more.
func (c *Console) pageOf(ctx context.Context, may rights, hit found) (list jobList, err error) {
	list.IsSample = hit.IsSample
	if len(hit.IDs) > rowsShown {
		hit.IDs = hit.IDs[:rowsShown]
		hit.Next = &hit.IDs[rowsShown-1]
	} else {
		list.IsSearch = hit.Next != nil
	}
	if hit.Next != nil {
		list.Next = *hit.Next
	}
	query := `
		select j.id, j.state, j.task_identifier, j.queue_name, j.key, j.priority, j.run_at, j.attempts, j.max_attempts,
		       pg_catalog.left(j.last_error, $2::integer) as last_error, j.created_at, j.updated_at, j.locked_at, j.locked_by,
		       j.revision, j.flags,
		       case when pg_catalog.pg_column_size(j.payload) operator(pg_catalog.<=) $3::integer then j.payload::text end as payload
		  from S.show_jobs($1::bigint[]) as j
		 order by j.id desc`
	args := []any{rows.IDArray(hit.IDs), errorsCut, mostPreview}
	if !may["show_jobs"] {
		query, args = `select j.* from S.jobs_without_data($1::bigint[]) as j order by j.id desc`, args[:1]
	}
	jobs, err := read[job](ctx, c.store, query, args...)
	list.Jobs, list.Now = jobs.Rows, jobs.Now
	for i := range list.Jobs {
		j := &list.Jobs[i]
		if j.Payload != "" {
			j.Payload = inspect.Compact(c.redact(*j))
		}
		if runes := []rune(j.Payload); len(runes) > previewCut {
			j.Payload = string(runes[:previewCut])
		}
		if j.Payload == "{}" || j.Payload == "null" {
			j.Payload = "" // there is nothing in it to show
		}
	}
	return list, err
}

// jobData is one job.
type jobData struct {
	Job       job
	Now       time.Time
	ShowsData bool
	Payload   string // indented
	IsCut     bool   // Payload is only its beginning
	Acts      []jobAct
	End       *attempt // of a job that has gone: its last record; the other fields but Now are not set then
}

// mostPayload is how many characters of a payload a page shows; all of it can be downloaded.
const mostPayload = 256 << 10

// noteShow is the note of the panels of one job.
const noteShow = "gw-run show has no such limit."

func jobPage(_ context.Context, c *Console, q *request) (*view, error) {
	return &view{Title: fmt.Sprintf("Job %d", q.id), Nav: "jobs", panels: []panel{
		{id: "notice", body: "notice", load: c.loadNotice(q)},
		{id: "job", body: "job", note: noteShow, load: func(ctx context.Context) (any, error) { return c.showJob(ctx, q) }},
		{id: "why", body: "why", note: "gw-run why has no such limit.", absent: !q.may["why"],
			load: func(ctx context.Context) (any, error) { return c.why(ctx, q.id) }},
		{id: "timeline", body: "timeline", note: "gw-run history has no such limit.",
			load: func(ctx context.Context) (any, error) { return c.timeline(ctx, q) }},
		{id: "data", body: "data", note: noteShow, load: func(ctx context.Context) (any, error) { return c.showData(ctx, q) }},
	}}, nil
}

// why returns why a job does not run. For a job that runs or has failed, the page already shows this.
func (c *Console) why(ctx context.Context, id int64) (answer[inspect.Why], error) {
	return readCached[inspect.Why](ctx, c, fmt.Sprintf("why %d", id), `
		select w.*
		  from S.why($1::bigint) as w
		 where w.reason operator(pg_catalog.<>) all (array['claimed', 'attempts used up'])`, id)
}

// readJob returns one job, with the beginning of its payload if the role may see it.
func (c *Console) readJob(ctx context.Context, may rights, id int64) (answer[job], error) {
	key, ids := fmt.Sprintf("job %d", id), rows.IDArray([]int64{id})
	if may["show_jobs"] {
		return readCached[job](ctx, c, key, `
			select j.id, j.state, j.task_identifier, j.queue_name, j.key, j.priority, j.run_at, j.attempts, j.max_attempts,
			       j.last_error, j.created_at, j.updated_at, j.locked_at, j.locked_by, j.revision, j.flags,
			       j.progress, j.progress_note, j.progress_at, j.steps,
			       pg_catalog.left(j.payload::text, $2::integer) as payload,
			       pg_catalog.octet_length(j.payload::text) as payload_bytes
			  from S.show_jobs($1::bigint[]) as j`, ids, mostPayload)
	}
	return readCached[job](ctx, c, key, `select j.* from S.jobs_without_data($1::bigint[]) as j`, ids)
}

// showJob returns a job without its payload, or the last record of one that has gone.
func (c *Console) showJob(ctx context.Context, q *request) (d jobData, err error) {
	jobs, err := c.readJob(ctx, q.may, q.id)
	if err != nil {
		return d, err
	}
	if len(jobs.Rows) == 0 {
		end, history, err := c.lastRecord(ctx, q)
		return jobData{End: end, Now: history.Now}, err
	}
	return q.dataOf(jobs), nil
}

// dataOf returns the data of the only job of an answer.
func (q *request) dataOf(jobs answer[job]) jobData {
	j := jobs.Rows[0]
	d := jobData{Job: j, Now: jobs.Now, ShowsData: q.may["show_jobs"], Acts: q.jobActs(j.State)}
	if j.IsCanceled() {
		d.Acts = slices.DeleteFunc(d.Acts, func(a jobAct) bool { return a.Name == "cancel" })
	}
	return d
}

// noJob is the answer to a request for a job that does not exist.
func noJob(id int64) statusError {
	return statusError{http.StatusNotFound, fmt.Sprintf("There is no job %d: it has completed, was removed, or never existed.", id)}
}

// showData returns a job with its payload, nothing if there is no such job.
func (c *Console) showData(ctx context.Context, q *request) (any, error) {
	jobs, err := c.readJob(ctx, q.may, q.id)
	if err != nil || len(jobs.Rows) == 0 {
		return nil, err
	}
	d := q.dataOf(jobs)
	if !d.ShowsData {
		return d, nil
	}
	d.IsCut = len(d.Job.Payload) < d.Job.Bytes
	if !d.IsCut || c.cfg.Redact == nil { // what has been cut cannot be redacted
		d.Payload = inspect.Indent(c.redact(d.Job))
	}
	return d, nil
}

// redact returns the part of a job's payload that may be shown.
func (c *Console) redact(j job) string {
	if c.cfg.Redact == nil {
		return j.Payload
	}
	return string(c.cfg.Redact(j.Task, json.RawMessage(j.Payload)))
}

// servePayload serves the payload of a job, byte for byte, as a file.
func (c *Console) servePayload(w http.ResponseWriter, r *http.Request) {
	q, err := c.newRequest(r, r.URL.Path, r.PathValue("id"))
	if err == nil && !q.may["show_jobs"] {
		err = statusError{http.StatusForbidden, "The database role of this console may not read payloads."}
	}
	var jobs answer[job]
	if err == nil {
		jobs, err = read[job](r.Context(), c.store, `
			select j.task_identifier, j.payload::text as payload from S.show_jobs($1::bigint[]) as j`,
			rows.IDArray([]int64{q.id}))
	}
	if err == nil && len(jobs.Rows) == 0 {
		err = statusError{http.StatusNotFound, fmt.Sprintf("There is no job %d.", q.id)}
	}
	if err != nil {
		c.fail(w, r, q, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="job-%d.json"`, q.id))
	_, _ = w.Write([]byte(c.redact(jobs.Rows[0])))
}

// redirectError answers a request with another page of the console.
type redirectError struct{ path string }

func (e redirectError) Error() string { return "see " + e.path }
