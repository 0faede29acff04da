package gwui_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// site is a console under test, with its queue.
type site struct {
	t       *testing.T
	pool    *pgxpool.Pool // of the owner
	console *gwui.Console
	url     string
	http    *http.Client
}

// newSite serves a console by the pool of the owner.
func newSite(t *testing.T, cfg gwui.Config) *site {
	t.Helper()
	pool := pgtest.Pool(t, pgtest.Database(t))
	return serve(t, pool, pool, cfg)
}

// serve serves a console that connects by a pool, which may be that of another role than the owner.
func serve(t *testing.T, owner, pool *pgxpool.Pool, cfg gwui.Config) *site {
	t.Helper()
	cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	console, err := gwui.New(pool, cfg)
	if err != nil {
		t.Fatal(err)
	}
	console.SetReadTimeout(time.Minute)
	console.SetPatience(time.Minute)
	console.SetBudget(time.Minute)
	server := httptest.NewServer(console)
	t.Cleanup(server.Close)
	t.Cleanup(console.Close)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &site{t: t, pool: owner, console: console, url: server.URL + "/", http: client}
}

// page is an answer.
type page struct {
	status int
	header http.Header
	body   string
}

func (s *site) do(r *http.Request, err error) page {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := s.http.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return page{answer.StatusCode, answer.Header, string(body)}
}

func (s *site) get(path string) page {
	s.t.Helper()
	return s.do(http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil))
}

// post sends a form, as a browser does from a page of the console itself.
func (s *site) post(path string, form url.Values, headers ...string) page {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return s.do(r, nil)
}

// at returns the path of a page with a query.
func at(path string, query url.Values) string { return path + "?" + query.Encode() }

// field returns the value of a hidden field of a page.
func (p page) field(name string) string {
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(p.body)
	if found == nil {
		return ""
	}
	return found[1]
}

// want checks the status of a page, and what is in it.
func (p page) want(t *testing.T, status int, texts ...string) {
	t.Helper()
	if p.status != status {
		t.Errorf("the status is %d, want %d: %s", p.status, status, p.body)
	}
	for _, text := range texts {
		if !strings.Contains(p.body, text) {
			t.Errorf("the page lacks %q: %s", text, p.body)
		}
	}
}

// poolAs returns a pool of a role that gw-migrate grants has made one of a kind.
func poolAs(t *testing.T, owner *pgxpool.Pool, kind string) *pgxpool.Pool {
	t.Helper()
	role := pgtest.Role(t, owner)
	migrator, err := migrate.New(owner.Config().ConnConfig, migrate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	grants := map[string]migrate.Grants{"monitor": {Monitors: []string{role}}, "admin": {Admins: []string{role}}}[kind]
	if _, err := migrator.Grant(t.Context(), grants); err != nil {
		t.Fatal(err)
	}
	config := owner.Config()
	config.ConnConfig.RuntimeParams["role"] = role
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// everyPage are the paths of all pages that look, and of those that ask.
var everyPage = []string{
	"", "?over=day", "jobs", "jobs?state=failed", "jobs?task=mail&queue=q&key=k&error=e&newer=1d&older=1s", "jobs/1", "jobs/7", "jobs/8", "history",
	"history?outcome=failures&task=kept&key=k&worker=w&since=1d", "history?before=2100-01-01T00:00:00Z/17", "tasks",
	"queues", "limits", "limits/lanes?limit=exports", "pause?all=1", "pause?task=mail&back=tasks", "resume?lane=7&limit=exports", "workers", "recurring", "audit", "audit?person=ada&act=retry&job=3&since=1d", "settings", "help", "jobs/1/act?act=cancel", "jobs/1/copy", "jobs/act?act=retry&all=1&state=failed",
	"jobs/act?act=remove&id=1&id=2", "workers/unlock?worker=w", "settings/set?name=notify", "settings/set?name=beat_every",
	"task?task=mail", "task?task=kept&over=day", "queue?queue=q", "worker?worker=w",
	"recurring/act?act=pause&name=nightly", "recurring/act?act=run&name=nightly",
}

// fill makes a queue that every page has something to show of.
func (s *site) fill() {
	s.t.Helper()
	pgtest.Exec(s.t, s.pool, `
		set search_path = graphile_worker;
		select add_job('mail', '{"to":"you","big":9007199254740993}', 'q', job_key => 'k', flags => '{f}');
		select add_job('mail', run_at => now() + interval '1 hour');
		select add_job('sync') from generate_series(1, 3);
		select register_worker('w', '{mail,sync}', 2, 'host', 17, 'v1');
		select get_job('w', '{mail}');
		select permanently_fail_jobs('{3,4}', e'HTTP 500\nat line 3');
		select cron_schedule('nightly', '0 4 * * *', 'report', time_zone => 'Europe/Berlin');
		select heartbeat('w');
		select set_limit('exports', '{export}', by => 'payload:tenant', max_running => 1, rate => 10, per => '1 minute');
		select get_job('w', '{none}') from generate_series(1, 10);
		select add_job('export', '{"tenant":7}'), pause(limit_name => 'exports', lane => '7', reason => 'the disk is full');
		select keep_task('kept', '30 days', payloads => true, results => true);
		select add_job('kept', '{"kept":1}', job_key => 'kept-key'), add_job('kept');
		select get_job('w', '{kept}') from generate_series(1, 2);
		select complete_job('w', 7, result => '{"sent":1}'), fail_job('w', 8, e'HTTP 503\nat line 3');
		set search_path = public`)
}
