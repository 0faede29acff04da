package gwui_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
)

func TestSelectedJobsAreChangedAfterAQuestion(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.fill()
	back := "jobs?state=failed&task=sync"
	asked := s.get("jobs/act?act=retry&id=3&id=5&id=99&back=" + url.QueryEscape(back))
	asked.want(t, http.StatusOK, "Retry <strong>3 jobs</strong>", "3, 5, 99", `href="../jobs?state=failed&amp;task=sync"`)
	p := s.post(at("jobs/act", url.Values{"act": {"retry"}, "id": {"3", "5", "99"}, "back": {back}}), nil)
	p.want(t, http.StatusSeeOther)
	to := p.header.Get("Location")
	if !strings.HasPrefix(to, "../jobs?") || !strings.Contains(to, "state=failed&task=sync") {
		t.Errorf("the browser is sent to %q", to)
	}
	s.get(strings.TrimPrefix(to, "../")).want(t, http.StatusOK, "Retried 2 jobs.", "Left alone: 1 job.", "Job 99 does not exist (any more).")
	if got := pgtest.Value[int64](t, s.pool, `select attempts::bigint from graphile_worker.jobs where id = 3`); got != 0 {
		t.Errorf("the job has %d attempts after the retry", got)
	}
}

func TestARetryIsSpreadOverATime(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail') from generate_series(1, 1500)`)
	pgtest.Exec(t, s.pool, `select count(*) from graphile_worker.permanently_fail_jobs(array(select id from graphile_worker.jobs), 'down')`)
	if p := s.get("jobs/act?act=retry&id=1"); p.status != http.StatusOK || strings.Contains(p.body, `name="spread"`) {
		t.Error("a single job can be spread")
	}
	const query = "jobs/act?act=retry&all=1&state=failed"
	asked := s.get(query)
	asked.want(t, http.StatusOK, "Spread over", `<option value="10 min">`)
	form := url.Values{"count": {"1500"}, "typed": {"1500"}, "upto": {asked.field("upto")}, "spread": {"soon"}}
	s.post(query, form).want(t, http.StatusBadRequest, "Nothing was done.", `value="soon"`)
	form.Set("spread", "10 min")
	s.post(query, form).want(t, http.StatusSeeOther)
	pgtest.Await(t, s.pool, `select exists (select from graphile_worker.list_audit() where act = 'retry' and jobs = 1500)`)
	pgtest.Await(t, s.pool, `
		select count(*) = 1499 and min(gap) >= interval '0.4 s' and max(gap) < interval '10 s'
		       and sum(gap) between interval '0.4 s' * 1499 and interval '11 min'
		  from (select run_at - lag(run_at) over (order by run_at) as gap from graphile_worker.jobs) as g
		 where gap is not null`)
	if got := pgtest.Value[string](t, s.pool, `select concat_ws('|', jobs, selection, subject) from graphile_worker.list_audit() where act = 'retry'`); got !=
		"1500|state failed|one every 00:00:00.4" {
		t.Errorf("the audit has %s", got)
	}
}

