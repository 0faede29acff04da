package gwui_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
)

// exports makes a limit with a full lane: jobs 1 runs, and 2 waits for it.
func (s *site) exports() {
	s.t.Helper()
	pgtest.Exec(s.t, s.pool, `
		set search_path = graphile_worker;
		select set_limit('exports', '{export}', by => 'payload:tenant', max_running => 1, total_running => 9, rate => 100, per => '1 minute');
		select get_job('w', '{none}') from generate_series(1, 10);
		select add_job('export', '{"tenant":"lane & 7"}') from generate_series(1, 2);
		select get_job('w', '{export}');
		set search_path = public`)
}

func TestWhatIsPausedAndResumedIsShownOnItsPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.exports()
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail', queue_name => 'q')`)
	for target, on := range map[string]string{
		"task=mail":                     "tasks",
		"queue=q":                       "queues",
		"limit=exports":                 "limits",
		"lane=lane+%26+7&limit=exports": "limits/lanes?limit=exports",
		"all=1":                         "limits",
	} {
		asks := func(act string) string { return act + "?back=" + url.QueryEscape(on) + "&" + target }
		link := func(act string) string {
			values, _ := url.ParseQuery(target)
			values.Set("back", on)
			if !strings.Contains(on, "?") {
				values.Set("back", on+"?")
			}
			return act + "?" + strings.NewReplacer("&", "&amp;", "+", "&#43;").Replace(values.Encode()) + `"`
		}
		s.get(on).want(t, http.StatusOK, link("pause"))
		s.get(asks("pause")).want(t, http.StatusOK, "until this pause ends", "Reason", ">Pause</button>")
		p := s.post(asks("pause"), url.Values{"reason": {"the provider is down"}})
		p.want(t, http.StatusSeeOther)
		to := p.header.Get("Location")
		if path, _, _ := strings.Cut(on, "?"); !strings.HasPrefix(to, "./"+path+"?") || !strings.Contains(to, strings.TrimPrefix(on, path+"?")) {
			t.Errorf("after the pause of %s comes %q, want %q", target, to, on)
		}
		s.get(strings.TrimPrefix(to, "./")).want(t, http.StatusOK, `<div class="notice" role="status"><p><strong>Paused `)
		s.get(on).want(t, http.StatusOK, "paused", link("resume"))
		s.get("").want(t, http.StatusOK, "the provider is down")
		s.get("limits").want(t, http.StatusOK, "the provider is down")
		s.get(asks("resume")).want(t, http.StatusOK, "the provider is down", "Due jobs start at once.")
		s.post(asks("resume"), nil).want(t, http.StatusSeeOther)
		s.get("limits").want(t, http.StatusOK, "Nothing is paused.")
	}
	got := pgtest.Value[string](t, s.pool, `
		select string_agg(act || ' ' || subject || coalesce(' by ' || actor, ''), '; ' order by subject, id)
		  from graphile_worker.list_audit() where act in ('pause', 'resume')`)
	want := "resume everything by console; pause everything: the provider is down by console"
	if strings.Count(got, ";") != 9 || !strings.Contains(got, "pause limit exports, lane lane & 7: the provider is down by console") {
		t.Errorf("the audit has %s, want ten acts such as %s", got, want)
	}
}

func TestAPauseHasAReasonAndAnEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.post("pause?task=mail", url.Values{"reason": {"a migration"}, "for": {"30m"}}).want(t, http.StatusSeeOther)
	s.get("limits").want(t, http.StatusOK, "the task <a href=\"./task?task=mail\">mail</a>", "a migration", "in 29 min", "console (role ")
	asked := s.get("pause?task=mail")
	asked.want(t, http.StatusOK, "This is paused already;", `value="a migration"`)
	s.post("pause?task=mail", url.Values{"until": {"2100-01-02 03:04+01"}}).want(t, http.StatusSeeOther)
	s.get("resume?task=mail").want(t, http.StatusOK, "until 2100-01-02 02:04:00 UTC.")
	for want, sent := range map[string]struct{ query, form string }{
		"Give one end, not two.":                                {"task=a", "for=2h&until=2100-01-01"},
		"A pause must end in the future":                        {"task=a", "until=2001-01-01"},
		"invalid input syntax for type interval":                {"task=a", "for=soon"},
		"The request does not name what to pause or to resume.": {"", "reason=none"},
		"There is no limit &#39;none&#39;":                      {"limit=none", ""},
		"A pause applies to one task, one queue, one limit":     {"task=a&queue=b", ""},
	} {
		form, _ := url.ParseQuery(sent.form)
		s.post("pause?"+sent.query, form).want(t, http.StatusBadRequest, want)
	}
	s.get("pause").want(t, http.StatusBadRequest, "The request does not name what to pause")
	s.post("resume", url.Values{}).want(t, http.StatusBadRequest, "The request does not name what to pause")
}

