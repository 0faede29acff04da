package gwui_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
)

// keep makes a queue with a kept task: job 1 has failed and then completed, job 2 waits for its second attempt.
func (s *site) keep() {
	s.t.Helper()
	pgtest.Exec(s.t, s.pool, `
		set search_path = graphile_worker;
		select keep_task('mail', '30 days', payloads => true, results => true);
		select add_job('mail', '{"to":"secret-payload"}', job_key => 'secret-key') ;
		select get_job('w1'), fail_job('w1', 1, e'secret-error\nat line 3');
		select retry_jobs('{1}');
		select get_job('w2'), complete_job('w2', 1, result => '{"big":9007199254740993,"id":"secret-result"}');
		select add_job('mail');
		select get_job('w1'), fail_job('w1', 2, 'HTTP 503');
		set search_path = public`)
}

// rows returns the rows of the bodies of the tables of a page, as texts.
func (p page) rows() (rows []string) {
	tag, space := regexp.MustCompile(`<[^>]*>`), regexp.MustCompile(`\s+`)
	for _, body := range regexp.MustCompile(`(?s)<tbody>.*?</tbody>`).FindAllString(p.body, -1) {
		for _, row := range regexp.MustCompile(`(?s)<tr>.*?</tr>`).FindAllString(body, -1) {
			rows = append(rows, strings.TrimSpace(space.ReplaceAllString(tag.ReplaceAllString(row, " "), " ")))
		}
	}
	return rows
}

// timeline returns the events of the page of a job, as texts.
func (p page) timeline() (events []string) {
	_, list, _ := strings.Cut(p.body, `<ol class="timeline">`)
	list, _, _ = strings.Cut(list, "</ol>")
	tag, space := regexp.MustCompile(`<[^>]*>`), regexp.MustCompile(`\s+`)
	for _, event := range strings.Split(list, "<li")[1:] {
		events = append(events, strings.TrimSpace(space.ReplaceAllString(tag.ReplaceAllString("<li"+event, " "), " ")))
	}
	return events
}

// wantTimeline checks the events of the page of a job by regular expressions, without their times.
func (p page) wantTimeline(t *testing.T, patterns ...string) {
	t.Helper()
	events := p.timeline()
	if len(events) != len(patterns) {
		t.Fatalf("the job has %d events, want %d: %q", len(events), len(patterns), events)
	}
	for i, pattern := range patterns {
		if !regexp.MustCompile(`^(20\S+ \S+ UTC|next) ` + pattern + "$").MatchString(events[i]) {
			t.Errorf("event %d is %q, want %s", i, events[i], pattern)
		}
	}
}

// wantRows checks the rows of a page by regular expressions.
func (p page) wantRows(t *testing.T, patterns ...string) {
	t.Helper()
	rows := p.rows()
	if len(rows) != len(patterns) {
		t.Fatalf("the page has %d rows, want %d: %q", len(rows), len(patterns), rows)
	}
	for i, pattern := range patterns {
		if !regexp.MustCompile("^" + pattern + "$").MatchString(rows[i]) {
			t.Errorf("row %d is %q, want %s", i, rows[i], pattern)
		}
	}
}

func TestAJobHasItsAttemptsAlsoWhenItHasGone(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.keep()
	p := s.get("jobs/1")
	p.want(t, http.StatusOK, "The job no longer exists", `<span class="state completed">completed</span>`, "secret-key",
		"<dd>2/25</dd>", "<h2>Result</h2>", "9007199254740993", "<h2>Payload</h2>", "secret-payload", `href="../history?key=secret-key"`)
	p.wantTimeline(t, `added \S.*`, `failed attempt 1/25, ran [\d.]+ m?s by w1 \S.* secret-error`, `retry by \S+ .*`, `completed attempt 2/25, ran [\d.]+ m?s by w2 \S.*`)
	for _, sign := range []string{"jobs/1/act", "jobs/1/copy", "jobs/1/payload", "at line 3"} {
		if strings.Contains(p.body, sign) {
			t.Errorf("the page of a job that has gone has %q", sign)
		}
	}
	p = s.get("jobs/2")
	p.want(t, http.StatusOK, `href="../jobs/2/copy"`, "scheduled")
	p.wantTimeline(t, `added \S.*`, `failed attempt 1/25, ran [\d.]+ m?s by w1 \S.* HTTP 503`, `scheduled is due in .*`)
	p = s.get("jobs/99")
	p.want(t, http.StatusOK, "There is no job 99", "Nothing is recorded of it")
	p.wantTimeline(t)
}

