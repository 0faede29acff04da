package gwrun

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestTheConfigFileHasTasksServedByURLsAndFunctions(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := configured(t, `
schema: graphile_worker
tasks:
  web/hook:
    http: ${SERVER}/{task}?n={job_id}
    headers: {X-From: gw}
    secret: whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz
    permanent_4xx: true
  tally: {sql: app.tally, timeout: 5s}
  tallies: {sql: app.tally, batch: true}
`, map[string]string{"a": "exit 0"})
	posts := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // the comparison below detects a missing part
		posts <- r.URL.Path + " " + r.Header.Get("X-From") + " " + string(body)
		if !strings.HasPrefix(r.Header.Get("webhook-signature"), "v1,") || string(body) == `{"n":2}` {
			w.WriteHeader(http.StatusGone)
		}
	}))
	defer server.Close()
	env := map[string]string{"SERVER": server.URL, "DATABASE_URL": databaseURL}
	args := []string{"--config", filepath.Join(dir, "gw.yaml"), "--tasks", filepath.Join(dir, "tasks"), "--log-format",
		"json"}

	p := start(t, env, args...)
	p.wantExit(1)
	if want := "gw.yaml:9:3: task tally: "; !strings.Contains(p.stderr.String(), want) {
		t.Errorf("the missing function is not reported with %q", want)
	}

	pgtest.Exec(t, pool, "create schema app create table tallies (n int)")
	pgtest.Exec(t, pool, `
		create function app.tally(payload json) returns void language sql
		  as $$ insert into app.tallies values ((payload ->> 'n')::int) $$;
		create function app.tally(jobs json[]) returns void language sql
		  as $$ insert into app.tallies select (j #>> '{payload,n}')::int from unnest(jobs) as j $$`)
	addJob(t, pool, "web/hook", `{"n":1}`)
	gone := addJob(t, pool, "web/hook", `{"n":2}`)
	pgtest.Exec(t, pool, `select graphile_worker.add_job(case when n > 10 then 'tally' else 'tallies' end, json_build_object('n', n))
		from generate_series(1, 20) as n`)
	start(t, env, args...)
	pgtest.Await(t, pool, "select count(*) = 1 and min(id) = $1 and min(attempts) = min(max_attempts) from graphile_worker.jobs", gone)
	if sum := pgtest.Value[int](t, pool, "select sum(n) from app.tallies"); sum != 210 {
		t.Errorf("the sum is %d", sum)
	}
	got := []string{<-posts, <-posts}
	for _, n := range []string{"1", "2"} {
		if want := `/web/hook gw {"n":` + n + `}`; got[0] != want && got[1] != want {
			t.Errorf("posted were %q, want %s", got, want)
		}
	}
}