func TestAJobTellsWhyItDoesNotRun(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.exports()
	s.get("jobs/2").want(t, http.StatusOK, "Why it does not run now", "full", "The limit exports, lane lane &amp; 7 has no free slot.",
		`Held back by <a href="../jobs/1">1</a>`, "It starts when one of these jobs ends")
	if p := s.get("jobs/1"); strings.Contains(p.body, "Why it does not run") {
		t.Errorf("a job that runs tells why it does not: %s", p.body)
	}
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail', run_at => now() + interval '1 hour')`)
	s.get("jobs/3").want(t, http.StatusOK, "future", "Until <time", "in 59 min")
}

func TestTheLanesOfALimitContinueOnTheNextPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.exports()
	pgtest.Exec(t, s.pool, `select graphile_worker.override_lane('exports', (1000 + n)::text, max_running => 1) from generate_series(1, 150) as n`)
	s.get("limits").want(t, http.StatusOK, `href="./limits/lanes?limit=exports"`, "payload:tenant", "100 a minute", `>151 <span class="muted">1 full</span><`)
	first := s.get("limits/lanes?limit=exports")
	first.want(t, http.StatusOK, "(all)", ">1098<", "open")
	next := regexp.MustCompile(`rel="next" href="(\?[^"]*)"`).FindStringSubmatch(first.body)
	if next == nil {
		t.Fatalf("there is no next page: %s", first.body)
	}
	second := s.get("limits/lanes" + strings.ReplaceAll(next[1], "&amp;", "&"))
	second.want(t, http.StatusOK, ">1100<", ">1150<", "lane &amp; 7", `<span class="state full">full</span>`, `<a href="../jobs/1">1</a>`)
	if strings.Contains(second.body, ">1098<") || strings.Contains(second.body, `rel="next"`) {
		t.Errorf("the second page is not the rest: %s", second.body)
	}
	s.get("limits/lanes?limit=none").want(t, http.StatusOK, "There is no limit none.")
}

func TestALaneThatAWorkerHasClosedIsOpened(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.exports()
	pgtest.Exec(t, s.pool, `select graphile_worker.rate_limited('w', 1, null, '1 hour')`)
	const lane = "lane=lane+%26+7&limit=exports"
	s.get("limits").want(t, http.StatusOK, "1 closed")
	s.get("limits/lanes?limit=exports").want(t, http.StatusOK, "closed", "in 59 min", "open?back=limits%2Flanes%3Flimit%3Dexports&amp;lane=lane&#43;%26&#43;7")
	s.get("limits/open?"+lane).want(t, http.StatusOK, "its jobs may start at once", ">Open</button>")
	s.post("limits/open?"+lane, nil).want(t, http.StatusSeeOther)
	if page := s.get("limits/lanes?limit=exports"); strings.Contains(page.body, "closed") {
		t.Errorf("the lane is closed still: %s", page.body)
	}
	s.post("limits/open?task=export", nil).want(t, http.StatusNotFound)
	s.post("limits/open?limit=none", nil).want(t, http.StatusBadRequest, "There is no limit &#39;none&#39;")
}

func TestAMonitorSeesLimitsAndPausesWithoutLanes(t *testing.T) {
	t.Parallel()
	owner := pgtest.Pool(t, pgtest.Database(t))
	s := serve(t, owner, poolAs(t, owner, "monitor"), gwui.Config{Schema: "graphile_worker_api"})
	s.exports()
	pgtest.Exec(t, owner, `select graphile_worker.pause(task => 'mail', reason => 'the provider is down')`)
	p := s.get("limits")
	p.want(t, http.StatusOK, "exports", "the task <a href=\"./task?task=mail\">mail</a>")
	if strings.Contains(p.body, "the provider is down") {
		t.Errorf("the page shows the reason of a pause, which may be about a customer: %s", p.body)
	}
	if strings.Contains(p.body, "limits/lanes") || strings.Contains(p.body, "resume?") || strings.Contains(p.body, "pause?") {
		t.Errorf("the page offers what the role may not do: %s", p.body)
	}
	s.get("limits/lanes?limit=exports").want(t, http.StatusForbidden)
	s.get("pause?all=1").want(t, http.StatusForbidden)
	s.post("pause?all=1", nil).want(t, http.StatusForbidden)
	s.post("resume?task=mail", nil).want(t, http.StatusForbidden)
	if p := s.get("jobs/2"); p.status != http.StatusOK || strings.Contains(p.body, "lane &amp; 7") {
		t.Errorf("the page of a job shows the lane: %s", p.body)
	}
}

