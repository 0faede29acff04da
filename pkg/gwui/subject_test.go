package gwui_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
)

func TestATaskAQueueAndAWorkerHavePages(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `
		set search_path = graphile_worker;
		select add_job('mail', queue_name => 'q') from generate_series(1, 3);
		select add_job('mail', run_at => now() - interval '38 minutes'), add_job('other');
		select permanently_fail_jobs('{1}', 'provider is down'), permanently_fail_jobs('{5}', 'not of this task');
		select set_limit('api', '{mail}', max_running => 2, rate => 5, per => '1 minute');
		select pause(task => 'mail', reason => 'the provider is down');
		select cron_schedule('nightly', '0 4 * * *', 'mail');
		select register_worker('w1', '{mail}', 2, 'host', 17, 'v1');
		select get_job('w2', '{other}');
		select get_job('w2', '{none}') from generate_series(1, 10);
		set search_path = public`)
	p := s.get("task?task=mail")
	p.want(t, http.StatusOK, "<h1>Task mail</h1>", `href="./jobs?state=ready&amp;task=mail"`, "job 4</a>", "38 min ago", "Next run of nightly",
		"limit <a href=\"./limits/lanes?limit=api\">api</a>", "2 at once, 5 a minute", "paused</span> <strong>the task mail</strong>", "the provider is down", `href="./resume?back=task%3Ftask%3Dmail&amp;task=mail"`,
		`href="./jobs/act?act=retry&amp;all=1`, "This task is not kept")
	if strings.Contains(p.body, "not of this task") {
		t.Error("the page of a task has the errors of another one")
	}
	s.post("resume?task=mail&back="+url.QueryEscape("task?task=mail"), nil)
	s.get("task?task=mail").want(t, http.StatusOK, "provider is down", "Pause…")
	s.get("queue?queue=q").want(t, http.StatusOK, "<h1>Queue q</h1>", "job 2</a>", `href="./pause?back=queue%3Fqueue%3Dq&amp;queue=q"`, "jobs/3\"")
	s.get("worker?worker=w1").want(t, http.StatusOK, "<h1>Worker w1</h1>", "working", "host:17", `href="./workers/drain?back=worker%3Fworker%3Dw1&amp;worker=w1"`,
		"Ended in the last hour")
	for _, path := range []string{"task?task=none", "queue?queue=none", "worker?worker=none"} {
		s.get(path).want(t, http.StatusOK, " none ")
	}
	s.get("task").want(t, http.StatusNotFound)
}

func TestThePagesOfAKeptTaskHaveChartsWithScales(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `
		select graphile_worker.keep_task('mail', '1 day'), graphile_worker.pause(queue => 'q', reason => 'deploy');
		select graphile_worker.add_job('mail') from generate_series(1, 3)`)
	pgtest.Exec(t, s.pool, `select count(*) from graphile_worker.get_job_batch('w', null, 3)`)
	pgtest.Exec(t, s.pool, `select graphile_worker.complete_job_batch('w', '{1,2}'), graphile_worker.fail_job('w', 3, 'no', retry_in => '1 hour')`)
	pgtest.Exec(t, s.pool, `select graphile_worker.permanently_fail_jobs('{3}')`)
	s.get("").want(t, http.StatusOK, "mail: 1 job failed", "failed <b>2</b>", "attempts in 2 min")
	for _, over := range []string{"hour", "day", "week"} {
		s.get("task?task=mail&over="+over).want(t, http.StatusOK, "completed <b>2</b>", "failed <b>2</b>", "attempts in", "<span>2</span><span>1</span><span>0</span>",
			`class="mark"`, "pause by", "completed 2, failed 2</title>", `href="?over=week&amp;task=mail"`)
	}
}

func TestEveryListLinksToThePagesOfExactlyTheseNames(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	pgtest.Exec(t, s.pool, `
		select graphile_worker.add_job(n, '{}', n), graphile_worker.register_worker(n, '{none}', 1, 'h', 1, 'v') from unnest($1::text[]) as n`, hostileNames)
	for kind, lists := range map[string][]string{"task": {"tasks", "jobs"}, "queue": {"queues", "jobs"}, "worker": {"workers"}} {
		for _, list := range lists {
			links := s.links(list, kind+"?")
			for _, name := range hostileNames {
				if to := at(kind, url.Values{kind: {name}}); !slices.Contains(links, to) {
					t.Errorf("%s has no link %q", list, to)
				}
			}
		}
	}
	for _, name := range hostileNames {
		for _, kind := range []string{"task", "queue", "worker"} {
			from := at(kind, url.Values{kind: {name}})
			for _, act := range append(s.links(from, "pause?"), s.links(from, "workers/drain?")...) {
				to, p := s.submit(act, "question", nil)
				if back, _ := url.Parse(to); p.status != http.StatusSeeOther || back.Path != kind || back.Query().Get(kind) != name {
					t.Errorf("%q leads to %d %q, want %q", act, p.status, to, from)
				}
			}
		}
	}
	pgtest.Exec(t, s.pool, `
		select graphile_worker.set_limit(n, array[n], max_running => 1) from unnest($1::text[]) as n`, hostileNames)
	for kind, lists := range map[string][]string{"task": {"limits", "audit"}, "queue": {"limits", "audit"}, "worker": {"audit"}} {
		var links []string
		for _, list := range lists {
			for pages := []string{list}; len(pages) > 0; {
				from := pages[0]
				links = append(links, s.links(from, kind+"?")...)
				pages = slices.DeleteFunc(s.links(from, list+"?below="), func(to string) bool { return strings.Contains(to, "#main") })
			}
		}
		for _, name := range hostileNames {
			if to := at(kind, url.Values{kind: {name}}); !slices.Contains(links, to) {
				t.Errorf("%v have no link %q", lists, to)
			}
		}
	}
	got := pgtest.Value[string](t, s.pool, `
		select count(distinct task) || ' ' || count(distinct queue) || ' ' || (select count(*) from graphile_worker.list_workers() where state = 'drained')
		  from graphile_worker.list_pauses()`)
	if n := len(hostileNames); got != fmt.Sprintf("%d %d %d", n, n, n) {
		t.Errorf("paused and drained are %s, want %d of each", got, n)
	}
}