func TestManyJobsAreChangedInStepsAfterTheirNumberWasTyped(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job(case when n % 10 = 0 then 'other' else 'mail' end) from generate_series(1, 2800) as n`)
	pgtest.Exec(t, s.pool, `select count(*) from graphile_worker.permanently_fail_jobs(array(select id from graphile_worker.jobs), 'down')`)
	asked := s.get("jobs/act?act=retry&all=1&state=failed&task=mail")
	asked.want(t, http.StatusOK, "2\u202f520 jobs", "state failed, task mail", "Type 2520 to confirm")
	const query = "jobs/act?act=retry&all=1&state=failed&task=mail"
	form := url.Values{"count": {asked.field("count")}, "upto": {asked.field("upto")}}
	s.post(query, form).want(t, http.StatusBadRequest, "Nothing was done.</strong> Type 2520 to confirm.", "Type 2520 to confirm</label>")
	// A job that fails after the question is not changed.
	pgtest.Exec(t, s.pool, `select graphile_worker.permanently_fail_jobs(array[(graphile_worker.add_job('mail')).id])`)
	form.Set("typed", "2520")
	s.post(query, form).want(t, http.StatusSeeOther)
	pgtest.Await(t, s.pool, `select exists (select from graphile_worker.list_audit() where act = 'retry' and jobs = 2520)`)
	if got := pgtest.Value[string](t, s.pool, `
		select string_agg(concat_ws(' ', task_identifier, state, n), '; ' order by task_identifier, state)
		  from (select task_identifier, state, count(*) as n from graphile_worker.list_jobs(max_rows => null) group by 1, 2) as c (task_identifier, state, n)`); got !=
		"mail failed 1; mail ready 2520; other failed 280" {
		t.Errorf("the jobs are %s", got)
	}
	got := pgtest.Value[string](t, s.pool, `select concat_ws('|', count(*), min(actor), min(selection)) from graphile_worker.list_audit() where act = 'retry'`)
	if want := "1|console|state failed, task mail"; got != want {
		t.Errorf("the audit has %q, want %q", got, want)
	}
}

func TestAnOperationIsStoppedBetweenTwoSteps(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail') from generate_series(1, 3000)`)
	// The second step waits for a lock, until the operation was stopped.
	tx, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), `select from graphile_worker._private_jobs where id = 1500 for update`); err != nil {
		t.Fatal(err)
	}
	p := s.post("jobs/act?act=fail&all=1&task=mail", url.Values{"count": {"3000"}, "typed": {"3000"}, "upto": {"3000"}})
	p.want(t, http.StatusSeeOther)
	to := strings.TrimPrefix(p.header.Get("Location"), "../")
	s.get(to).want(t, http.StatusOK, "Under way", "Stop", `http-equiv="refresh"`)
	pgtest.Await(t, s.pool, `select exists (select from graphile_worker.list_audit() where jobs = 1000)`)
	s.post("operations/stop", url.Values{"op": {strings.TrimPrefix(to, "operations?op=")}}).want(t, http.StatusSeeOther)
	s.get(to).want(t, http.StatusOK, "Stopped.", "<strong>1\u202f000</strong> of 3\u202f000 jobs")
}

func TestAFormGoesBackToPagesOfTheConsoleOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail')`)
	for _, back := range []string{"https://evil.example/", "//evil.example", "jobs//evil", "javascript:alert(1)", "../../x", "jobs\r\nX: y"} {
		p := s.post(at("jobs/1/act", url.Values{"act": {"retry"}, "back": {back}}), nil)
		if to := p.header.Get("Location"); p.status != http.StatusSeeOther || !strings.HasPrefix(to, "../../jobs?op=") {
			t.Errorf("%q leads to %d %q", back, p.status, to)
		}
		if body := s.get("jobs/1/act?act=retry&back=" + url.QueryEscape(back)).body; strings.Contains(body, fmt.Sprintf("%q", "../../"+back)) {
			t.Errorf("%q is linked", back)
		}
	}
}

func TestWhatAFormLacksIsSaid(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail')`)
	s.post("jobs/act?act=retry", nil).want(t, http.StatusBadRequest, "No job is selected.")
	s.post("jobs/act?act=retry&id=x", nil).want(t, http.StatusBadRequest, "is not the id of a job")
	s.post("jobs/act?act=drop&id=1", nil).want(t, http.StatusNotFound)
	s.post("jobs/1/act?act=reschedule", nil).want(t, http.StatusBadRequest, "Give a time or a priority.")
	s.post("recurring/act?act=drop", nil).want(t, http.StatusNotFound)
	s.post("recurring/act?act=run&name=none", nil).want(t, http.StatusNotFound, "There is no schedule none.")
}

func TestARunThatNoWorkerHasMadeIsShown(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `
		select graphile_worker.cron_schedule('nightly', '0 3 * * *', 'mail');
		update graphile_worker._gw_schedules set active_since = '2026-01-01 12:00Z'`)
	s.get("recurring").want(t, http.StatusOK, "missed <time", "2026-01-02")
}

func TestAFormThatIsRefusedKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.exports()
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail'), graphile_worker.cron_schedule('nightly', '0 4 * * *', 'report')`)
	const nothing = `role="alert"><p><strong>Nothing was done.</strong> `
	for _, c := range []struct {
		path, typed, why string
		keeps            []string
	}{
		{"jobs/3/act?act=reschedule&back=jobs%3Ftask%3Dmail", "in=soon&priority=7", "invalid input syntax for type interval", []string{`value="soon"`, `value="7"`, "../../jobs?task=mail"}},
		{"jobs/act?act=reschedule&id=3", "priority=seven", "invalid input syntax for type integer", []string{`value="seven"`, "1 job"}},
		{"jobs/act?act=reschedule&all=1&task=mail", "in=soon&count=1&upto=3", "invalid input syntax for type interval", []string{`value="soon"`, "task mail"}},
		{"pause?task=mail", "for=2h&until=2100-01-01&reason=%22why%22", "Give one end, not two.", []string{`value="2h"`, "&#34;why&#34;", "Pause the task mail"}},
		{"limits/set", "limit=new&max_running=many&tasks=a%0D%0Ab&fair=yes", "many is not a whole number", []string{`value="new"`, `value="many"`, "a\r\nb</textarea>", " checked"}},
		{"limits/set?limit=exports", "rate=1&per=soon", "invalid input syntax for type interval", []string{`value="soon"`, "Change the limit exports"}},
		{"limits/override?limit=exports&lane=x", "burst=2", "burst", []string{`name="burst" value="2"`}},
		{"settings/set?name=beat_every", "value=never", "beat_every", []string{`value="never"`, "From 100 milliseconds"}},
	} {
		form, _ := url.ParseQuery(c.typed)
		s.post(c.path, form).want(t, http.StatusBadRequest, append(c.keeps, nothing, c.why, `<button class="main">`)...)
	}
	if got := pgtest.Value[int64](t, s.pool, `select count(*) from graphile_worker.list_audit() where actor = 'console'`); got != 0 {
		t.Errorf("%d acts were done", got)
	}
}

func TestAnActThatFailsAfterItsFirstJobsIsNoSuccess(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail') from generate_series(1, 1500)`)
	pgtest.Exec(t, s.pool, `
		create function refuse() returns trigger language plpgsql as $$ begin raise 'The disk is full.'; end $$;
		create trigger refuse before update on graphile_worker._private_jobs for each row when (old.id = 7) execute function refuse()`)
	p := s.post("jobs/act?act=fail&all=1&task=mail", url.Values{"count": {"1500"}, "typed": {"1500"}, "upto": {"1500"}})
	p.want(t, http.StatusSeeOther)
	op := p.header.Get("Location")
	pgtest.Await(t, s.pool, `select exists (select from graphile_worker.list_audit() where jobs = 1000)`)
	s.get("operations?op="+op[strings.Index(op, "op=")+3:]).want(t, http.StatusOK, "The disk is full.")
	s.get("jobs?op="+op[strings.Index(op, "op=")+3:]).want(t, http.StatusOK, `<div class="problem" role="status"><p><strong>Failed 1`+"\u202f"+`000 jobs.</strong>`, "The disk is full.")
}

func TestAPageTellsWhatWasDone(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.exports()
	pgtest.Exec(t, s.pool, `select graphile_worker.register_worker('<w>', '{mail}', 1, 'h', 1, 'v'), graphile_worker.cron_schedule('nightly', '0 4 * * *', 'report')`)
	var to string
	for _, c := range []struct{ path, typed, told string }{
		{"pause?task=mail&back=tasks%3F", "", "Paused the task mail."},
		{"resume?task=mail&back=tasks%3F", "", "Resumed the task mail."},
		{"resume?task=mail&back=queues", "", "The task mail was not paused."},
		{"limits/set", "limit=new&max_running=1", "Added the limit new."},
		{"limits/set?limit=new", "max_running=2", "Changed the limit new."},
		{"limits/drop?limit=new", "", "Dropped the limit new."},
		{"limits/override?limit=exports&lane=x&back=limits%2Flanes%3Flimit%3Dexports", "max_running=2", "Changed the numbers of the lane x of the limit exports."},
		{"limits/open?limit=exports&lane=x", "", "Opened the lane x of the limit exports."},
		{"workers/unlock?worker=%3Cw%3E", "", "Freed the jobs and queues of the worker &lt;w&gt;."},
		{"settings/set?name=beat_every", "value=7s", "beat_every is 7"},
		{"recurring/act?act=pause&name=nightly", "", "Paused the schedule nightly."},
		{"recurring/act?act=resume&name=nightly", "", "Resumed the schedule nightly."},
		{"recurring/act?act=run&name=nightly", "", "The schedule nightly has added this job."},
	} {
		form, _ := url.ParseQuery(c.typed)
		p := s.post(c.path, form)
		p.want(t, http.StatusSeeOther)
		path, _, _ := strings.Cut(c.path, "?")
		to = s.resolve(path, p.header.Get("Location"))
		s.get(to).want(t, http.StatusOK, `<div class="notice" role="status"><p><strong>`+c.told)
	}
	s.console.AgeNews()
	if p := s.get(to); strings.Contains(p.body, "has added this job") {
		t.Errorf("a later reload tells it again: %s", p.body)
	}
}