func TestTheTimelineHasTheActsOfOperatorsAndWhatComesNext(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail')`)
	s.get("jobs/1").wantTimeline(t, `added \S.*`, `It waits for a worker, for attempt 1/25\.`)
	pgtest.Exec(t, s.pool, `
		set gw.actor = 'ada';
		select graphile_worker.permanently_fail_jobs('{1}', 'provider is down');
		select graphile_worker.retry_jobs('{1}');
		reset gw.actor`)
	pgtest.Exec(t, s.pool, `select graphile_worker.get_job('w1')`)
	s.post("jobs/act", nil)
	s.get("jobs/1").wantTimeline(t, `added \S.*`, `fail by ada \S.* provider is down`, `retry by ada \S.*`,
		`running attempt 1/25, claimed by w1 \S.*`, `If this attempt fails, it is retried: 24 attempts left\.`)
	s.get("jobs/1").want(t, http.StatusOK, `value="cancel"`)
	s.post("jobs/1/act?act=cancel", url.Values{"reason": {"wrong customer"}})
	p := s.get("jobs/1")
	p.wantTimeline(t, `added \S.*`, `fail by ada .*`, `retry by ada .*`, `running claimed by w1 .*`, `cancel by \S+ \S.* wrong customer`,
		`Its cancellation is requested: .*`)
	if strings.Contains(p.body, `value="cancel"`) || strings.Contains(p.body, "<dt>Attempts</dt>") {
		t.Error("the page of a canceled job offers to cancel it, or tells attempts that it did not have")
	}
	s.get("jobs?state=running").want(t, http.StatusOK, ", canceled")
}

func TestAJobWithManyAttemptsShowsTheLast(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.keep_task('mail', '1 day'), graphile_worker.add_job('mail', max_attempts => 1000)`)
	for range 2 {
		pgtest.Exec(t, s.pool, `do $$ begin
			for n in 1..60 loop
			  perform graphile_worker.get_job('w');
			  perform graphile_worker.fail_job('w', 1, 'no', retry_at => now());
			end loop;
		end $$`)
	}
	p := s.get("jobs/1")
	p.want(t, http.StatusOK, "Its attempts are the last 100", "gw-run history 1")
	events := p.timeline()
	if n := len(events); n != 102 || !strings.Contains(events[1], "attempt 21/1000,") || !strings.Contains(events[100], "attempt 120/1000,") {
		t.Errorf("the page has %d events: %q", n, events)
	}
}

func TestTheHistoryIsListedByConditions(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.keep()
	const (
		second = `2 failed mail 1/25 \S.* [\d.]+ m?s w1 HTTP 503`
		done   = `1 completed mail secret-key 2/25 \S.* [\d.]+ m?s w2`
		first  = `1 failed mail secret-key 1/25 \S.* [\d.]+ m?s w1 secret-error`
		kept   = `mail 30 d kept kept now|mail 30 d kept kept \d+ s ago`
	)
	for query, want := range map[string][]string{
		"": {second, done, first}, "outcome=completed": {done}, "outcome=failures": {second, first}, "outcome=failed&worker=w2": {},
		"key=secret-key": {done, first}, "task=mail&key=secret-key&worker=w1": {first}, "task=other": {}, "since=1d": {second, done, first},
	} {
		p := s.get("history?" + query)
		p.want(t, http.StatusOK, `href="./history"`)
		p.wantRows(t, append(want, kept)...)
	}
	s.get("history?outcome=failures&task=mail").want(t, http.StatusOK, `href="./history?outcome=failures"`, `href="./history?task=mail"`)
	s.get("history?task=other").want(t, http.StatusOK, "No record matches.")
	s.get("history?since=soon").want(t, http.StatusOK, "invalid input syntax for type interval")
}

func TestAPageOfTheHistoryContinuesWithTheNext(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `
		select graphile_worker.keep_task('mail', '1 day');
		select graphile_worker.add_job('mail') from generate_series(1, 120)`)
	pgtest.Exec(t, s.pool, `select count(*) from graphile_worker.get_job_batch('w', null, 120)`)
	pgtest.Exec(t, s.pool, `select count(*) from graphile_worker.complete_job_batch('w', array(select generate_series(1::bigint, 120)))`)
	seen := make(map[string]int)
	next := regexp.MustCompile(`rel="next" href="\./history\?([^"]*)"`)
	pages := 0
	for query := ""; ; pages++ {
		p := s.get("history?task=mail&" + query)
		for _, id := range regexp.MustCompile(`jobs/(\d+)"`).FindAllStringSubmatch(p.body, -1) {
			seen[id[1]]++
		}
		found := next.FindStringSubmatch(p.body)
		if found == nil {
			p.want(t, http.StatusOK, `<a href="./history?task=mail">Latest</a>`)
			break
		}
		query = strings.ReplaceAll(found[1], "&amp;", "&")
	}
	if len(seen) != 120 || pages != 2 {
		t.Errorf("%d jobs were seen on %d pages, want 120 on 3", len(seen), pages+1)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("job %s was seen %d times", id, times)
		}
	}
}

