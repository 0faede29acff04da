package gwui

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gwsql/gw/internal/operate"
	"github.com/gwsql/gw/internal/statement"
)

// filter selects the jobs of a list or an action. Jobs must match all conditions that are given.
type filter struct {
	operate.Selection
	Error       string // its beginning
	ErrorPart   string
	KeyPrefix   string
	Worker      string
	Path, Value string // of a field of the payload
}

// condition is one of them.
type condition struct {
	Name, Label, Value string
}

// newFilter returns the filter of a URL or a form.
func newFilter(values url.Values) filter {
	get := values.Get
	f := filter{Selection: operate.Selection{
		State: get("state"), Task: get("task"), Queue: get("queue"), Key: get("key"), Older: get("older"), Newer: get("newer"),
		ErrorGroup: get("group"), // as error_groups returned it
	}, Error: get("error"), ErrorPart: get("errorpart"), KeyPrefix: get("keyprefix"), Worker: get("worker")}
	f.Path, f.Value, _ = strings.Cut(get("payload"), ":")
	return f
}

// payload returns the condition on the payload, empty for none.
func (f filter) payload() string {
	if f.Path == "" {
		return ""
	}
	return f.Path + ":" + f.Value
}

// asTyped returns the query that the form of a filter means, and whether the values are those of such a form. Its field was has
// the conditions that the form has shown. The values of a link are taken as they are.
func asTyped(values url.Values) (query string, isForm bool) {
	if !values.Has("was") {
		return "", false
	}
	was, _ := url.ParseQuery(values.Get("was")) // what is wrong in it was not shown
	values.Del("was")
	for name := range values {
		values.Set(name, entered(values, name, was.Get(name)))
		if values.Get(name) == "" {
			values.Del(name)
		}
	}
	return values.Encode(), true
}

// entered returns the value of a field of a form that has shown a value. A value that the user has not changed is kept, although
// browsers drop its line breaks; any other is trimmed.
func entered(form url.Values, name, shown string) string {
	value := form.Get(name)
	if value == strings.NewReplacer("\r", "", "\n", "").Replace(shown) {
		return shown
	}
	return strings.TrimSpace(value)
}

// Conditions returns those that are given.
func (f filter) Conditions() conditions {
	return given(condition{"state", "state", f.State}, condition{"task", "task", f.Task}, condition{"queue", "queue", f.Queue},
		condition{"key", "key", f.Key}, condition{"group", "error", f.ErrorGroup}, condition{"error", "error begins", f.Error},
		condition{"errorpart", "error has", f.ErrorPart}, condition{"keyprefix", "key begins", f.KeyPrefix},
		condition{"worker", "held by", f.Worker}, condition{"payload", "payload", f.payload()},
		condition{"older", "added before", f.Older}, condition{"newer", "added within", f.Newer})
}

// Hidden returns the conditions that the form of the filter has no field for.
func (f filter) Hidden() conditions {
	return slices.DeleteFunc(f.Conditions(), func(c condition) bool {
		return !slices.Contains([]string{"group", "errorpart", "keyprefix", "worker", "payload"}, c.Name)
	})
}

// conditions are those of a filter.
type conditions []condition

// given returns the conditions that have a value.
func given(all ...condition) conditions {
	return slices.DeleteFunc(all, func(c condition) bool { return c.Value == "" })
}

// Query returns the conditions as the query of a URL.
func (all conditions) Query() template.URL { return all.With("", "") }

// With returns the query with another value of a condition; empty for none.
func (all conditions) With(name, value string) template.URL {
	values := make(url.Values)
	for _, c := range all {
		values.Set(c.Name, c.Value)
	}
	values.Del(name)
	if value != "" {
		values.Set(name, value)
	}
	return template.URL(values.Encode())
}

// String returns the filter as text, for the page and for the audit.
func (f filter) String() string {
	var words []string
	for _, c := range f.Conditions() {
		words = append(words, c.Label+" "+c.Value)
	}
	if words == nil {
		return "all jobs"
	}
	return strings.Join(words, ", ")
}

