package settings

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/pkg/shim"
)

// odd returns a database with all settings odd, in which the queue was installed.
func odd(t *testing.T) string {
	t.Helper()
	url := pgtest.EmptyDatabase(t)
	pgtest.MakeOdd(t, url)
	must(t, url, "gw-migrate")
	return url
}

func TestTheSchemaIsInstalledUnderOddSettings(t *testing.T) {
	t.Parallel()
	url := odd(t)
	if output := must(t, url, "gw-migrate", "status"); strings.Contains(output, "not ours") ||
		strings.Contains(output, "changed") {
		t.Errorf("status: %s", output)
	}
	must(t, url, "gw-migrate", "repair")
	// One that was installed under the usual settings is seen to be the same.
	usual := pgtest.Database(t)
	pgtest.MakeOdd(t, usual)
	config, err := pgx.ParseConfig(usual)
	if err != nil {
		t.Fatal(err)
	}
	migrator, err := migrate.New(config, migrate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	status, err := migrator.Status(t.Context())
	if err != nil || status.State != migrate.Current || len(status.Changed()) > 0 || len(status.Warnings) > 0 {
		t.Errorf("status: %+v, %v", status, err)
	}
	pool := pgtest.Pool(t, usual)
	if findings := pgtest.Value[string](t, pool, `
		select coalesce(string_agg(concat_ws(': ', d.finding, d.subject, d.detail), '; '), '') from graphile_worker.doctor() as d`); findings != "" {
		t.Errorf("doctor: %s", findings)
	}
}

// Every call of a client in each of pgx's query modes and by database/sql. The simple protocol, which pgx refuses without
// standard_conforming_strings, gets this one setting.
func TestClientsRelyOnNoSetting(t *testing.T) {
	t.Parallel()
	url := odd(t)
	clients := make(map[string]*shim.Client)
	for _, mode := range pgtest.QueryModes {
		at := url
		if mode == pgx.QueryExecModeSimpleProtocol {
			at += "?standard_conforming_strings=on"
			if strings.Contains(url, "?") {
				at = url + "&standard_conforming_strings=on"
			}
		}
		clients[mode.String()] = shim.NewClient(pgtest.PoolInMode(t, at, mode), shim.ClientConfig{})
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	clients["database/sql"] = shim.NewSQLClient(db, shim.ClientConfig{})
	for name, client := range clients {
		t.Run(name, func(t *testing.T) { callAll(t, client) })
	}
}

func callAll(t *testing.T, c *shim.Client) {
	ctx := t.Context()
	ok := func(call string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", call, err)
		}
	}
	due := time.Date(2031, 2, 3, 4, 5, 6, 789012000, time.UTC)
	job, err := c.Add(ctx, `a "b" \ 'c'`, map[string]string{"d": `e \ 'f'`}, &shim.AddOptions{
		RunAt: due, QueueName: "q", JobKey: `k "\'`, Flags: []string{`x`, `"y\`, "null"}, MaxAttempts: 3, Priority: -3,
	})
	ok("Add", err)
	if err != nil {
		return
	}
	read, err := c.Job(ctx, job.ID)
	ok("Job", err)
	if err == nil && (!read.RunAt.Equal(due) || !job.RunAt.Equal(due) || read.Key != `k "\'` || len(read.Flags) != 3 ||
		read.CreatedAt.IsZero() || time.Since(read.CreatedAt).Abs() > time.Hour) {
		t.Errorf("the job is read as %+v", read)
	}
	ok("KeepTask", c.KeepTask(ctx, shim.KeptTask{Task: "kept", KeepFor: 36 * time.Hour}))
	kept, err := c.KeptTasks(ctx)
	ok("KeptTasks", err)
	if len(kept) != 1 || kept[0].KeepFor != 36*time.Hour {
		t.Errorf("kept tasks: %+v", kept)
	}
	_, err = c.JobHistory(ctx, job.ID)
	ok("JobHistory", err)
	_, err = c.TaskStats(ctx, "kept", time.Now().Add(-time.Hour), time.Time{})
	ok("TaskStats", err)
	_, err = c.ListHistory(ctx, shim.HistoryFilter{})
	ok("ListHistory", err)
	ok("SetLimit", c.SetLimit(ctx, shim.Limit{Name: "l", Tasks: []string{"limited"}, Rate: 3, Per: 90 * time.Second}))
	limits, err := c.Limits(ctx)
	ok("Limits", err)
	if len(limits) != 1 || limits[0].Per != 90*time.Second {
		t.Errorf("limits: %+v", limits)
	}
	ok("Pause", c.Pause(ctx, shim.PauseTarget{Task: "paused"}, &shim.PauseOptions{Until: due}))
	pauses, err := c.Pauses(ctx)
	ok("Pauses", err)
	if len(pauses) != 1 || !pauses[0].Until.Equal(due) || pauses[0].PausedAt.IsZero() {
		t.Errorf("pauses: %+v", pauses)
	}
	reasons, err := c.Why(ctx, job.ID)
	ok("Why", err)
	if len(reasons) != 1 || !reasons[0].Until.Equal(due) {
		t.Errorf("why: %+v", reasons)
	}
	keyed, err := c.Throttle(ctx, "keyed", nil, "keyed", time.Hour, nil)
	ok("Throttle", err)
	if err == nil && time.Since(keyed.DueAt).Abs() > time.Hour {
		t.Errorf("throttled: %+v", keyed)
	}
	_, err = c.Debounce(ctx, "keyed", nil, "keyed2", time.Hour, 2*time.Hour, nil)
	ok("Debounce", err)
	_, err = c.AddOnce(ctx, "keyed", nil, "keyed3", time.Hour, nil)
	ok("AddOnce", err)
	_, err = c.AddMany(ctx, []shim.JobSpec{{Task: "many", Payload: []byte(`{"a":"\\ '"}`)}, {Task: "many"}})
	ok("AddMany", err)
	_, err = c.Reschedule(ctx, shim.RescheduleOptions{RunAt: due}, job.ID)
	ok("Reschedule", err)
	_, err = c.Remove(ctx, `k "\'`)
	ok("Remove", err)
}

// What gw-run does, with a task that an SQL function serves: 24 workers at once, which at SERIALIZABLE would refuse each other, and
// every command that lists.
func TestGwRunReliesOnNoSetting(t *testing.T) {
	t.Parallel()
	url := odd(t)
	pool := pgtest.Pool(t, url)
	pgtest.Exec(t, pool, `create schema app; create table app.done (n integer, at timestamptz default now());
		create function app.work(payload json) returns json language sql as
		$$ insert into app.done select (payload ->> 'n')::integer; select payload $$`)
	file := filepath.Join(t.TempDir(), "gw.yaml")
	if err := os.WriteFile(file, []byte("tasks:\n  work:\n    sql: app.work\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, pool, `select graphile_worker.keep_task('work', '2 days', true, true)`)
	pgtest.Exec(t, pool, `select graphile_worker.add_job('work', json_build_object('n', n), queue_name => case when n % 10 = 0 then 'q' end) from generate_series(1, 200) as n`)
	pgtest.Exec(t, pool, `select graphile_worker.cron_schedule('c', '0 3 * * *', 'work', time_zone => 'Europe/Paris')`)
	var workers sync.WaitGroup
	for range 24 {
		workers.Go(func() { must(t, url, "gw-run", "--once", "--config", file) })
	}
	workers.Wait()
	if got := pgtest.Value[string](t, pool, `
		select concat_ws(' ', count(*), count(distinct n), (select count(*) from graphile_worker._private_jobs)) from app.done`); got != "200 200 0" {
		t.Errorf("jobs done, different ones, and left: %s", got)
	}
	must(t, url, "gw-run", "add", "later", `{"a": "\\ 'b'"}`, "--run-at", "2031-02-03T04:05:06Z", "--key", "k")
	must(t, url, "gw-run", "limit", "set", "l", "--task", "limited", "--rate", "3", "--per", "90s")
	must(t, url, "gw-run", "pause", "--task", "paused", "--for", "2h")
	for _, command := range []string{
		"jobs", "show 201", "why 201", "limit", "pause", "queues", "tasks", "workers", "stats", "history --task work",
		"history 1", "cron list", "doctor", "healthcheck", "export", "jobs --json", "stats --json", "cron list --json",
		"history --task work --json", "limit --json", "workers --json",
	} {
		output, err := run(t, url, "gw-run", strings.Fields(command)...)
		if strings.Contains(output, "SQLSTATE") || strings.Contains(output, "cannot scan") ||
			strings.Contains(output, "goroutine ") {
			t.Errorf("gw-run %s: %v: %s", command, err, output)
		}
	}
	if output := must(t, url, "gw-run", "jobs", "--json"); !strings.Contains(output, "2031-02-03T04:05:06") {
		t.Errorf("the job is listed as %s", output)
	}
}

func TestTheConsoleReliesOnNoSetting(t *testing.T) {
	t.Parallel()
	url := odd(t)
	pool := pgtest.Pool(t, url)
	pgtest.Exec(t, pool, `select graphile_worker.keep_task('a', '2 days'), graphile_worker.set_limit('l', array['b'], rate => 3, per => '90 s'),
		graphile_worker.pause(task => 'c', until => '2031-02-03 04:05:06Z'), graphile_worker.cron_schedule('c', '0 3 * * *', 'work')`)
	pgtest.Exec(t, pool, `select graphile_worker.add_job('a', '{"a": 1.5}', run_at => '2031-02-03 04:05:06Z', queue_name => 'q', job_key => 'k')`)
	worker, err := shim.New(pool, shim.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	worker.Handle("a", func(context.Context, *shim.Job) error { return nil })
	if err := worker.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	console, err := gwui.New(pool, gwui.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(console.Close)
	server := httptest.NewServer(console)
	t.Cleanup(server.Close)
	for _, page := range []string{
		"", "jobs", "jobs/1", "queues", "tasks", "tasks/show?task=a", "workers", "limits", "limits/lanes?limit=l",
		"schedules", "history", "errors", "doctor", "audit", "settings",
	} {
		status, text := completePage(t, server.URL+"/"+page)
		if status == http.StatusInternalServerError || status == http.StatusServiceUnavailable ||
			strings.Contains(text, "SQLSTATE") || strings.Contains(text, "cannot scan") {
			t.Errorf("page %s: %d: %s", page, status, text)
		}
		if page == "jobs/1" && !strings.Contains(text, "2031-02-03") {
			t.Errorf("the job is shown as %s", fmt.Sprint(text))
		}
	}
}

// completePage returns a page of the console as soon as none of its parts waits for a query any more.
func completePage(t *testing.T, url string) (status int, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		answer, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if text = string(body); !strings.Contains(text, "none late") {
			return answer.StatusCode, text
		}
		if time.Now().After(end) {
			t.Fatalf("the page %s still waits for queries: %s", url, text)
		}
	}
}