func TestWithoutKeptTasksTheHistorySaysHowToKeepOne(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.get("history").want(t, http.StatusOK, "No record matches.", "No task is kept", "keep_task(", "keep: 720h")
}

func TestATaskWhoseTimesTakeTooLongDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.keep_task('slow', '1 day'), graphile_worker.keep_task('work', '1 day')`)
	pgtest.Exec(t, s.pool, `alter function graphile_worker.task_stats rename to sound_stats`)
	pgtest.Exec(t, s.pool, `
		create function graphile_worker.task_stats(task text, since timestamptz, until timestamptz, sample_at integer)
		  returns table (attempts bigint, failed bigint, permanently_failed bigint, completed bigint, recovered bigint,
		                 waited_p50 interval, waited_p95 interval, ran_p50 interval, ran_p95 interval) language plpgsql as $$
		begin
		  if task = 'slow' then
		    perform pg_sleep(60);
		  end if;
		  return query select 1::bigint, 0::bigint, 0::bigint, 1::bigint, 0::bigint, null::interval, null::interval, null::interval, null::interval;
		end $$`)
	s.console.SetReadTimeout(5 * time.Second)
	p := s.get("tasks")
	p.want(t, http.StatusOK, "The query took too long and was stopped")
	if tasks, _ := p.times(); len(tasks) != 2 {
		t.Errorf("the page has the times of %q", tasks)
	}
}

// times returns the names of the tasks of which a page shows the times, and the link to the next page, empty if there is none.
func (p page) times() (tasks []string, next string) {
	_, section, _ := strings.Cut(p.body, `<section id="times"`)
	section, _, _ = strings.Cut(section, "</section>")
	for _, row := range (page{body: section}).rows() {
		tasks = append(tasks, strings.Fields(row)[0])
	}
	if found := regexp.MustCompile(`rel="next" href="\./([^"]*)"`).FindStringSubmatch(section); found != nil {
		next = found[1]
	}
	return tasks, next
}

func TestThePageOfTasksShowsTheTimesOfKeptTasks(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	if tasks, _ := s.get("tasks").times(); tasks != nil {
		t.Errorf("without kept tasks the page has times of %q", tasks)
	}
	pgtest.Exec(t, s.pool, `
		set search_path = graphile_worker;
		select keep_task('mail', '1 day'), keep_task('idle', '1 day');
		select add_job('mail') from generate_series(1, 3);
		set search_path = public`)
	pgtest.Exec(t, s.pool, `select count(*) from graphile_worker.get_job_batch('w', null, 3)`)
	pgtest.Exec(t, s.pool, `select count(*) from graphile_worker.complete_job_batch('w', '{1,2}'), graphile_worker.fail_job('w', 3, 'no', retry_in => '1 hour')`)
	s.console.Forget()
	p := s.get("tasks")
	const took = ` [\d.]+ m?s`
	p.wantRows(t, "mail 0 1 0 0 0 .*", "idle 0 0", "mail 3 1"+strings.Repeat(took, 4))
	p.want(t, http.StatusOK, `href="./history?outcome=failures&amp;since=1h&amp;task=mail"`)
}

