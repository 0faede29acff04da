package gwui_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
)

func TestEveryPageIsThereWithItsHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.fill()
	for _, path := range everyPage {
		p := s.get(path)
		p.want(t, http.StatusOK, "<h1>")
		for name, want := range map[string]string{
			"Content-Type":            "text/html; charset=utf-8",
			"Cache-Control":           "no-store",
			"X-Content-Type-Options":  "nosniff",
			"Referrer-Policy":         "no-referrer",
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; trusted-types gw; require-trusted-types-for 'script'",
		} {
			if got := p.header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		for _, bad := range []string{"ZgotmplZ", "cannot be shown", `class="problem"`, " style=", "<script>", " onclick"} {
			if strings.Contains(p.body, bad) {
				t.Errorf("%s has %q: %s", path, bad, p.body)
			}
		}
	}
	s.get("nothing").want(t, http.StatusNotFound)
	s.get("jobs/99").want(t, http.StatusOK, "There is no job 99")
	s.get("jobs/none").want(t, http.StatusNotFound, "no such page")
	if p := s.get("find?q=1"); p.status != http.StatusSeeOther || p.header.Get("Location") != "./jobs/1" {
		t.Errorf("a search for an id answers %d %q", p.status, p.header.Get("Location"))
	}
}

func TestEveryLinkIsRelativeSoThatAConsoleIsMountedAnywhere(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Database(t))
	console, err := gwui.New(pool, gwui.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(console.Close)
	mux := http.NewServeMux()
	mux.Handle("/a/b/", http.StripPrefix("/a/b", console))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s := &site{t: t, pool: pool, url: server.URL + "/a/b/", http: server.Client()}
	s.fill()
	link := regexp.MustCompile(`(?:href|src|action|data-stream)="([^"]*)"`)
	checked := make(map[string]bool)
	for _, path := range everyPage {
		for _, found := range link.FindAllStringSubmatch(s.get(path).body, -1) {
			if strings.HasPrefix(found[1], "/") || strings.Contains(found[1], ":") && !strings.HasPrefix(found[1], "?") {
				t.Errorf("%s links to %s", path, found[1])
			}
		}
	}
	// Each is followed from a page at each depth.
	for _, path := range []string{"jobs", "jobs/1", "jobs/1/act?act=cancel"} {
		base, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
		for _, found := range link.FindAllStringSubmatch(s.get(path).body, -1) {
			to, err := base.URL.Parse(strings.ReplaceAll(found[1], "&amp;", "&"))
			if err != nil {
				t.Fatal(err)
			}
			if text := to.String(); !strings.Contains(text, "/live/") && !strings.HasSuffix(text, "/preferences") && !strings.HasSuffix(text, "/act") && !checked[text] {
				checked[text] = true
				s.do(http.NewRequestWithContext(t.Context(), http.MethodGet, text, nil)).want(t, http.StatusOK)
			}
		}
	}
	if len(checked) < 20 {
		t.Errorf("only %d links were followed", len(checked))
	}
}

