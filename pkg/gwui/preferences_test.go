package gwui_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
)

// getWith returns a page for a browser with cookies.
func (s *site) getWith(path string, cookies ...string) page {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Cookie", strings.Join(cookies, "; "))
	return s.do(r, nil)
}

func TestTimesAndColorsAreThoseThatTheUserChooses(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{ReadOnly: true})
	pgtest.Exec(t, s.pool, `
		select graphile_worker.add_job('mail', run_at => '2100-07-02 22:30:00Z'), graphile_worker.pause(task => 'x', until => '2100-01-02 22:30:00Z')`)
	s.get("jobs/1").want(t, http.StatusOK, `<html lang="en">`, `<time datetime="2100-07-02T22:30:00Z">2100-07-02 22:30:00 UTC</time>`)
	p := s.post("preferences", url.Values{"theme": {"dark"}, "zone": {"Asia/Kolkata"}, "back": {"jobs/1?x=1"}})
	p.want(t, http.StatusSeeOther)
	if to := p.header.Get("Location"); to != "./jobs/1?x=1" {
		t.Errorf("the browser is sent to %q", to)
	}
	cookies := p.header.Values("Set-Cookie")
	if len(cookies) != 2 {
		t.Fatalf("the cookies are %q", cookies)
	}
	for i, cookie := range cookies {
		if !strings.Contains(cookie, "; HttpOnly; SameSite=Lax") || strings.Contains(cookie, "Path=") {
			t.Errorf("a cookie is %q", cookie)
		}
		cookies[i], _, _ = strings.Cut(cookie, ";")
	}
	s.getWith("jobs/1", cookies...).want(t, http.StatusOK, `<html lang="en" data-theme="dark">`,
		`<time datetime="2100-07-02T22:30:00Z">2100-07-03 04:00:00 IST</time>`, `value="Asia/Kolkata"`, "<option selected>dark</option>")
	s.getWith("", cookies...).want(t, http.StatusOK, "until 2100-01-03 04:00:00 IST")

	s.getWith("jobs/1", "gw-theme=pink", "gw-zone=../../etc/passwd").want(t, http.StatusOK, `<html lang="en">`, "22:30:00 UTC")
	for _, zone := range []string{"Mars", "Local", "../x"} {
		s.post("preferences", url.Values{"zone": {zone}}).want(t, http.StatusBadRequest, "There is no time zone")
	}
	for _, back := range []string{"//evil.example", "https://evil.example", "/x", "jobs\n"} {
		if to := s.post("preferences", url.Values{"back": {back}}).header.Get("Location"); to != "./" {
			t.Errorf("%q leads to %q", back, to)
		}
	}
	s.post("preferences", url.Values{"theme": {"dark"}}, "Sec-Fetch-Site", "cross-site").want(t, http.StatusForbidden)
}

func TestAPathThatIsNoPageIsAnsweredByAPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	for _, path := range []string{"nothing", "jobs/1/none", "limits/none", "pause/x"} {
		s.get(path).want(t, http.StatusNotFound, "<nav", "There is no such page.")
	}
	s.get("limits/none").want(t, http.StatusNotFound, `href="../static/gwui.css"`)
}
