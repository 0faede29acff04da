package browser

import (
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"

	"github.com/gwsql/gw/internal/pgtest"
)

// everyPage are the paths of all pages, those that ask before something is done among them.
var everyPage = []string{
	"", "jobs", "jobs?state=failed&task=mail&newer=1d", "jobs/2", "jobs/4", "tasks", "queues", "limits",
	"limits/lanes?limit=exports", "limits/set?limit=exports", "limits/drop?limit=exports",
	"limits/override?limit=exports&lane=7", "pause?limit=exports&lane=7", "resume?all=1", "jobs/9", "workers", "recurring", "audit",
	"settings", "help", "jobs/4/act?act=cancel", "jobs/act?act=reschedule&all=1&state=failed", "workers/unlock?worker=w",
	"settings/set?name=notify", "settings/set?name=beat_every", "recurring/act?act=pause&name=nightly", "jobs/77",
	"task?task=mail", "task?task=kept", "queue?queue=queue+%3Cb%3E", "worker?worker=w", "history", "history?outcome=failures&task=kept&since=1d", "jobs/11", "jobs/12",
}

// fill makes a queue that every page has something to show of.
func (b *tab) fill() {
	b.t.Helper()
	pgtest.Exec(b.t, b.pool, `
		set search_path = graphile_worker;
		select add_job('mail', '{"to":"you","note":"<script>alert(1)</script>"}', 'queue <b>', job_key => 'k', flags => '{f}');
		select add_job('mail', '{"to":"me"}');
		select add_job('sync', run_at => now() + interval '1 hour');
		select add_job('mail') from generate_series(1, 5);
		select permanently_fail_jobs('{2,5,6}', e'HTTP 500: "><script>alert(2)</script>\nat line 3');
		select register_worker('w', '{mail,sync}', 2, 'host', 17, 'v1');
		select heartbeat('w');
		select get_job('w', '{mail}');
		select cron_schedule('nightly', '0 4 * * *', 'report', time_zone => 'Europe/Berlin');
		select set_limit('exports', '{export}', by => 'payload:tenant', max_running => 1, rate => 10, per => '1 minute');
		select get_job('w', '{none}') from generate_series(1, 10);
		select add_job('export', '{"tenant":7}') from generate_series(1, 2);
		select get_job('w', '{export}');
		select pause(task => 'report', reason => 'the disk is full', until => now() + interval '2 hours'), pause(queue => 'queue <b>');
		select keep_task('kept', '30 days', payloads => true, results => true), add_job('kept', '{"n":1}', job_key => 'key <b>'), add_job('kept');
		select get_job('w', '{kept}') from generate_series(1, 2);
		select complete_job('w', 11, result => '{"sent":1}'), fail_job('w', 12, 'HTTP 503: "><script>alert(3)</script>');
		insert into _gw_samples select now() - n * interval '1 minute', n, 1, 1, n, false, n, 1, 1000 - n, 900 - n from generate_series(1, 50) as n
		    on conflict do nothing;
		set search_path = public`)
}

var all = flag.Bool("browser.all", false, "look at every page in both themes and widths and in forced colors, rather than in one of the five that is drawn")

func TestEveryPageIsWithoutBarriersInBothThemesAndWidthsAndInForcedColors(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v; npm ci installs it", err)
	}
	b := open(t)
	b.fill()
	looks := []struct {
		width  int64
		colors string
	}{{320, "light"}, {320, "dark"}, {1280, "light"}, {1280, "dark"}, {1280, forced}}
	first := rand.IntN(len(looks))
	for n, look := range looks {
		width, colors := look.width, look.colors
		b.look(width, colors)
		for i, path := range everyPage {
			if !*all && (first+i)%len(looks) != n {
				continue
			}
			b.visit(path)
			b.await("document.readyState === 'complete'")
			eval[any](b, string(axe)+"; null")
			found := eval[string](b, `axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})
				.then((r) => r.violations.map((v) => v.id + ': ' + v.help + ': ' + v.nodes.map((n) => n.html + ' ' + n.failureSummary).join(' | ')).join('\n'))`)
			if found != "" {
				t.Errorf("%q, %d pixels wide, %s: %s", path, width, colors, found)
			}
			if wide := eval[bool](b, "document.documentElement.scrollWidth > document.documentElement.clientWidth"); wide {
				t.Errorf("%q is wider than %d pixels", path, width)
			}
		}
	}
}