func TestHostileTextsAreShownAsTexts(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>'{{.}}${1}` + "\u202egnp"
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job($1, json_build_object($1::text, $1::text), $1, job_key => $1, flags => array[$1::text])`, hostile)
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job($1)`, hostile)
	pgtest.Exec(t, s.pool, `select graphile_worker.permanently_fail_jobs('{1}', $1)`, hostile)
	pgtest.Exec(t, s.pool, `select graphile_worker.register_worker($1, array[$1::text], 1, $1, 1, $1)`, hostile)
	pgtest.Exec(t, s.pool, `select graphile_worker.get_job($1)`, hostile)
	pgtest.Exec(t, s.pool, `select graphile_worker.cron_schedule($1, '0 4 * * *', $1)`, hostile)
	pgtest.Exec(t, s.pool, `select graphile_worker.set_limit($1, array[$1::text], by => 'payload:' || $1, max_running => 1)`, hostile)
	pgtest.Exec(t, s.pool, `select graphile_worker.override_lane($1, $1, 1)`, hostile)
	pgtest.Exec(t, s.pool, `select graphile_worker.pause(limit_name => $1, lane => $1, reason => $1)`, hostile)
	pgtest.Exec(t, s.pool, `select graphile_worker.pause(queue => $1, reason => $1)`, hostile)
	for _, path := range append(everyPage, "jobs?task="+strings.ReplaceAll(urlText(hostile), "+", "%20"), "workers/unlock?worker="+urlText(hostile),
		"recurring/act?act=pause&name="+urlText(hostile), "limits/lanes?limit="+urlText(hostile), "pause?queue="+urlText(hostile),
		"resume?lane="+urlText(hostile)+"&limit="+urlText(hostile), "jobs/2", "jobs?key="+urlText(hostile)+"&error="+urlText(hostile)) {
		body := s.get(path).body
		for _, bad := range []string{"<script>", "<img", "onerror=alert(2)>", "\u202e"} {
			at := strings.Index(body, bad)
			if bad == "onerror=alert(2)>" || at >= 0 && bad != "\u202e" {
				if at >= 0 && strings.Contains(body[max(0, at-40):at], "&lt;") {
					continue
				}
			}
			if at >= 0 && !(bad == "\u202e" && strings.Contains(body[max(0, at-200):at], "value=")) {
				t.Errorf("%s has %q: %s", path, bad, body[max(0, at-100):min(len(body), at+100)])
			}
		}
	}
}

func TestTheHeaderHasTheNameOfTheQueueAndLinksToOthers(t *testing.T) {
	t.Parallel()
	links := []gwui.Link{{Name: "eu", URL: "https://eu.example.com/?a=1&b=2"}, {Name: "us", URL: "/us/"}, {Name: "x", URL: "javascript:alert(1)"}, {Name: "<b>\u202e", URL: `https://x/"><b>`}}
	s := newSite(t, gwui.Config{Name: "us", Links: links})
	p := s.get("jobs")
	p.want(t, http.StatusOK, "<title>Jobs · us</title>", `">gw <b>us</b></a>`, `<li><a href="https://eu.example.com/?a=1&amp;b=2">eu</a></li>`,
		`<a href="#ZgotmplZ">x</a>`, `<a href="https://x/%22%3e%3cb%3e">&lt;b&gt;`)
	for _, bad := range []string{`"/us/"`, "\u202e"} {
		if strings.Contains(p.body, bad) {
			t.Errorf("the page has %s: %s", bad, p.body)
		}
	}
	if links[1].Name != "us" {
		t.Error("the links of the caller have been changed")
	}

	red := serve(t, s.pool, s.pool, gwui.Config{Name: "production", Color: "red"})
	for _, path := range []string{"pause?all=1", "jobs/act?act=remove&all=1"} {
		red.get(path).want(t, http.StatusOK, `<header data-color="red">`, " · production</title>", "In <b>production</b>:")
	}
	if _, err := gwui.New(s.pool, gwui.Config{Color: "pink"}); err == nil {
		t.Error("a color that there is not is accepted")
	}

	config := s.pool.Config()
	name := fmt.Sprintf("%s@localhost", config.ConnConfig.Database)
	serve(t, s.pool, s.pool, gwui.Config{}).get("").want(t, http.StatusOK, " · "+name+"</title>", "<b>"+name+"</b>")
	serve(t, s.pool, s.pool, gwui.Config{Name: `<i>"`}).get("").want(t, http.StatusOK, "<b>&lt;i&gt;&#34;</b>")
}

func TestAPayloadIsShownAndDownloadedExactly(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	const payload = `{"big": 9007199254740993,  "exact":1.10, "again":1, "again":2}`
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail', $1::text::json)`, payload)
	s.get("jobs/1").want(t, http.StatusOK, "9007199254740993", "1.10", "62 bytes")
	p := s.get("jobs/1/payload")
	if p.body != payload || p.header.Get("Content-Disposition") != `attachment; filename="job-1.json"` {
		t.Errorf("downloaded is %q (%s), want %q", p.body, p.header.Get("Content-Disposition"), payload)
	}
}

