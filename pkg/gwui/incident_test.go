package gwui_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
)

var cardTitles = regexp.MustCompile(`<li class="card (\w+)"><h2><span class="severity">\w+</span> ([^<]*)`)

// cards returns the severities and titles of the cards of the overview.
func (s *site) cards() string {
	s.t.Helper()
	var cards []string
	for _, found := range cardTitles.FindAllStringSubmatch(s.get("").body, -1) {
		cards = append(cards, found[1]+" "+strings.TrimSpace(found[2]))
	}
	return strings.Join(cards, "; ")
}

func TestTheOverviewSaysWhatNeedsSomebodyWorstFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.get("").want(t, http.StatusOK, "Nothing needs you.")
	pgtest.Exec(t, s.pool, `
		set search_path = graphile_worker;
		select register_worker('alive', '{mail,sync}'), register_worker('gone', '{mail}'), register_worker('leaving', '{mail}');
		select add_job('mail') from generate_series(1, 3);
		select permanently_fail_jobs(array[id], 'rare') from jobs limit 1;
		select permanently_fail_jobs(array(select id from jobs where attempts < max_attempts), 'provider is down');
		select add_job('charge', json_build_object('n', n)) from generate_series(1, 1200) as n;
		select permanently_fail_jobs(array(select id from jobs where task_identifier = 'charge'), 'no money');
		select set_limit('api', '{sync}', by => 'payload:customer', max_running => 1);
		select add_job('sync', '{"customer":"acme"}') from generate_series(1, 4);
		select get_job_batch('alive', '{sync}', 4);
		select drain_worker('leaving');
		update _gw_workers set last_seen_at = now() - interval '4 minutes' where id = 'gone'`)
	s.post("jobs/act", nil) // after any action everything is read anew
	want := "warning charge: 1\u202f200 jobs failed; warning mail: 3 jobs failed; warning A worker is silent; info Jobs wait for a limit; info A worker is drained"
	if got := s.cards(); got != want {
		t.Errorf("the cards are %s, want %s", got, want)
	}
	p := s.get("")
	p.want(t, http.StatusOK, "3 things need you.", "provider is down", "3 jobs wait. Running: 1. Lanes: 1 full, 0 closed, of 1.",
		`href="./jobs?state=failed&amp;task=charge"`, `href="./jobs/act?act=retry&amp;all=1`, `href="./pause?task=charge"`)
	if strings.Contains(p.body, "rare") {
		t.Error("the card has another error than the most frequent one")
	}
}

func TestNumbersOfWaitingJobsAreReadable(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.exports()
	pgtest.Exec(t, s.pool, `select count(*) from (select graphile_worker.add_job('export', '{"tenant":"lane & 7"}') from generate_series(1, 1234)) as j`)
	s.get("").want(t, http.StatusOK, "1\u202f235 jobs wait.")
}

func TestARemedyIsRunAfterItsStatementWasShown(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `
		select graphile_worker.add_job('it''s "S."'), graphile_worker.pause(task => 'it''s "S."');
		update graphile_worker._gw_pauses set paused_at = now() - interval '3 days'`)
	found := regexp.MustCompile(`href="\./(remedy\?[^"]*)">Resume…`).FindStringSubmatch(s.get("").body)
	if found == nil {
		t.Fatal("the overview has no button for the remedy")
	}
	path := html.UnescapeString(found[1])
	s.get(path).want(t, http.StatusOK, `graphile_worker.resume(task =&gt; &#39;it&#39;&#39;s &#34;S.&#34;&#39;)`, ">Resume</button>")
	other, _ := url.Parse(path)
	values := other.Query()
	values.Set("seen", "0123456789abcdef")
	s.post("remedy?"+values.Encode(), nil).want(t, http.StatusConflict, "The remedy is another one by now.")
	s.post(path, nil).want(t, http.StatusSeeOther)
	if n := pgtest.Value[int](t, s.pool, `select count(*) from graphile_worker.list_pauses()`); n != 0 {
		t.Error("the pause is still there")
	}
	if actor := pgtest.Value[string](t, s.pool, `select actor from graphile_worker.list_audit() where act = 'resume'`); actor == "" {
		t.Error("the audit has no actor")
	}
	s.post(path, nil).want(t, http.StatusConflict, "This problem is gone")
}

func TestAWorkerIsDrainedAndLetClaimAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.register_worker('w1')`)
	const path = "workers/drain?worker=w1"
	s.get("workers").want(t, http.StatusOK, `href="./workers/drain?back=workers%3F&amp;worker=w1"`, "working")
	s.get(path).want(t, http.StatusOK, "The worker w1 claims no more jobs from its next heartbeat on")
	s.post(path, nil).want(t, http.StatusSeeOther)
	s.get("workers").want(t, http.StatusOK, "drained", `workers/drain?back=workers%3F&amp;undo=1&amp;worker=w1`)
	s.get(path+"&undo=1").want(t, http.StatusOK, "claims jobs again")
	s.post(path+"&undo=1", nil).want(t, http.StatusSeeOther)
	if drained := pgtest.Value[bool](t, s.pool, `select drained from graphile_worker.heartbeat('w1')`); drained {
		t.Error("the worker is still drained")
	}
	s.post("workers/drain?worker=nobody", nil).want(t, http.StatusNotFound, "is not registered")
}