// arguments are those of search_jobs, from the first to newer_than, and from error_group on.
func (f filter) arguments() []any {
	return []any{
		statement.OrNull(f.State), statement.OrNull(f.Task), statement.OrNull(f.Queue), statement.OrNull(f.Key), statement.OrNull(f.Error), statement.OrNull(f.Older), statement.OrNull(f.Newer), statement.OrNull(f.ErrorGroup),
		statement.OrNull(f.KeyPrefix), statement.OrNull(f.ErrorPart), statement.OrNull(f.Worker), statement.OrNull(f.Path), f.Value,
	}
}

// found is what search_jobs or browse_jobs returns: ids, highest first, and where the search continues.
type found struct {
	IDs      []int64 `json:"job_ids"`
	Next     *int64  `json:"next_id"`
	IsSample bool    `json:"is_sample"`
}

// mostPayloads is how many payloads a search reads to find jobs.
const mostPayloads = 20_000

// search returns the statement that finds jobs, for roles that see their data and for others, and its arguments.
func (f filter) search(may rights, below int64, rows, most int) (string, []any) {
	var from any
	if below > 0 {
		from = below
	}
	if may["search_jobs"] {
		if f.Path != "" {
			most = min(most, mostPayloads)
		}
		return `select f.job_ids, f.next_id, f.is_sample
		          from S.search_jobs($1::text, $2::text, $3::text, $4::text, $5::text, $6::text::interval, $7::text::interval,
		                             $14::bigint, $15::integer, $16::integer, $8::text, $9::text, $10::text, $11::text, $12::text, $13::text) as f`,
			append(f.arguments(), from, rows, most)
	}
	return `select f.job_ids, f.next_id, f.is_sample
	          from S.browse_jobs($1::text, $2::text, $3::text, $4::text::interval, $5::text::interval, $6::bigint,
	                             $7::integer, $8::integer) as f`,
		[]any{statement.OrNull(f.State), statement.OrNull(f.Task), statement.OrNull(f.Queue), statement.OrNull(f.Older), statement.OrNull(f.Newer), from, rows, most}
}

// number returns a positive number of a query, 0 if there is none.
func number(values url.Values, name string) int64 {
	n, err := strconv.ParseInt(values.Get(name), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// term is a word of the search box with a name: name:value, or name:"value with spaces".
var term = regexp.MustCompile(`(?:^|\s)(state|task|queue|key|error|worker|payload\.[^\s:]+):("(?:[^"]*)"|\S+)`)

// findPage leads from the search box to what it names: the id of a job; terms, each of which is a condition; or the beginning of
// a key.
func findPage(_ context.Context, _ *Console, q *request) (*view, error) {
	text := strings.TrimSpace(q.query.Get("q"))
	if id, err := strconv.ParseInt(text, 10, 64); err == nil && id > 0 {
		return nil, redirectError{fmt.Sprintf("jobs/%d", id)}
	}
	values, err := findValues(text)
	if err != nil {
		return nil, err
	}
	return nil, redirectError{"jobs?" + values.Encode()}
}

// findValues returns the conditions of a list of jobs that a text means.
func findValues(text string) (url.Values, error) {
	values := make(url.Values)
	for _, found := range term.FindAllStringSubmatch(text, -1) {
		name, value := found[1], strings.Trim(found[2], `"`)
		switch path, isPayload := strings.CutPrefix(name, "payload."); {
		case isPayload:
			name, value = "payload", path+":"+value
		case name == "error":
			name = "errorpart"
		}
		if values.Has(name) {
			return nil, statusError{http.StatusBadRequest, fmt.Sprintf("There are two conditions for %s.", found[1])}
		}
		values.Set(name, value)
	}
	rest := strings.TrimSpace(term.ReplaceAllString(text, ""))
	if rest != "" && len(values) > 0 {
		return nil, statusError{http.StatusBadRequest, fmt.Sprintf("%q is no condition. These are: state, task, queue, key, error, worker and "+
			"payload.FIELD, each before a colon and a value, in quotation marks if it has spaces.", rest)}
	}
	if rest != "" {
		values.Set("keyprefix", rest)
	}
	return values, nil
}
