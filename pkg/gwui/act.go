package gwui

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/operate"
)

// jobAct is an action of an operator on jobs.
type jobAct struct {
	Name, Title string
	Effect      string // what it does, in one sentence
	States      []string
	Fields      []field
	function    string
	act         func(value func(field string) any, jobs int) operate.Act // the values of its fields, nil for none; how many jobs
}

// field is a value that an act takes.
type field struct {
	Name, Label, Hint, Value string
	Kind                     string   // check, which is checked if it has a value; lines; or empty, for one line
	Options                  []string // values to choose from, or to type others
}

var reason = field{Name: "reason", Label: "Reason", Hint: "The last error of the jobs."}

// spread is a field of forms for several jobs.
var spread = field{Name: "spread", Label: "Spread over", Options: []string{"1 min", "10 min", "1 h"},
	Hint: "A time, such as 10 min, over which the jobs become due one after the other. Empty: all of them are due now."}

var jobActList = []jobAct{
	{Name: "retry", Title: "Retry", Effect: "The jobs become due now; failed jobs get all their attempts again.",
		States:   []string{"scheduled", "failed"},
		Fields:   []field{spread},
		function: "retry_jobs",
		act: func(value func(string) any, jobs int) operate.Act {
			if over := value(spread.Name); over != nil {
				return operate.RetryApart(over, int64(max(jobs, 1)))
			}
			return operate.Retry()
		}},
	{Name: "reschedule", Title: "Reschedule", Effect: "The jobs run at another time, or with another priority.",
		States: []string{"ready", "scheduled", "failed"},
		Fields: []field{
			{Name: "in", Label: "Run in", Hint: "A time from now, such as 90s or 2h."},
			{Name: "priority", Label: "Priority", Hint: "A number; lower runs first."},
		},
		function: "reschedule_jobs",
		act: func(value func(string) any, _ int) operate.Act {
			return operate.Reschedule(nil, value("in"), value("priority"), nil, nil)
		}},
	{Name: "cancel", Title: "Cancel", Effect: "The jobs fail permanently; the handlers of running jobs are ended.",
		States: []string{"ready", "scheduled", "running"}, Fields: []field{reason}, function: "cancel_jobs",
		act: func(value func(string) any, _ int) operate.Act { return operate.Cancel(value("reason")) }},
	{Name: "fail", Title: "Fail", Effect: "The jobs fail permanently, and stay in the queue until they are retried or removed.",
		States: []string{"ready", "scheduled"}, Fields: []field{reason}, function: "permanently_fail_jobs",
		act: func(value func(string) any, _ int) operate.Act { return operate.Fail(value("reason")) }},
	{Name: "remove", Title: "Remove", Effect: "The jobs are deleted, as if they had completed.",
		States: []string{"ready", "scheduled", "failed"}, function: "complete_jobs",
		act: func(func(string) any, int) operate.Act { return operate.Remove() }},
}

// jobActs returns the actions that the viewer may take on jobs in a state, or in any state if it is empty.
func (q *request) jobActs(state string) []jobAct {
	var acts []jobAct
	for _, a := range jobActList {
		// To cancel a job that waits is to fail it.
		if q.Can(a.function) && (state == "" || slices.Contains(a.States, state)) && (a.Name != "fail" || !q.Can("cancel_jobs")) {
			acts = append(acts, a)
		}
	}
	return acts
}

// findJobAct returns an action of this name, if the viewer may take it.
func (q *request) findJobAct(name string) (jobAct, error) {
	for _, a := range jobActList {
		if a.Name == name {
			return a, q.needs(a.function)
		}
	}
	return jobAct{}, errNoPage
}

// outcome is what an action has done, as a sentence, and the path of the page that shows it.
type outcome struct{ to, did string }

// actionFunc carries out the action of a form. The query of the request names what it changes; the form has the values that
// the user has typed.
type actionFunc func(ctx context.Context, c *Console, q *request, form url.Values) (outcome, error)

// form is an action of an operator with the page that asks for confirmation.
type form struct {
	needs string     // the function of the queue by which the action acts; empty: ask and act find out
	ask   pageFunc   // nil without a page
	act   actionFunc // nil for a page without an action of its own
}

