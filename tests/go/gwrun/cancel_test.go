package gwrun

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// gw-run cancel ends what runs a job: the program, the HTTP request, the statement.
func TestCancelEndsJobsOfEveryKind(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := configured(t, `
tasks:
  web: {http: "${SERVER}/", timeout: 1h}
  query: {sql: public.slow, timeout: 1h}
`, map[string]string{"program": `trap 'echo told to end >&2; exit 3' TERM; sleep 3600 & wait`})
	pgtest.Exec(t, pool, "select graphile_worker.set_setting('beat_every', '100 milliseconds')")
	pgtest.Exec(t, pool, `create function public.slow(payload json) returns void language sql
		as $$ select pg_sleep(3600) $$`)
	left := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client disconnects
		<-r.Context().Done()
		close(left)
	}))
	defer server.Close()
	env := map[string]string{"SERVER": server.URL, "DATABASE_URL": databaseURL}
	start(t, env, "--config", filepath.Join(dir, "gw.yaml"), "--tasks", filepath.Join(dir, "tasks"), "-j", "3",
		"--log-format", "json")
	for _, task := range []string{"program", "web", "query"} {
		addJob(t, pool, task, "{}")
	}
	const sleeps = "exists (select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database())"
	pgtest.Await(t, pool, "select count(*) = 3 and "+sleeps+" from graphile_worker.list_jobs('running')")

	cancel := start(t, env, "cancel", "--state", "running", "--reason", "wrong customer", "--yes")
	cancel.wantExit(0)
	if got := cancel.stdout.String(); got != "Canceled 3 jobs.\n" {
		t.Errorf("it prints %q", got)
	}
	pgtest.Await(t, pool, "select count(*) = 3 and not "+sleeps+" from graphile_worker.list_jobs('failed')")
	select {
	case <-left:
	case <-time.After(patience):
		t.Error("the HTTP request was not aborted")
	}
	got := pgtest.Value[string](t, pool, `
		select string_agg(j.task_identifier || ' ' || j.last_error, e'\n' order by j.task_identifier) from graphile_worker.list_jobs() as j`)
	for _, want := range []string{
		"program job canceled: wrong customer: exit code 3\ntold to end",
		"query public.slow: job canceled: wrong customer",
		"web POST ${SERVER}/: job canceled: wrong customer", // as written in the file
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the errors are\n%s\nwithout %q", got, want)
		}
	}
	again := start(t, env, "cancel", "1")
	again.wantExit(1)
	if got := again.stderr.String(); !strings.Contains(got, "job 1: has failed already\n") {
		t.Errorf("of a failed job it says %q", got)
	}
	addJob(t, pool, "query", "{}")
	pgtest.Await(t, pool, "select count(*) = 1 and "+sleeps+" from graphile_worker.list_jobs('running')") // the worker continues
}
