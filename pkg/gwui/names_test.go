package gwui_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
)

// hostileNames are names that a link, a form or a browser could change into those of others.
var hostileNames = []string{
	"mail", " mail", "mail ", "\u00a0mail", "line1\nline2", "line1\r\nline2", "line1line2", "cr\rlf", "\n", "  ",
	`it's "x"`, `"mail"`, "a//b", "50%0A", "a?b", "#1", "a&b=c", "a&amp;b", "a+b", "<script>alert(1)</script>",
	"{x}", `*\_`, "..", "tab\there", strings.Repeat("x", 128), "\u202egpj עברית", "zero\u200bwidth",
	"\u00c9", "E\u0301", "null", "0", "-1", "'; drop table x --", "a;b", "https://x/😀",
}

var (
	aForm     = regexp.MustCompile(`(?s)<form([^>]*)>(.*?)</form>`)
	aControl  = regexp.MustCompile(`(?s)<(input|textarea)([^>]*)>(?:\n?([^<]*)</textarea>)?`)
	anOption  = regexp.MustCompile(`(?s)<select[^>]* name="([^"]*)">.*?<option(?: value="([^"]*)")? selected>([^<]*)`)
	attribute = regexp.MustCompile(` ([a-z-]+)="([^"]*)"`)
	aLink     = regexp.MustCompile(` href="([^"]*)"`)
	lineBreak = regexp.MustCompile(`\r\n|\r|\n`)
)

func attributes(text string) map[string]string {
	all := make(map[string]string)
	for _, a := range attribute.FindAllStringSubmatch(text, -1) {
		all[a[1]] = html.UnescapeString(a[2])
	}
	return all
}

// resolve returns a link of a page as a path of the console.
func (s *site) resolve(from, link string) string {
	s.t.Helper()
	base, err := url.Parse(s.url + from)
	if err != nil {
		s.t.Fatal(err)
	}
	to, err := base.Parse(link)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimPrefix(to.String(), s.url)
}