func TestThePageOfTasksEndsWithTheBudget(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.keep_task('task-' || to_char(n, 'FM00'), '1 day') from generate_series(1, 30) as n`)
	tasks, next := s.get("tasks").times()
	if len(tasks) != 25 || next != "tasks?kept=task-25" {
		t.Errorf("the first page has %d tasks, the next is %q", len(tasks), next)
	}
	if tasks, next = s.get(next).times(); len(tasks) != 5 || tasks[0] != "task-26" || next != "" {
		t.Errorf("the second page has %q, the next is %q", tasks, next)
	}
	s.console.Forget()
	s.console.SetBudget(0)
	if tasks, next = s.get("tasks").times(); len(tasks) != 1 || next != "tasks?kept=task-01" {
		t.Errorf("without time the page has %q, the next is %q", tasks, next)
	}
}

func TestOnlyThoseWhoMayReadJobsReadTheHistory(t *testing.T) {
	t.Parallel()
	owner := pgtest.Pool(t, pgtest.Database(t))
	monitor := serve(t, owner, poolAs(t, owner, "monitor"), gwui.Config{Schema: "graphile_worker_api"})
	monitor.keep()
	for _, path := range append(everyPage, "jobs/2", "history?key=secret-key") {
		if p := monitor.get(path); strings.Contains(p.body, "secret-") && !strings.Contains(path, "secret-") || regexp.MustCompile(`\bw2\b`).MatchString(p.body) {
			t.Errorf("%s shows a monitor what is recorded: %s", path, p.body)
		}
	}
	monitor.get("jobs/1").want(t, http.StatusOK, "There is no job 1: it has completed, was removed, or never existed.")
	p := monitor.get("history")
	p.want(t, http.StatusForbidden, "may not read the history")
	if strings.Contains(p.body, `data-key="y"`) {
		t.Error("the navigation of a monitor has the history")
	}
	admin := serve(t, owner, poolAs(t, owner, "admin"), gwui.Config{Schema: "graphile_worker_api"})
	admin.get("jobs/1").want(t, http.StatusOK, "secret-error", "secret-result")
	admin.get("history").want(t, http.StatusOK, "secret-error", `data-key="y"`)
}

func TestWhatIsKeptIsRedactedAsTheProgramSays(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{Redact: redactTo})
	s.keep()
	p := s.get("jobs/1")
	p.want(t, http.StatusOK, "redacted mail", "This console does not show results.")
	if strings.Contains(p.body, "secret-payload") || strings.Contains(p.body, "secret-result") {
		t.Errorf("the page shows what is not to be shown: %s", p.body)
	}
	console := serve(t, s.pool, s.pool, gwui.Config{RedactResult: redactTo})
	p = console.get("jobs/1")
	p.want(t, http.StatusOK, "redacted mail", "secret-payload")
	if strings.Contains(p.body, "secret-result") {
		t.Errorf("the page shows what is not to be shown: %s", p.body)
	}
	const large = `select graphile_worker.get_job('w'), graphile_worker.complete_job('w', 3, result => to_json(repeat('x', 300000)))`
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail')`)
	pgtest.Exec(t, s.pool, large)
	if p := console.get("jobs/3"); strings.Contains(p.body, "xxx") || !strings.Contains(p.body, "The page shows the beginning") {
		t.Errorf("a long result is not redacted: %.500s", p.body)
	}
	whole := serve(t, s.pool, s.pool, gwui.Config{}).get("jobs/3")
	whole.want(t, http.StatusOK, fmt.Sprintf("<span class=\"muted\">300%s002 bytes</span>", "\u202f"), "The page shows the beginning", "xxx")
}
