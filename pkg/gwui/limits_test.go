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
		at := func(act string) string { return act + "?back=" + url.QueryEscape(on) + "&" + target }
		link := func(act string) string {
			values, _ := url.ParseQuery(target)
			values.Set("back", on)
			if !strings.Contains(on, "?") {
				values.Set("back", on+"?")
			}
			return act + "?" + strings.NewReplacer("&", "&amp;", "+", "&#43;").Replace(values.Encode()) + `"`
		}
		s.get(on).want(t, http.StatusOK, link("pause"))
		s.get(at("pause")).want(t, http.StatusOK, "until this pause ends", "Reason", ">Pause</button>")
		form, _ := url.ParseQuery(target)
		form.Set("back", on)
		form.Set("reason", "the provider is down")
		p := s.post("pause", form)
		p.want(t, http.StatusSeeOther)
		if to := p.header.Get("Location"); to != "./"+on {
			t.Errorf("after the pause of %s comes %q, want %q", target, to, on)
		}
		s.get(on).want(t, http.StatusOK, "paused", link("resume"))
		s.get("").want(t, http.StatusOK, "the provider is down")
		s.get("limits").want(t, http.StatusOK, "the provider is down")
		s.get(at("resume")).want(t, http.StatusOK, "the provider is down", "Due jobs start at once.")
		s.post("resume", form).want(t, http.StatusSeeOther)
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
	s.post("pause", url.Values{"task": {"mail"}, "reason": {"a migration"}, "for": {"30m"}}).want(t, http.StatusSeeOther)
	s.get("limits").want(t, http.StatusOK, "the task mail", "a migration", "in 29 m")
	asked := s.get("pause?task=mail")
	asked.want(t, http.StatusOK, "This is paused already;", `value="a migration"`)
	s.post("pause", url.Values{"task": {"mail"}, "until": {"2100-01-02 03:04+01"}}).want(t, http.StatusSeeOther)
	s.get("resume?task=mail").want(t, http.StatusOK, "until 2100-01-02 02:04:00 UTC.")
	for want, form := range map[string]url.Values{
		"Nothing was done: give one end, not two.":              {"task": {"a"}, "for": {"2h"}, "until": {"2100-01-01"}},
		"A pause must end in the future":                        {"task": {"a"}, "until": {"2001-01-01"}},
		"invalid input syntax for type interval":                {"task": {"a"}, "for": {"soon"}},
		"The request does not name what to pause or to resume.": {"reason": {"none"}},
		"There is no limit &#39;none&#39;":                      {"limit": {"none"}},
		"A pause applies to one task, one queue, one limit":     {"task": {"a"}, "queue": {"b"}},
	} {
		s.post("pause", form).want(t, http.StatusBadRequest, want)
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
	s.get("jobs/3").want(t, http.StatusOK, "future", "Until <time", "in 59 m")
}

func TestTheLanesOfALimitContinueOnTheNextPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.exports()
	pgtest.Exec(t, s.pool, `select graphile_worker.override_lane('exports', (1000 + n)::text, max_running => 1) from generate_series(1, 150) as n`)
	s.get("limits").want(t, http.StatusOK, `href="./limits/lanes?limit=exports"`, "payload:tenant", "100 per 00:01:00", `>151 <span class="muted">1 full</span><`)
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
	s.get("limits/lanes?limit=exports").want(t, http.StatusOK, "closed", "in 59 m", "open?back=limits%2Flanes%3Flimit%3Dexports&amp;lane=lane&#43;%26&#43;7")
	s.get("limits/open?"+lane).want(t, http.StatusOK, "its jobs may start at once", ">Open</button>")
	form, _ := url.ParseQuery(lane)
	s.post("limits/open", form).want(t, http.StatusSeeOther)
	if page := s.get("limits/lanes?limit=exports"); strings.Contains(page.body, "closed") {
		t.Errorf("the lane is closed still: %s", page.body)
	}
	s.post("limits/open", url.Values{"task": {"export"}}).want(t, http.StatusNotFound)
	s.post("limits/open", url.Values{"limit": {"none"}}).want(t, http.StatusBadRequest, "There is no limit &#39;none&#39;")
}

func TestAMonitorSeesLimitsAndPausesWithoutLanes(t *testing.T) {
	t.Parallel()
	owner := pgtest.Pool(t, pgtest.Database(t))
	s := serve(t, owner, poolAs(t, owner, "monitor"), gwui.Config{Schema: "graphile_worker_api"})
	s.exports()
	pgtest.Exec(t, owner, `select graphile_worker.pause(task => 'mail', reason => 'the provider is down')`)
	p := s.get("limits")
	p.want(t, http.StatusOK, "exports", "the task mail", "the provider is down")
	if strings.Contains(p.body, "limits/lanes") || strings.Contains(p.body, "resume?") || strings.Contains(p.body, "pause?") {
		t.Errorf("the page offers what the role may not do: %s", p.body)
	}
	s.get("limits/lanes?limit=exports").want(t, http.StatusForbidden)
	s.get("pause?all=1").want(t, http.StatusForbidden)
	s.post("pause", url.Values{"all": {"1"}}).want(t, http.StatusForbidden)
	s.post("resume", url.Values{"task": {"mail"}}).want(t, http.StatusForbidden)
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
	s.post("limits/set", url.Values{"limit": {"exports"}, "max_running": {"7"}}).want(t, http.StatusSeeOther)
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
	s.post("limits/drop", url.Values{"limit": {"exports"}}).want(t, http.StatusSeeOther)
	s.post("limits/drop", url.Values{"limit": {"exports"}}).want(t, http.StatusBadRequest, "There is no limit &#39;exports&#39;")
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
	s.get("limits/override?"+lane).want(t, http.StatusOK, "Numbers of the lane lane &amp; 7 of the limit exports", "(1 at once; 100 per 00:01:00)")
	form, _ := url.ParseQuery(lane)
	form.Set("max_running", "10")
	s.post("limits/override", form).want(t, http.StatusSeeOther)
	const read = `select max_running from graphile_worker.list_lanes('exports') where lane = 'lane & 7'`
	if got := pgtest.Value[int64](t, s.pool, read); got != 10 {
		t.Errorf("%d jobs of the lane run at once", got)
	}
	form.Del("max_running")
	s.post("limits/override", form).want(t, http.StatusSeeOther)
	if got := pgtest.Value[int64](t, s.pool, read); got != 1 {
		t.Errorf("%d jobs of the lane run at once, without numbers of its own", got)
	}
	s.get("limits/override?limit=exports").want(t, http.StatusNotFound)
	s.post("limits/override", url.Values{"limit": {"exports"}, "lane": {"x"}, "burst": {"2"}}).want(t, http.StatusBadRequest, "burst")
}