// links returns the links of a page to paths that begin with to.
func (s *site) links(from, to string) (found []string) {
	s.t.Helper()
	for _, link := range aLink.FindAllStringSubmatch(s.get(from).body, -1) {
		if path := s.resolve(from, html.UnescapeString(link[1])); strings.HasPrefix(path, to) && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	return found
}

// submit sends the form of a page with this class as a browser does, with what the user has typed, and returns the path of the next
// page, or the answer if there is none.
func (s *site) submit(from, class string, typed url.Values) (string, page) {
	s.t.Helper()
	for _, form := range aForm.FindAllStringSubmatch(s.get(from).body, -1) {
		attrs := attributes(form[1])
		if attrs["class"] != class {
			continue
		}
		fields := make(url.Values)
		for _, control := range aControl.FindAllStringSubmatch(form[2], -1) {
			a := attributes(control[2])
			value := a["value"]
			switch {
			case control[1] == "textarea":
				value = lineBreak.ReplaceAllString(html.UnescapeString(control[3]), "\r\n")
			case a["type"] == "hidden":
				value = lineBreak.ReplaceAllString(value, "\r\n")
			case a["type"] == "checkbox" && !strings.Contains(control[2], " checked"):
				continue
			default:
				value = lineBreak.ReplaceAllString(value, "")
			}
			fields.Set(a["name"], value)
		}
		for _, option := range anOption.FindAllStringSubmatch(form[2], -1) {
			fields.Set(option[1], html.UnescapeString(option[2]+option[3]))
		}
		for name, values := range typed {
			fields[name] = values
		}
		var p page
		to := from
		if action, ok := attrs["action"]; ok {
			to = s.resolve(from, action)
		}
		if attrs["method"] == "post" {
			p = s.post(to, fields)
		} else {
			path, _, _ := strings.Cut(to, "?")
			to = at(path, fields)
			p = s.get(to)
		}
		if p.status == http.StatusSeeOther {
			return s.resolve(to, p.header.Get("Location")), p
		}
		return to, p
	}
	s.t.Fatalf("%s has no form %s", from, class)
	return "", page{}
}

// act sends the form of a page that asks, and fails if it is refused.
func (s *site) act(from string, typed url.Values) {
	s.t.Helper()
	if _, p := s.submit(from, "question", typed); p.status != http.StatusSeeOther {
		s.t.Errorf("%q answers %d: %s", from, p.status, p.body)
	}
}

var aJob = regexp.MustCompile(`href="[./]*jobs/(\d+)"`)

// jobsOf returns the ids of a list of jobs.
func (s *site) jobsOf(path string) (ids []string) {
	s.t.Helper()
	for _, found := range aJob.FindAllStringSubmatch(s.get(path).body, -1) {
		ids = append(ids, found[1])
	}
	return ids
}

func TestLinksAndFormsActOnTheObjectOfExactlyThisName(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `
		select graphile_worker.add_job(n, '{}', n, job_key => n), graphile_worker.register_worker(n, '{none}', 1, 'h', 1, 'v'),
		       graphile_worker.cron_schedule(n, '0 4 * * *', n)
		  from unnest($1::text[]) as n`, hostileNames)
	pgtest.Exec(t, s.pool, `
		select graphile_worker.set_limit(n, array[n || '!', e'\n' || n, ' ' || n], by => 'payload:' || n, max_running => 1, rate => 5, per => '1 minute'),
		       graphile_worker.override_lane(n, n, rate => 9, per => '1 hour')
		  from unnest($1::text[]) as n`, hostileNames)
	is := func(what, query string) {
		t.Helper()
		if got := pgtest.Value[string](t, s.pool, query); got != "t" {
			t.Errorf("%s: %s", what, got)
		}
	}
	all := fmt.Sprint(len(hostileNames))

	for i, name := range hostileNames {
		id := pgtest.Value[string](t, s.pool, `select id::text from graphile_worker.jobs where key = $1`, name)
		for _, query := range []url.Values{{"task": {name}, "queue": {name}, "key": {name}}} {
			list := at("jobs", query)
			if got := s.jobsOf(list); !slices.Equal(got, []string{id}) {
				t.Errorf("the jobs of %q %v are %v, want %s", name, query, got, id)
			}
			filtered, _ := s.submit(list, "filter", url.Values{"newer": {" 1d "}})
			if got := s.jobsOf(filtered); !slices.Equal(got, []string{id}) {
				t.Errorf("the jobs of %q %v are %v with a further condition, want %s: %q", name, query, got, id, filtered)
			}
			for _, link := range s.links(list, "jobs/act?act=reschedule") {
				s.act(link, url.Values{"priority": {fmt.Sprint(i + 1)}})
			}
		}
		is("rescheduled", fmt.Sprintf(`select (count(*) filter (where priority > 0) = %[1]d and max(priority) = %[1]d)::text::char(1) from graphile_worker.jobs`, i+1))
		if to, _ := s.submit(at("history", url.Values{"task": {name}}), "filter", nil); to != at("history", url.Values{"task": {name}}) {
			t.Errorf("the filter of the history becomes %q for %q", to, name)
		}
	}

	for _, on := range []string{"tasks", "queues", "limits"} {
		for _, link := range s.links(on, "pause?") {
			s.act(link, nil)
		}
	}
	for _, lanes := range s.links("limits", "limits/lanes?") {
		for _, link := range s.links(lanes, "pause?") {
			s.act(link, url.Values{"reason": {"why not"}})
		}
		for _, link := range s.links(lanes, "limits/override?") {
			s.act(link, url.Values{"max_running": {"3"}})
		}
	}
	is("paused", `
		with p as (select * from graphile_worker.list_pauses()),
		     names as (select array_agg(queue_name order by queue_name) as names from graphile_worker.list_queues())
		select (names = (select array_agg(task order by task) from p where task <> 'none')
		    and names = (select array_agg(queue order by queue) from p where queue is not null)
		    and names = (select array_agg(limit_name order by limit_name) from p where lane is null and limit_name is not null)
		    and names = (select array_agg(lane order by lane) from p where lane = limit_name))::text::char(1)
		  from names`)
	is("numbers of lanes", `
		select (count(*) = `+all+` and bool_and(n.lane = l.name))::text::char(1)
		  from graphile_worker.list_limits() as l, graphile_worker.list_lanes(l.name) as n
		 where n.max_running = 3 and n.rate = 9 and n.per = '1 hour'`)
	for _, link := range s.links("limits", "resume?") {
		s.act(link, nil)
	}
	is("resumed", `select (count(*) = 0)::text::char(1) from graphile_worker.list_pauses()`)

	for _, link := range s.links("limits", "limits/set?") {
		s.act(link, url.Values{"max_running": {"2"}})
	}
	is("changed limits", `
		select (count(*) = `+all+` and bool_and(tasks @> array[name || '!', e'\n' || name, ' ' || name] and by = 'payload:' || name and max_running = 2
		        and rate = 5 and per = '1 minute'))::text::char(1)
		  from graphile_worker.list_limits()`)
	for _, link := range s.links("limits", "limits/drop?") {
		s.act(link, nil)
	}
	is("dropped", `select (count(*) = 0)::text::char(1) from graphile_worker.list_limits()`)

	for _, act := range []string{"pause", "resume", "run"} {
		for _, link := range s.links("recurring", "recurring/act?act="+act) {
			s.act(link, nil)
		}
		if act == "pause" {
			is("paused schedules", `select bool_and(paused)::text::char(1) from graphile_worker.cron_schedules`)
		}
	}
	is("schedules", `
		select (count(*) = `+all+` and bool_and((select count(*) = 2 from graphile_worker.jobs as j where j.task_identifier = s.identifier)))::text::char(1)
		  from graphile_worker.cron_schedules as s where not s.paused`)
	for _, link := range s.links("workers", "workers/unlock?") {
		s.act(link, nil)
	}
	unlocked := s.links("workers", "workers/unlock?")
	if len(unlocked) != len(hostileNames) {
		t.Errorf("%d workers are linked, want %s", len(unlocked), all)
	}
	for _, link := range unlocked {
		query, _ := url.ParseQuery(strings.TrimPrefix(link, "workers/unlock?"))
		if !slices.Contains(hostileNames, query.Get("worker")) {
			t.Errorf("%q is not the name of a worker", link)
		}
	}
}

func TestAFilterTrimsWhatWasTypedOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	to, _ := s.submit(at("jobs", url.Values{"task": {" mail"}, "key": {"a\nb"}}), "filter", url.Values{"task": {" sync "}, "error": {" HTTP 500 "}})
	if want := at("jobs", url.Values{"task": {"sync"}, "key": {"a\nb"}, "error": {"HTTP 500"}}); to != want {
		t.Errorf("the filter leads to %q, want %q", to, want)
	}
}
