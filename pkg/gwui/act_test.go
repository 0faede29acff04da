package gwui_test

import (
	"fmt"
	"net/http"
	"net/url"
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
	p := s.post("jobs/act", url.Values{"act": {"retry"}, "id": {"3", "5", "99"}, "back": {back}})
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

func TestJobsAreRetriedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail') from generate_series(1, 1500)`)
	pgtest.Exec(t, s.pool, `select count(*) from graphile_worker.permanently_fail_jobs(array(select id from graphile_worker.jobs), 'down')`)
	asked := s.get("jobs/act?act=retry&all=1&state=failed")
	asked.want(t, http.StatusOK, "The time between two jobs")
	form := url.Values{"act": {"retry"}, "all": {"1"}, "state": {"failed"}, "count": {"1500"}, "typed": {"1500"}, "upto": {asked.field("upto")}, "apart": {"1m"}}
	s.post("jobs/act", form).want(t, http.StatusSeeOther)
	pgtest.Await(t, s.pool, `select exists (select from graphile_worker.list_audit() where act = 'retry' and jobs = 1500)`)
	gaps := pgtest.Value[string](t, s.pool, `
		select concat_ws(' ', count(*), min(round(extract(epoch from gap))), max(round(extract(epoch from gap))) between 60 and 65)
		  from (select run_at - lag(run_at) over (order by run_at) as gap from graphile_worker.jobs) as g
		 where gap is not null`)
	if gaps != "1499 60 t" {
		t.Errorf("the gaps between the jobs are %s", gaps)
	}
}

func TestManyJobsAreChangedInStepsAfterTheirNumberWasTyped(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job(case when n % 10 = 0 then 'other' else 'mail' end) from generate_series(1, 2800) as n`)
	pgtest.Exec(t, s.pool, `select count(*) from graphile_worker.permanently_fail_jobs(array(select id from graphile_worker.jobs), 'down')`)
	asked := s.get("jobs/act?act=retry&all=1&state=failed&task=mail")
	asked.want(t, http.StatusOK, "2\u202f520 jobs", "state failed, task mail", "Type 2520 to confirm")
	form := url.Values{"act": {"retry"}, "all": {"1"}, "state": {"failed"}, "task": {"mail"}, "count": {asked.field("count")}, "upto": {asked.field("upto")}}
	s.post("jobs/act", form).want(t, http.StatusBadRequest, "Nothing was done: type 2520 to confirm.")
	// A job that fails after the question is not changed.
	pgtest.Exec(t, s.pool, `select graphile_worker.permanently_fail_jobs(array[(graphile_worker.add_job('mail')).id])`)
	form.Set("typed", "2520")
	s.post("jobs/act", form).want(t, http.StatusSeeOther)
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
	p := s.post("jobs/act", url.Values{"act": {"fail"}, "all": {"1"}, "task": {"mail"}, "count": {"3000"}, "typed": {"3000"}, "upto": {"3000"}})
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
		p := s.post("jobs/1/act", url.Values{"act": {"retry"}, "back": {back}})
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
	s.post("jobs/act", url.Values{"act": {"retry"}}).want(t, http.StatusBadRequest, "No job is selected.")
	s.post("jobs/act", url.Values{"act": {"retry"}, "id": {"x"}}).want(t, http.StatusBadRequest, "is not the id of a job")
	s.post("jobs/act", url.Values{"act": {"drop"}, "id": {"1"}}).want(t, http.StatusNotFound)
	s.post("jobs/1/act", url.Values{"act": {"reschedule"}}).want(t, http.StatusBadRequest, "Give a time or a priority.")
	p := s.post("jobs/1/act", url.Values{"act": {"reschedule"}, "in": {"soon"}, "back": {"jobs/1"}})
	p.want(t, http.StatusSeeOther)
	s.get(strings.TrimPrefix(p.header.Get("Location"), "../../")).want(t, http.StatusOK, "invalid input syntax for type interval")
	s.post("recurring/act", url.Values{"act": {"drop"}}).want(t, http.StatusNotFound)
	s.post("recurring/act", url.Values{"act": {"run"}, "name": {"none"}}).want(t, http.StatusNotFound, "There is no schedule none.")
}

func TestARunThatNoWorkerHasMadeIsShown(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `
		select graphile_worker.cron_schedule('nightly', '0 3 * * *', 'mail');
		update graphile_worker._gw_schedules set active_since = '2026-01-01 12:00Z'`)
	s.get("recurring").want(t, http.StatusOK, "missed <time", "2026-01-02")
}