func TestALimitIsMadeChangedAndDropped(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.get("limits").want(t, http.StatusOK, "No limit.", `href="./limits/set"`)
	s.get("limits/set").want(t, http.StatusOK, "New limit", "Lanes by", `<textarea id="field-tasks"`, ">Set</button>")
	s.post("limits/set", url.Values{
		"limit": {" exports "}, "tasks": {"export\r\nreport a\r\n\r\n"}, "by": {"payload:tenant"}, "max_running": {"3"}, "rate": {"100"}, "per": {"1m"},
		"fair": {"yes"}, "strict": {"2m"},
	}).want(t, http.StatusSeeOther)
	const read = `
		select concat_ws('|', name, tasks::text, by, max_running, total_running, rate, per, burst, fair, strict) from graphile_worker.list_limits()`
	if got := pgtest.Value[string](t, s.pool, read); got != `exports|{export,"report a"}|payload:tenant|3|100|00:01:00|100|t|00:02:00` {
		t.Errorf("the limit is %s", got)
	}
	const link = `?back=limits%3F&amp;limit=exports"`
	s.get("limits").want(t, http.StatusOK, `href="./limits/set`+link, `href="./limits/drop`+link)
	s.get("limits/set?limit=exports").want(t, http.StatusOK, "Change the limit exports", `value="payload:tenant"`, "export\nreport a</textarea>", `value="00:01:00"`,
		`value="yes" checked`, `value="00:02:00"`)
	s.post("limits/set?limit=exports", url.Values{"max_running": {"7"}}).want(t, http.StatusSeeOther)
	if got := pgtest.Value[string](t, s.pool, read); got != "exports|7|f" {
		t.Errorf("the limit is %s after the change", got)
	}
	for want, form := range map[string]url.Values{
		"it needs max_running, total_running, rate or fair": {"limit": {"new"}},
		"its name must be 1 to 128 characters long":         {"max_running": {"1"}},
		"many is not a whole number in the range":           {"limit": {"new"}, "max_running": {"many"}},
		"3000000000 is not a whole number in the range":     {"limit": {"new"}, "max_running": {"3000000000"}},
		"invalid input syntax for type interval":            {"limit": {"new"}, "rate": {"1"}, "per": {"soon"}},
	} {
		s.post("limits/set", form).want(t, http.StatusBadRequest, want)
	}
	s.get("limits/set?limit=none").want(t, http.StatusNotFound, "There is no limit none.")
	s.get("limits/drop?limit=exports").want(t, http.StatusOK, "Later claims do not obey it.", ">Drop</button>")
	s.post("limits/drop?limit=exports", nil).want(t, http.StatusSeeOther)
	s.post("limits/drop?limit=exports", nil).want(t, http.StatusBadRequest, "There is no limit &#39;exports&#39;")
	s.get("limits").want(t, http.StatusOK, "No limit.")
	if got := pgtest.Value[string](t, s.pool, `
		select string_agg(act || ' by ' || actor, ', ' order by id) from graphile_worker.list_audit()`); got != "set limit by console, set limit by console, drop limit by console" {
		t.Errorf("the audit has %s", got)
	}
}

func TestALaneGetsNumbersOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.exports()
	const lane = "lane=lane+%26+7&limit=exports"
	s.get("limits/lanes?limit=exports").want(t, http.StatusOK, "override?back=limits%2Flanes%3Flimit%3Dexports&amp;lane=lane&#43;%26&#43;7")
	s.get("limits/override?"+lane).want(t, http.StatusOK, "Numbers of the lane lane &amp; 7 of the limit exports", "(1 at once; 100 a minute)")
	s.post("limits/override?"+lane, url.Values{"max_running": {"10"}}).want(t, http.StatusSeeOther)
	const read = `select max_running from graphile_worker.list_lanes('exports') where lane = 'lane & 7'`
	if got := pgtest.Value[int64](t, s.pool, read); got != 10 {
		t.Errorf("%d jobs of the lane run at once", got)
	}
	s.post("limits/override?"+lane, nil).want(t, http.StatusSeeOther)
	if got := pgtest.Value[int64](t, s.pool, read); got != 1 {
		t.Errorf("%d jobs of the lane run at once, without numbers of its own", got)
	}
	s.get("limits/override?limit=exports").want(t, http.StatusNotFound)
	s.post("limits/override?limit=exports&lane=x", url.Values{"burst": {"2"}}).want(t, http.StatusBadRequest, "burst")
}

func TestANewLimitDoesNotReplaceAnother(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.exports()
	s.post("limits/set", url.Values{"limit": {" exports "}, "tasks": {"zzz"}, "max_running": {"1"}}).
		want(t, http.StatusConflict, "Nothing was done.", "There is a limit exports already", `value="1"`, "zzz</textarea>")
	const read = `select concat_ws('|', tasks::text, by, rate) from graphile_worker.list_limits()`
	if got := pgtest.Value[string](t, s.pool, read); got != "{export}|payload:tenant|100" {
		t.Errorf("the limit is %s", got)
	}
	s.post("limits/set?limit=none", url.Values{"max_running": {"1"}}).want(t, http.StatusNotFound, "There is no limit none.")
}

func TestTheFormOfALaneHasTheNumbersInForce(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.exports()
	const path = "limits/override?limit=exports&lane=big"
	const read = `
		select concat_ws('|', max_running, rate, per, burst) from graphile_worker.list_lanes('exports') where lane = 'big'`
	change := func(typed url.Values, want string) {
		t.Helper()
		s.act(path, typed)
		if got := pgtest.Value[string](t, s.pool, read); got != want {
			t.Errorf("the numbers are %s after %v, want %s", got, typed, want)
		}
	}
	s.get(path).want(t, http.StatusOK, `name="max_running" value="1"`, `name="rate" value="100"`)
	pgtest.Exec(t, s.pool, `select graphile_worker.override_lane('exports', 'big', rate => 500, per => '1 hour', burst => 7)`)
	s.get(path).want(t, http.StatusOK, `name="max_running" value="1"`, `name="rate" value="500"`, `name="burst" value="7"`)
	change(url.Values{"max_running": {"9"}}, "9|500|01:00:00|7")

	// What has the numbers of the limit follows them.
	change(url.Values{"max_running": {"1"}, "rate": {"100"}, "per": {"00:01:00"}, "burst": {""}}, "1|100|00:01:00|100")
	pgtest.Exec(t, s.pool, `select graphile_worker.set_limit('exports', '{export}', by => 'payload:tenant', max_running => 3, rate => 200, per => '1 minute')`)
	if got := pgtest.Value[string](t, s.pool, read); got != "3|200|00:01:00|200" {
		t.Errorf("the numbers are %s after a change of the limit", got)
	}
}

func TestFullLanesComeFirstAndTellHowManyJobsWait(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.exports()
	pgtest.Exec(t, s.pool, `
		set search_path = graphile_worker;
		select add_job('export', json_build_object('tenant', n)) from generate_series(1, 3) as n;
		select get_job('w2', '{export}') from generate_series(1, 3);
		select complete_job('w2', id) from jobs where locked_by = 'w2';
		set search_path = public`)
	s.get("limits").want(t, http.StatusOK, `<th scope="col" class="n">Waiting</th>`)
	p := s.get("limits/lanes?limit=exports")
	p.want(t, http.StatusOK, `<th scope="col" class="n">Waiting</th>`)
	rows := regexp.MustCompile(`(?s)<tr><td data-label="Lane" class="name">([^<]*)</td>.*?</tr>`).FindAllStringSubmatch(p.body, -1)
	var names []string
	for _, row := range rows {
		names = append(names, row[1])
	}
	if got := strings.Join(names, ", "); got != "lane &amp; 7, (all), 1, 2, 3" {
		t.Errorf("the lanes are %s", got)
	}
	if len(rows) > 0 && !strings.Contains(rows[0][0], `<td data-label="Running" class="n">1</td><td data-label="Waiting" class="n">1</td><td data-label="Jobs"><a href="../jobs/1">`) {
		t.Errorf("the full lane is %s", rows[0][0])
	}
}