// ready is true once the script of a page is at work.
const ready = "document.querySelector('.live') && !document.querySelector('.live').hidden"

// The bad morning of an operator: from what fails to the retry, by the keyboard alone.
func TestAnOperatorFindsWhatFailsAndRetriesItByTheKeyboard(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.fill()
	b.visit("")
	b.await("document.querySelector('#incidents .card a')")
	b.await(ready)
	b.press("j") // the first card: the task that fails
	b.await("document.activeElement.closest('#incidents .card')?.innerText.includes('mail: 3 jobs failed')")
	b.press("\r")
	b.await("location.pathname === '/jobs' && location.search.includes('state=failed') && document.querySelectorAll('tbody tr').length === 3")
	b.await(ready)
	b.press("j")
	b.press("x")
	b.press("j")
	b.press("x")
	b.await("document.querySelectorAll('input[name=id]:checked').length === 2")
	eval[any](b, "document.querySelector('button[value=retry]').focus()")
	b.press("\r")
	b.await("location.pathname === '/jobs/act' && document.body.innerText.includes('Retry 2 jobs: 6, 5') && document.querySelector('button.main')")
	eval[any](b, "document.querySelector('button.main').focus()")
	b.press("\r")
	b.await("location.pathname === '/jobs' && location.search.includes('state=failed') && document.body.innerText.includes('Retried 2 jobs.')")
	if got := pgtest.Value[int64](t, b.pool, `select count(*) from graphile_worker.list_jobs('failed')`); got != 1 {
		t.Errorf("%d jobs have failed after the retry, want 1", got)
	}
	b.await(ready)
	b.press("g")
	b.press("a")
	b.await("location.pathname === '/audit' && document.querySelector('tbody tr').innerText.includes('retry')")
}

func TestTheTourGoesWithoutTheScript(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.fill()
	call(b, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: b.url + "static/gwui.js", Block: true}}})
	b.visit("jobs?state=failed")
	eval[any](b, "document.querySelector('[data-rows] input[name=id][value=\"5\"]').click(); document.querySelector('button[value=retry]').click()")
	b.await("location.pathname === '/jobs/act' && document.querySelector('button.main')")
	eval[any](b, "document.querySelector('button.main').click()")
	b.await("document.body.innerText.includes('Retried 1 job.')")
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(b.mistakes) - 1; i >= 0; i-- {
		if strings.Contains(b.mistakes[i], "gwui.js") { // which this test keeps from the browser
			b.mistakes = append(b.mistakes[:i], b.mistakes[i+1:]...)
		}
	}
}

func TestAnOpenPageIsUpdatedAndNotUnderTheHand(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.fill()
	b.visit("jobs?task=mail")
	b.await("document.querySelectorAll('tbody tr').length === 7")
	b.await(ready)
	pgtest.Exec(t, b.pool, `select graphile_worker.add_job('mail')`)
	b.await("document.querySelectorAll('tbody tr').length === 8")
	eval[any](b, "document.querySelector('[data-rows] input[name=id]').click()")
	pgtest.Exec(t, b.pool, `select graphile_worker.add_job('mail')`)
	b.await("document.querySelector('#live-state').innerText.includes('wait')")
	if rows := eval[int](b, "document.querySelectorAll('tbody tr').length"); rows != 8 {
		t.Errorf("the list was swapped under a selection: it has %d rows", rows)
	}
	was := eval[string](b, "document.querySelector('td time').innerText")
	b.await("document.querySelector('td time').innerText !== '" + was + "'") // counted by the browser
	eval[any](b, "document.querySelector('[data-rows] input[name=id]:checked').click(); document.activeElement.blur()")
	b.await("document.querySelectorAll('tbody tr').length === 9")
	b.press("p")
	b.await("document.querySelector('#pause').getAttribute('aria-pressed') === 'true'")
}

func TestShortcutsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.visit("help")
	b.await("!document.querySelector('#shortcuts').disabled")
	eval[any](b, "document.querySelector('#shortcuts').click(); document.activeElement.blur()")
	b.press("/")
	if eval[bool](b, "document.activeElement.id === 'find'") {
		t.Error("a shortcut works although they are off")
	}
	eval[any](b, "document.querySelector('#shortcuts').click(); document.activeElement.blur()")
	b.press("/")
	b.await("document.activeElement.id === 'find'")
}

// The policy lets nothing in that a text has brought, even if a template forgot to escape it.
func TestThePolicyStopsScriptsAndTexts(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.visit("help")
	stopped := eval[string](b, `(() => { try { document.body.innerHTML = '<img src=x>' ; return 'not stopped' } catch (e) { return e.name } })()`)
	if stopped != "TypeError" {
		t.Errorf("a text became markup: %s", stopped)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.mistakes) == 0 {
		t.Error("the browser has reported no breach of the policy, so no test would notice one")
	}
	b.mistakes = nil
}

// brokenWords are the words of a page, with a mark where they are broken, that would fit a line.
const brokenWords = `(() => {
	const broken = new Set()
	const range = document.createRange()
	const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
	for (let node; node = walker.nextNode();) {
		if (node.parentElement.closest('.sr, option')) continue
		let block = node.parentElement
		while (getComputedStyle(block).display === 'inline') block = block.parentElement
		for (const { 0: word, index } of node.data.matchAll(/[\p{L}\p{N}_]+/gu)) {
			range.setStart(node, index)
			range.setEnd(node, index + word.length)
			const lines = [...range.getClientRects()].filter((r) => r.width > 1)
			const tops = new Set(lines.map((r) => Math.round(r.top)))
			if (tops.size > 1 && lines.reduce((sum, r) => sum + r.width, 40) < block.clientWidth) broken.add(word)
		}
	}
	return [...broken].join(', ')
})()`

func TestNamesAreWholeAndNothingIsBeyondTheEdge(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.fill()
	lists := []string{"jobs", "jobs?state=failed", "tasks", "queues", "limits", "history", "workers"}
	for _, width := range []int64{320, 768, 1440} {
		b.look(width, "light")
		for _, path := range lists {
			b.visit(path)
			b.await("document.readyState === 'complete' && document.querySelector('tbody td')")
			if broken := eval[string](b, `[...document.querySelectorAll('td.name')].filter((td) => {
				const range = document.createRange()
				range.selectNodeContents(td)
				return new Set([...range.getClientRects()].filter((r) => r.width > 1).map((r) => Math.round(r.bottom / 8))).size > 1
			}).map((td) => td.innerText).join(', ')`); broken != "" {
				t.Errorf("%q, %d pixels wide, breaks %s", path, width, broken)
			}
			if beyond := eval[string](b, `[...document.querySelectorAll('main td, main td a')].filter((e) => e.getBoundingClientRect().right > innerWidth)
				.map((e) => e.innerText).join(', ')`); beyond != "" {
				t.Errorf("%q, %d pixels wide, has beyond its edge: %s", path, width, beyond)
			}
		}
		for path, text := range map[string]string{"tasks": "Pause", "jobs?state=failed": "HTTP 500"} {
			b.visit(path)
			b.await("document.querySelector('tbody').innerText.includes('" + text + "')")
		}
	}
	pgtest.Exec(t, b.pool, `
		select graphile_worker.add_job('com.example.billing.invoices.GenerateMonthlyStatements', '{"url":"https://api.example.com/v1/charges/35051070e572"}',
		                               'a-named-queue-of-the-northern-region', job_key => 'charge:2026-11-29:https://api.example.com/v1/charges'),
		       graphile_worker.permanently_fail_jobs('{13}', 'Service Unavailable from https://api.pay.example/v1/charges (request 105bbb4c5c3b35ce92f245193aa94883)')`)
	for _, width := range []int64{320, 768, 1440} {
		b.look(width, "light")
		for _, path := range append([]string{"", "jobs/2", "jobs/13", "jobs/11", "limits/lanes?limit=exports", "audit", "recurring", "settings",
			"task?task=mail", "worker?worker=w", "jobs/13/act?act=fail"}, lists...) {
			b.visit(path)
			if broken := eval[string](b, brokenWords); broken != "" {
				t.Errorf("%q, %d pixels wide, breaks inside of words: %s", path, width, broken)
			}
			if wide := eval[bool](b, "document.documentElement.scrollWidth > document.documentElement.clientWidth"); wide {
				t.Errorf("%q is wider than %d pixels", path, width)
			}
		}
	}
}