// The seven errors begin with a digit, a line break, nothing, blanks, and differ in a status or in what names one request.
func TestTheLinkOfAnErrorGroupSelectsItsJobsAndNoOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `
		set search_path = graphile_worker;
		select add_job('odd', job_key => g || ' ' || n) from generate_series(1, 7) as g, generate_series(1, 4) as n;
		update _private_jobs set attempts = max_attempts, last_error = case split_part(key, ' ', 1)::int
		       when 1 then '404 Not Found at /x' when 2 then e'\nTraceback (most recent call last):\n  File' when 3 then null
		       when 4 then '  File "a.py", line 3' when 5 then 'Error: HTTP 500' when 6 then 'Error: HTTP 503'
		       else 'Error: request ' || substr(md5(key), 1, 12) || ' refused' end;
		select add_job('odd', job_key => '0'), add_job('other', job_key => '8');
		update _private_jobs set attempts = max_attempts where key = '8';
		set search_path = public`)
	var groups []string
	for _, link := range regexp.MustCompile(`class="error"><a href="\./jobs\?([^"]*)"`).FindAllStringSubmatch(s.get("tasks").body, -1) {
		if query := html.UnescapeString(link[1]); strings.Contains(query, "task=odd") {
			groups = append(groups, query)
		}
	}
	if len(groups) != 7 {
		t.Fatalf("there are %d groups, want 7: %q", len(groups), groups)
	}
	for left, group := range groups {
		if shown := strings.Count(s.get("jobs?"+group).body, `name="id" value=`); shown != 4 {
			t.Errorf("the link %s shows %d jobs, want 4", group, shown)
		}
		query := "jobs/act?act=remove&all=1&" + group
		asked := s.get(query)
		asked.want(t, http.StatusOK, "Remove <strong>4 jobs</strong>")
		s.post(query, url.Values{"count": {"4"}, "upto": {asked.field("upto")}}).want(t, http.StatusSeeOther)
		if got, want := pgtest.Value[string](t, s.pool, `
			select count(*) || ' in ' || count(distinct split_part(key, ' ', 1)) from graphile_worker.jobs where key like '_ _'`),
			fmt.Sprintf("%d in %d", 4*(6-left), 6-left); got != want {
			t.Errorf("after %s there are %s, want %s", group, got, want)
		}
	}
	if got := pgtest.Value[int64](t, s.pool, `select count(*) from graphile_worker.jobs`); got != 2 {
		t.Errorf("%d jobs are left, want the two that have not failed, or are of another task", got)
	}
}

func TestTheAuditTellsWhatBecameOfAJob(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail') from generate_series(1, 3)`)
	s.post("jobs/act?act=remove&id=1&id=2", nil).want(t, http.StatusSeeOther)
	s.post("jobs/act?act=cancel&id=3", nil).want(t, http.StatusSeeOther)
	s.get("jobs/1").want(t, http.StatusOK, "There is no job 1", "The audit has: complete by console at 20")
	if p := s.get("jobs/9"); strings.Contains(p.body, "The audit has") {
		t.Errorf("of a job that never was the page says %d %s", p.status, p.body)
	}
	for query, want := range map[string]string{
		"": "cancel complete", "job=2": "complete", "act=cancel": "cancel", "person=console&since=1h": "cancel complete", "person=ada": "",
	} {
		p := s.get("audit?" + query)
		var acts []string
		for _, found := range regexp.MustCompile(`<td data-label="Act">([a-z]+)</td>`).FindAllStringSubmatch(p.body, -1) {
			acts = append(acts, found[1])
		}
		if got := strings.Join(acts, " "); p.status != http.StatusOK || got != want {
			t.Errorf("the audit of %q has %q, want %q", query, got, want)
		}
	}
}