// forms are the forms by their paths.
var forms = map[string]form{
	"/jobs/{id}/act":   {"", confirmJobs, actOnJobs},
	"/jobs/{id}/copy":  {"copy_job", confirmCopy, addCopy},
	"/jobs/act":        {"", confirmJobs, actOnJobs},
	"/operations":      {"", operationPage, nil},
	"/operations/stop": {"", nil, stopOperation},
	"/workers/unlock":  {"force_unlock_workers", confirmUnlock, unlockWorker},
	"/workers/drain":   {"drain_worker", confirmDrain, drainWorker},
	"/remedy":          {"doctor", confirmRemedy, runRemedy},
	"/settings/set":    {"set_setting", confirmSetting, setSetting},
	"/recurring/act":   {"", confirmRecurring, actOnRecurring},
	"/pause":           {"pause", confirmPause, pause},
	"/resume":          {"resume", confirmResume, resume},
	"/limits/open":     {"open_lane", confirmOpen, open},
	"/limits/set":      {"set_limit", confirmLimit, setLimit},
	"/limits/drop":     {"drop_limit", confirmDrop, dropLimit},
	"/limits/override": {"override_lane", confirmOverride, overrideLane},
}

// page is the page of the form, for viewers who may act.
func (f form) page(ctx context.Context, c *Console, q *request) (*view, error) {
	if err := q.needs(f.needs); err != nil {
		return nil, err
	}
	return f.ask(ctx, c, q)
}

// mostForm limits the body of a form in bytes.
const mostForm = 1 << 20

// action returns the handler of the action of a form.
func (c *Console) action(f form) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, err := c.newRequest(r, r.URL.Path, r.PathValue("id"))
		if err == nil && !q.acts {
			err = statusError{http.StatusForbidden, "This console does not allow you to act."}
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostForm)
		if err == nil && r.ParseForm() != nil {
			err = errUnreadable
		}
		var done outcome
		if err == nil {
			q.typed = r.PostForm
			err = q.needs(f.needs)
		}
		if err == nil {
			done, err = f.act(r.Context(), c, q, r.PostForm)
		}
		c.forget()
		if err != nil {
			c.refuse(w, r, q, f, err)
			return
		}
		if done.did != "" {
			done.to = withOperation(done.to, c.operations.note(done.did))
		}
		seeOther(w, r, done.to)
	}
}

// refuse answers a form with its page, what was typed, and the error; with the error alone if there is no such page.
func (c *Console) refuse(w http.ResponseWriter, r *http.Request, q *request, f form, err error) {
	if q == nil || q.typed == nil || f.ask == nil {
		c.fail(w, r, q, err)
		return
	}
	v, formErr := f.page(r.Context(), c, q)
	if formErr != nil {
		c.fail(w, r, q, err)
		return
	}
	v.Status = c.statusOf(r, err)
	v.panels = append([]panel{{id: "problem", body: "refused", still: true, load: func(context.Context) (any, error) {
		return refusal{c.explain(err, ""), isRefused(err)}, nil
	}}}, v.panels...)
	c.show(w, r, q, v)
}

// refusal is why an action was not carried out.
type refusal struct {
	problem
	IsCertain bool // nothing was done; otherwise this is not known
}

// isRefused reports whether an error shows that nothing was done, unlike the loss of a connection.
func isRefused(err error) bool {
	_, isStatus := errors.AsType[statusError](err)
	_, isOfDatabase := errors.AsType[*pgconn.PgError](err)
	return isStatus || isOfDatabase || errors.Is(err, errBusy)
}

// place is a page of the console to which a form may return.
var place = regexp.MustCompile(`^(jobs(/[0-9]+)?|tasks?|queues?|limits(/lanes)?|workers?|settings|recurring)(\?[^#\s]*)?$`)

// backTo returns the page from which a form came, or another page if that is not a page of the console.
func backTo(values url.Values, other string) string {
	if back := values.Get("back"); place.MatchString(back) {
		return back
	}
	return other
}

// confirmation is the page that asks before jobs are changed.
type confirmation struct {
	Act       jobAct
	IDs       []int64 // selected one by one; nil for all that match
	Filter    filter
	Count     int
	IsAtLeast bool // there may be more
	Upto      int64
	Back      template.URL
	Typed     bool // the count has to be typed, because there are more than are changed at once
}

