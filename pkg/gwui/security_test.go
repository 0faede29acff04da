package gwui_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
)

func redactTo(task string, _ json.RawMessage) json.RawMessage {
	return json.RawMessage(`"redacted ` + task + `"`)
}

const unchanged = `select count(*) from graphile_worker.jobs where attempts = 0`

func TestRequestsOfOtherSitesDoNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail')`)
	const path = "jobs/1/act?act=fail"
	s.post(path, nil, "Sec-Fetch-Site", "cross-site").want(t, http.StatusForbidden)
	s.post(path, nil, "Sec-Fetch-Site", "same-site").want(t, http.StatusForbidden)
	s.post(path, nil, "Sec-Fetch-Site", "", "Origin", "https://evil.example").want(t, http.StatusForbidden)
	if got := pgtest.Value[int64](t, s.pool, unchanged); got != 1 {
		t.Error("a request of another site has changed the job")
	}
	s.post(path, nil).want(t, http.StatusSeeOther)
	if got := pgtest.Value[int64](t, s.pool, unchanged); got != 0 {
		t.Error("a request of the console itself has not changed the job")
	}
}

func TestOtherHostsAreNotServed(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{Hosts: []string{"localhost", "127.0.0.1", "::1", "queue.example.com"}})
	for host, want := range map[string]int{
		"localhost:9465": 200, "LOCALHOST": 200, "127.0.0.1:1": 200, "[::1]:80": 200, "queue.example.com": 200,
		"queue.example.com.": 200, "evil.example": 421, "localhost.evil.example": 421, "127.0.0.1.nip.io": 421,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"help", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		if p := s.do(r, nil); p.status != want {
			t.Errorf("%s is answered by %d, want %d", host, p.status, want)
		}
	}
}

func TestAReadOnlyConsoleHasNoRoutesThatAct(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{ReadOnly: true})
	s.fill()
	for _, path := range []string{"jobs/1/act", "jobs/1/copy", "jobs/act", "operations/stop", "workers/unlock", "settings/set", "recurring/act", "pause", "resume", "limits/open"} {
		if p := s.post(path+"?act=retry", nil); p.status != http.StatusNotFound && p.status != http.StatusMethodNotAllowed {
			t.Errorf("%s answers %d", path, p.status)
		}
	}
	for _, path := range []string{"jobs", "jobs/3", "tasks", "queues", "limits", "limits/lanes?limit=exports", "workers", "settings", "recurring"} {
		body := s.get(path).body
		for _, sign := range []string{`value="retry"`, "/act", "/copy", "unlock", "settings/set", "pause?", "resume?", `type="checkbox"`} {
			if strings.Contains(body, sign) {
				t.Errorf("%s offers an action: %q", path, sign)
			}
		}
	}
}

func TestViewersAreThoseTheProgramNames(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{Authorize: func(r *http.Request) (gwui.Viewer, error) {
		switch name := r.Header.Get("User"); name {
		case "":
			return gwui.Viewer{}, errors.New("log in first")
		default:
			return gwui.Viewer{Name: name, ReadOnly: name != "ada"}, nil
		}
	}})
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail')`)
	for _, path := range []string{"", "jobs", "jobs/1", "jobs/1/payload"} {
		s.get(path).want(t, http.StatusForbidden, "Log in first.")
	}
	if p := s.get("live/jobs"); strings.Contains(p.body, "mail") || p.status == http.StatusOK {
		t.Errorf("a stream is open to everybody: %d %s", p.status, p.body)
	}
	const path = "jobs/1/act?act=fail"
	form := url.Values{"reason": {"why not"}}
	s.post(path, form).want(t, http.StatusForbidden, "Log in first.")
	s.post(path, form, "User", "eve").want(t, http.StatusForbidden, "This console does not allow you to act.")
	if got := pgtest.Value[int64](t, s.pool, unchanged); got != 1 {
		t.Error("a viewer who may not act has changed the job")
	}
	s.post(path, form, "User", "ada").want(t, http.StatusSeeOther)
	got := pgtest.Value[string](t, s.pool, `select concat_ws(' ', actor, act, jobs, job_ids, subject) from graphile_worker.list_audit()`)
	if want := "ada fail 1 {1} why not"; got != want {
		t.Errorf("the audit has %q, want %q", got, want)
	}
}

