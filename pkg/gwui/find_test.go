package gwui_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
)

func TestTheSearchBoxFindsJobs(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `
		set search_path = graphile_worker;
		select add_job('mail', '{"customer":{"id":"acme"},"n":7}', job_key => 'order:17');
		select add_job('mail', '{"customer":{"id":"other \u0000"}}', job_key => 'order:18');
		select add_job('send sms', '[1]', job_key => 'x');
		select add_job('charge');
		select permanently_fail_jobs('{4}', 'TypeError: x is not a function');
		select get_job('w 1', '{mail}')`)
	for typed, want := range map[string]string{
		"order:1":                            "2 1",
		"  order:17 ":                        "1",
		"task:mail":                          "2 1",
		`task:"send sms"`:                    "3",
		"payload.customer.id:acme":           "1",
		"payload.n:7 task:mail":              "1",
		"payload.n:8":                        "",
		"error:typeerror":                    "4",
		`error:"is not" state:failed`:        "4",
		`worker:"w 1"`:                       "1",
		"key:x":                              "3",
		"state:ready":                        "3 2",
		`error:"100%" task:it's`:             "",
		"payload.customer.id.deeper:nothing": "",
	} {
		p := s.get("find?q=" + url.QueryEscape(typed))
		if p.status != http.StatusSeeOther {
			t.Fatalf("%q is answered by %d", typed, p.status)
		}
		list := s.get(strings.TrimPrefix(p.header.Get("Location"), "./"))
		var ids []string
		for _, part := range strings.Split(list.body, `aria-label="Select job `)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			ids = append(ids, id)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q finds the jobs %q, want %q", typed, got, want)
		}
	}
	s.get("find?q="+url.QueryEscape("task:mail hello")).want(t, http.StatusBadRequest, html.EscapeString(`"hello" is no condition.`))
	s.get("find?q="+url.QueryEscape("task:a task:b")).want(t, http.StatusBadRequest, "There are two conditions for task.")
}

func TestRedactedPayloadsAreNotSearched(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{Redact: redactTo})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail', '{"to":"you"}')`)
	const refused = "so they cannot be searched"
	s.get("jobs?payload=to:you").want(t, http.StatusBadRequest, refused)
	s.get("jobs/act?act=cancel&all=1&payload=to:you").want(t, http.StatusBadRequest, refused)
	s.post("jobs/act?act=cancel&all=1&payload=to:you", url.Values{"count": {"1"}}).want(t, http.StatusBadRequest, refused)
}

func TestAListShowsTheBeginningOfPayloadsAndCounts(t *testing.T) {
	t.Parallel()
	owner := pgtest.Pool(t, pgtest.Database(t))
	pgtest.Exec(t, owner, `
		select graphile_worker.add_job('mail', '{"to":"you"}', 'q'), graphile_worker.add_job('mail', run_at => now() + interval '1 hour'),
		       graphile_worker.add_job('big', json_build_object('text', (select string_agg(md5(n::text), '') from generate_series(1, 3000) as n)))`)
	const preview = `">{&#34;to&#34;:&#34;you&#34;}</td>`
	s := serve(t, owner, owner, gwui.Config{})
	s.get("jobs").want(t, http.StatusOK, preview, `ready</span> <b>2</b>`, `scheduled</span> <b>1</b>`)
	s.get("jobs?task=mail&state=ready").want(t, http.StatusOK, preview, `ready</span> <b>1</b>`)
	s.get("jobs?queue=q").want(t, http.StatusOK, preview)
	if strings.Contains(s.get("jobs?task=big").body, `class="payload`) {
		t.Error("a list has the column of payloads, although it shows none")
	}
	redacted := serve(t, owner, owner, gwui.Config{Redact: redactTo}).get("jobs")
	redacted.want(t, http.StatusOK, "redacted mail")
	monitor := serve(t, owner, poolAs(t, owner, "monitor"), gwui.Config{Schema: "graphile_worker_api"}).get("jobs")
	for what, p := range map[string]page{"redacted": redacted, "of a monitor": monitor} {
		if strings.Contains(p.body, "you") {
			t.Errorf("a list %s has the payload", what)
		}
	}
}