// With blanks at each bracket the page would have 72 MB.
func TestADeeplyNestedPayloadMakesNoLargePage(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.keep_task('mail', '1 day', payloads => true, results => true)`)
	pgtest.Exec(t, s.pool, `
		select graphile_worker.add_job('mail', (repeat('[', 6000) || repeat(']', 6000))::json), graphile_worker.add_job('mail', (repeat('[', 6000) || repeat(']', 6000))::json)`)
	pgtest.Exec(t, s.pool, `select graphile_worker.get_job('w')`)
	pgtest.Exec(t, s.pool, `select graphile_worker.complete_job('w', 1, result => (repeat('[', 6000) || repeat(']', 6000))::json)`)
	for _, path := range []string{"jobs/1", "jobs/2"} {
		if p := s.get(path); p.status != http.StatusOK || len(p.body) > 200_000 || !strings.Contains(p.body, "[[[[") {
			t.Errorf("%s: status %d, %d bytes", path, p.status, len(p.body))
		}
	}
}

func TestColumnsWithoutAValueAreLeftOut(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail'), graphile_worker.add_job($1, queue_name => 'q', job_key => 'k')`, strings.Repeat("x", 100))
	pgtest.Exec(t, s.pool, `select graphile_worker.permanently_fail_jobs('{2}', 'down')`)
	columns := []string{">Queue</th>", ">Key</th>", ">Last error</th>", `data-label="Last error"`}
	for _, column := range columns {
		if strings.Contains(s.get("jobs?task=mail").body, column) {
			t.Errorf("a list without values has %s", column)
		}
	}
	s.get("jobs").want(t, http.StatusOK, append(columns, strings.Repeat("x", 100)+"</a>")...)
}

func TestAPageOfJobsContinuesWithTheNext(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail') from generate_series(1, 120)`)
	seen := make(map[string]bool)
	next := regexp.MustCompile(`rel="next" href="\./jobs\?([^"]*)"`)
	for query := ""; ; {
		p := s.get("jobs?task=mail&" + query)
		for _, id := range regexp.MustCompile(`jobs/(\d+)"`).FindAllStringSubmatch(p.body, -1) {
			seen[id[1]] = true
		}
		found := next.FindStringSubmatch(p.body)
		if found == nil {
			break
		}
		query = strings.ReplaceAll(found[1], "&amp;", "&")
	}
	if len(seen) != 120 {
		t.Errorf("%d jobs were seen, want 120", len(seen))
	}
}

func TestPagesAreCompressedForBrowsersThatTakeIt(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	for _, path := range []string{"help", "static/gwui.css"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
		r.Header.Set("Accept-Encoding", "gzip, br")
		small := s.do(r, err)
		if whole := s.get(path); small.header.Get("Content-Encoding") != "gzip" || len(small.body)*2 > len(whole.body) {
			t.Errorf("%s has %d bytes, %d compressed", path, len(whole.body), len(small.body))
		}
	}
}

func TestAPanelThatRunsOutOfTimeSaysSoAndTheOthersStand(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.fill()
	pgtest.Exec(t, s.pool, `
		create or replace function graphile_worker.error_groups(task text default null, max_rows integer default 10, max_read integer default 50000)
		  returns table (task_identifier text, error_group text, example text, jobs bigint, newest_id bigint, failed_at timestamptz, is_cut boolean,
		                 first_failed_at timestamptz)
		  language sql as 'select ''''::text, ''''::text, ''''::text, 0::bigint, 0::bigint, now(), pg_sleep(60) is null, now()'`)
	s.console.SetReadTimeout(5 * time.Second)
	s.get("").want(t, http.StatusOK, "The query took longer than 5s and was stopped", "Not examined: errors of failed jobs", "oldest due for")
}

func TestEveryPanelSaysWhatToDoIfItRunsOutOfTime(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), "postgres:///nobody_connects")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	console, err := gwui.New(pool, gwui.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(console.Close)
	if silent := console.Silent(t.Context()); len(silent) > 0 {
		t.Errorf("without a note: %q", silent)
	}
}