func TestAFormActsOnTheObjectWhoseNameHasLineBreaks(t *testing.T) {
	t.Parallel()
	b := open(t)
	pgtest.Exec(t, b.pool, `select graphile_worker.add_job(e'a\nb'), graphile_worker.add_job(e'a\r\nb'), graphile_worker.add_job('ab')`)
	b.visit("tasks")
	b.await("document.querySelectorAll('a[href*=\"pause?\"]').length === 3")
	eval[any](b, "[...document.querySelectorAll('a[href*=\"pause?\"]')].find((a) => a.href.includes('=a%0Ab')).click()")
	b.await("location.pathname === '/pause' && document.querySelector('button.main')")
	eval[any](b, "document.querySelector('#field-for').value = 'soon'; document.querySelector('button.main').click()")
	b.await("document.querySelector('[role=alert]')?.innerText.includes('Nothing was done.') && document.querySelector('#field-for').value === 'soon'")
	eval[any](b, "document.querySelector('#field-for').value = '1h'; document.querySelector('button.main').click()")
	b.await("location.pathname === '/tasks' && document.querySelector('[role=status].notice')?.innerText.startsWith('Paused')")
	b.await("!location.search.includes('op=')")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mistakes = slices.DeleteFunc(b.mistakes, func(text string) bool { return strings.Contains(text, "status of 400") }) // the refusal
	if got := pgtest.Value[string](t, b.pool, `select string_agg(to_json(task)::text, ' ') from graphile_worker.list_pauses()`); got != `"a\nb"` {
		t.Errorf("paused is %s", got)
	}
}

// All tabs share the cookies of the console's host, so this test is not run beside others, and restores the theme.
func TestTheThemeIsThatOfTheUser(t *testing.T) {
	b := open(t)
	b.look(1280, "light")
	b.visit("jobs")
	b.await("document.querySelector('[name=theme]')")
	eval[any](b, "document.querySelector('[name=theme]').value = 'dark'; document.querySelector('[name=zone]').value = 'Asia/Tokyo'; document.querySelector('.preferences button').click()")
	b.await("location.pathname === '/jobs' && getComputedStyle(document.body).backgroundColor === 'rgb(14, 17, 20)' && document.querySelector('[name=zone]').value === 'Asia/Tokyo'")
	eval[any](b, "document.querySelector('[name=theme]').value = ''; document.querySelector('[name=zone]').value = ''; document.querySelector('.preferences button').click()")
	b.await("getComputedStyle(document.body).backgroundColor === 'rgb(243, 245, 248)' && document.querySelector('[name=zone]').value === 'UTC'")
}