// selected returns the ids that a form or URL names, and whether it names all that match instead.
func selected(q *request, values url.Values) (ids []int64, all bool, err error) {
	if q.id > 0 {
		return []int64{q.id}, false, nil
	}
	for _, text := range values["id"] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, false, statusError{http.StatusBadRequest, fmt.Sprintf("%q is not the id of a job.", text)}
		}
		ids = append(ids, id)
	}
	all = values.Get("all") != ""
	if len(ids) == 0 && !all {
		return nil, false, statusError{http.StatusBadRequest, "No job is selected."}
	}
	return ids, all, nil
}

func confirmJobs(ctx context.Context, c *Console, q *request) (*view, error) {
	act, err := q.findJobAct(q.query.Get("act"))
	if err != nil {
		return nil, err
	}
	ids, all, err := selected(q, q.query)
	if err != nil {
		return nil, err
	}
	act.Fields = q.filled(act.Fields)
	d := confirmation{Act: act, IDs: ids, Count: len(ids), Filter: newFilter(q.query), Back: template.URL(backTo(q.query, "jobs"))}
	if err := c.mayUse(d.Filter); err != nil {
		return nil, err
	}
	if all {
		d.IDs = nil
		if err := c.count(ctx, q, &d); err != nil {
			return nil, err
		}
	}
	if d.Count == 1 && !d.IsAtLeast {
		d.Act.Fields = slices.DeleteFunc(d.Act.Fields, func(f field) bool { return f.Name == spread.Name })
	}
	return &view{Title: act.Title, Nav: "jobs", panels: []panel{
		{id: "confirm", body: "confirm", still: true, load: func(context.Context) (any, error) { return d, nil }},
	}}, nil
}

// count counts the jobs that match, up to a limit.
func (c *Console) count(ctx context.Context, q *request, d *confirmation) error {
	search, args := d.Filter.search(q.may, 0, mostRead, mostRead)
	hits, err := read[found](ctx, c.store, search, args...)
	if err != nil {
		return err
	}
	if len(hits.Rows) == 1 && len(hits.Rows[0].IDs) > 0 {
		hit := hits.Rows[0]
		d.Count, d.IsAtLeast, d.Upto = len(hit.IDs), hit.Next != nil, hit.IDs[0]
	} else if len(hits.Rows) == 1 && hits.Rows[0].Next != nil {
		d.IsAtLeast, d.Upto = true, *hits.Rows[0].Next
	}
	d.Typed = d.Count > operate.StepJobs || d.IsAtLeast
	return nil
}

func actOnJobs(ctx context.Context, c *Console, q *request, form url.Values) (outcome, error) {
	act, err := q.findJobAct(q.query.Get("act"))
	if err != nil {
		return outcome{}, err
	}
	ids, all, err := selected(q, q.query)
	if err != nil {
		return outcome{}, err
	}
	value := func(field string) any { return typed(form, field) }
	if act.Name == "reschedule" && value("in") == nil && value("priority") == nil {
		return outcome{}, statusError{http.StatusBadRequest, "Give a time or a priority."}
	}
	o := &operation{Act: act, Viewer: q.viewer.Name, Total: len(ids), ids: ids, back: backTo(q.query, "jobs")}
	if err := c.mayUse(newFilter(q.query)); err != nil {
		return outcome{}, err
	}
	if all {
		count := form.Get("count")
		if o.Total, err = strconv.Atoi(count); err != nil {
			return outcome{}, statusError{http.StatusBadRequest, "The form does not contain the number of jobs."}
		}
		if form.Get("typed") != count && (o.Total > operate.StepJobs || form.Get("more") != "") {
			return outcome{}, statusError{http.StatusBadRequest, fmt.Sprintf("Type %s to confirm.", count)}
		}
		o.ids, o.isAll, o.filter, o.upto, o.IsAtLeast = nil, true, newFilter(q.query), number(form, "upto"), form.Get("more") != ""
		o.change.Selection = &o.filter.Selection
	}
	o.change.Act = act.act(value, o.Total)
	c.operations.start(c, o, q.may)
	if !o.endsSoon(ctx) {
		return outcome{to: "operations?op=" + o.ID}, nil
	}
	if err := o.refused(); err != nil {
		return outcome{}, err
	}
	return outcome{to: withOperation(o.back, o.ID)}, nil
}

// withOperation adds to a page the operation that it reports.
func withOperation(back, id string) string {
	to, err := url.Parse(back)
	if err != nil {
		return "jobs"
	}
	values := to.Query()
	values.Set("op", id)
	to.RawQuery = values.Encode()
	return to.String()
}