func TestAMonitorSeesNoDataAndHasNoActions(t *testing.T) {
	t.Parallel()
	owner := pgtest.Pool(t, pgtest.Database(t))
	pgtest.Exec(t, owner, `select graphile_worker.add_job('mail', '{"a":"secret-payload"}', job_key => 'secret-key', flags => '{secret-flag}')`)
	pgtest.Exec(t, owner, `select graphile_worker.permanently_fail_jobs('{1}', 'secret-error')`)
	s := serve(t, owner, poolAs(t, owner, "monitor"), gwui.Config{Schema: "graphile_worker_api"})
	for _, path := range everyPage {
		if p := s.get(path); strings.Contains(p.body, "secret-") {
			t.Errorf("%s shows a secret: %s", path, p.body)
		}
	}
	s.get("").want(t, http.StatusOK, "Nothing needs you.", "<dd>1</dd>")
	s.get("jobs?state=failed").want(t, http.StatusOK, "jobs/1", "failed")
	s.get("jobs/1").want(t, http.StatusOK, "may not read the payload")
	s.get("jobs/1/payload").want(t, http.StatusForbidden)
	s.post("jobs/1/act?act=retry", nil).want(t, http.StatusForbidden)
	for _, path := range []string{"audit", "settings"} {
		if strings.Contains(s.get("").body, `href="./`+path+`"`) {
			t.Errorf("the navigation has %s", path)
		}
	}
}

func TestAnAdminActs(t *testing.T) {
	t.Parallel()
	owner := pgtest.Pool(t, pgtest.Database(t))
	s := serve(t, owner, poolAs(t, owner, "admin"), gwui.Config{Schema: "graphile_worker_api"})
	s.fill()
	for _, path := range everyPage {
		if p := s.get(path); p.status != http.StatusOK || strings.Contains(p.body, `class="problem"`) {
			t.Errorf("%s answers %d %s", path, p.status, p.body)
		}
	}
	s.get("recurring").want(t, http.StatusOK, "Run now…", "Pause…", "Next 5")
	for _, act := range []string{"pause", "resume", "run"} {
		p := s.post("recurring/act?name=nightly&act="+act, nil)
		p.want(t, http.StatusSeeOther)
		if to := p.header.Get("Location"); (act == "run") != strings.HasPrefix(to, "../jobs/") {
			t.Errorf("%s leads to %q", act, to)
		}
	}
	s.get("jobs/3").want(t, http.StatusOK, `href="../jobs/3/copy"`)
	p := s.post("jobs/3/copy", nil)
	p.want(t, http.StatusSeeOther)
	s.get(strings.TrimPrefix(p.header.Get("Location"), "../../")).want(t, http.StatusOK, "<dd>0/25</dd>", "Added this copy of job 3.")
	s.post("jobs/99/copy", nil).want(t, http.StatusNotFound, "There is no job 99")
	s.post("jobs/3/act?act=retry&back=jobs/3", nil).want(t, http.StatusSeeOther)
	s.post("settings/set?name=notify", url.Values{"value": {"idle"}}).want(t, http.StatusSeeOther)
	s.post("settings/set?name=notify", url.Values{"value": {"sometimes"}}).want(t, http.StatusBadRequest, "must be one of")
	s.post("workers/unlock?worker=w", nil).want(t, http.StatusSeeOther)
	got := pgtest.Value[string](t, owner, `
		select string_agg(concat_ws(' ', act, jobs, subject), '; ' order by id desc) from graphile_worker.list_audit(max_rows => 7)`)
	if want := "unlock 1 w; set 0 notify = idle; retry 1; copy 1 job 3; run 1 schedule nightly; resume 0 schedule nightly; pause 0 schedule nightly"; got != want {
		t.Errorf("the audit has %q, want %q", got, want)
	}
}