func TestAPageWithoutTheDatabaseSaysSoInEachPanel(t *testing.T) {
	t.Parallel()
	owner := pgtest.Pool(t, pgtest.Database(t))
	pool, err := pgxpool.NewWithConfig(t.Context(), owner.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s := serve(t, owner, pool, gwui.Config{})
	s.get("tasks").want(t, http.StatusOK, "No task")
	s.post("jobs/act", nil) // after any action everything is read anew
	pool.Close()
	s.get("queues").want(t, http.StatusOK, "The database cannot be reached", `href="./tasks"`)
}

func TestThePageOfTasksListsTheErrors(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `
		select graphile_worker.add_job('mail') from generate_series(1, 8);
		select graphile_worker.permanently_fail_jobs(array[n], 'error ' || chr(64 + n::int)) from generate_series(1::bigint, 8) as n`)
	if shown := strings.Count(s.get("tasks").body, ">error "); shown != 8 {
		t.Errorf("the page of tasks shows %d errors, want 8", shown)
	}
}

func TestFailedJobsHaveTheirErrorsAndTheirChartAbove(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `
		select graphile_worker.keep_task('mail', '1 day');
		select graphile_worker.add_job('mail') from generate_series(1, 8);
		select graphile_worker.add_job('sync') from generate_series(1, 2);
		select graphile_worker.permanently_fail_jobs(array[n], 'error ' || case when n > 5 then 'A' else 'B' end) from generate_series(1::bigint, 8) as n;
		select graphile_worker.permanently_fail_jobs('{9}', 'error A');
		insert into graphile_worker._gw_samples (at, ready, scheduled, running, failed, is_estimate, workers, added, gone)
		select now() - n * interval '1 minute', 1, 0, 0, 4 + n, false, 1, 0, 0 from generate_series(1, 3) as n`)
	chips := regexp.MustCompile(`<a href="\./(jobs\?[^"]*)" title="(error \w)"><span class="error">error \w</span> <b>(\d)</b>`)
	for path, want := range map[string]int{"jobs?state=failed": 3, "jobs?state=failed&task=mail": 2} {
		found := chips.FindAllStringSubmatch(s.get(path).body, -1)
		if len(found) != want {
			t.Errorf("%q has %d groups of errors, want %d", path, len(found), want)
		}
		for _, chip := range found {
			if listed := strings.Count(s.get(html.UnescapeString(chip[1])).body, `data-label="Last error"`); strconv.Itoa(listed) != chip[3] {
				t.Errorf("the link of %q with %s jobs lists %d", chip[2], chip[3], listed)
			}
		}
	}
	for path, chart := range map[string]string{
		"jobs": "ready <b>1</b>", "jobs?state=ready": "ready <b>1</b>", "jobs?state=failed": "failed <b>5</b>",
		"jobs?task=mail&state=failed": "Ended", "jobs?state=running": "", "jobs?task=sync": "", "jobs?state=failed&queue=q": "",
	} {
		p := s.get(path)
		p.want(t, http.StatusOK, chart)
		if drawn := strings.Contains(p.body, "<figure>"); drawn != (chart != "") {
			t.Errorf("%q has a chart: %t", path, drawn)
		}
	}
}

func TestBarsAreAsLongAsATaskHasJobs(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `
		select graphile_worker.add_job('large') from generate_series(1, 200);
		select graphile_worker.permanently_fail_jobs(array(select id from graphile_worker.jobs limit 50));
		select graphile_worker.add_job('small') from generate_series(1, 20); select graphile_worker.add_job('tiny')`)
	p := s.get("tasks")
	for _, bar := range []string{`"ready" x="0.00" width="75.00"`, `"failed" x="75.00" width="25.00"`, `"ready" x="0.00" width="10.00"`, `"ready" x="0.00" width="1.00"`} {
		p.want(t, http.StatusOK, bar)
	}
}

func TestADatabaseWithoutAQueueIsSaid(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.EmptyDatabase(t))
	s := serve(t, pool, pool, gwui.Config{})
	s.get("").want(t, http.StatusOK, "has no queue that this role may use")
	s.get("jobs").want(t, http.StatusOK, "lacks a function or a table that this page needs")
}

func TestPayloadsAreRedactedAsTheProgramSays(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{Redact: redactTo})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail', '{"to":"you","text":"hello"}')`)
	for _, path := range []string{"jobs/1", "jobs/1/payload"} {
		p := s.get(path)
		p.want(t, http.StatusOK, "redacted mail")
		if strings.Contains(p.body, "hello") {
			t.Errorf("%s shows what is not to be shown: %s", path, p.body)
		}
	}
}

func urlText(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
