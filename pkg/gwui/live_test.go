package gwui_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
)

// stream opens the stream of a page, and returns its events.
func (s *site) stream(ctx context.Context, path string) <-chan map[string]string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"live/"+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := s.http.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" || !answer.Uncompressed {
		s.t.Fatalf("the stream is %s, and compressed: %t", kind, answer.Uncompressed)
	}
	events := make(chan map[string]string)
	go func() {
		defer close(events)
		defer answer.Body.Close()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var shown map[string]struct{ HTML string }
				if json.Unmarshal([]byte(data), &shown) != nil {
					return
				}
				panels := make(map[string]string)
				for id, panel := range shown {
					panels[id] = panel.HTML
				}
				select {
				case events <- panels:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return events
}

func TestAnOpenPageIsUpdated(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	events := s.stream(t.Context(), "jobs?task=mail")
	await(t, events, "jobs", "No job matches")
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail')`)
	if next := await(t, events, "jobs", "jobs/1"); len(next) != 1 {
		t.Errorf("the next event is %v, want the panel that has changed", next)
	}
}

// await returns the first event in which a panel has a text.
func await(t *testing.T, events <-chan map[string]string, panel, text string) map[string]string {
	t.Helper()
	for panels := range events {
		if strings.Contains(panels[panel], text) {
			return panels
		}
	}
	t.Fatalf("the stream ends before the panel %s has %q", panel, text)
	return nil
}

// A panel that is slow is on its way until it is read. Here it is read when the test lets it be, however slow the machine is.
func TestAPageIsShownBeforeASlowPanelIsRead(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.fill()
	pgtest.Exec(t, s.pool, `
		create table gate (is_open boolean);
		create or replace function graphile_worker.error_groups(task text default null, max_rows integer default 10, max_read integer default 50000)
		  returns table (task_identifier text, error_group text, example text, jobs bigint, newest_id bigint, failed_at timestamptz, is_cut boolean,
		                 first_failed_at timestamptz)
		  language plpgsql as $$
		begin
		  while not exists (select from public.gate) loop perform pg_sleep(0.05); end loop;
		  return query select 'mail'::text, 'slow'::text, 'slow, but there'::text, 1::bigint, 1::bigint, now(), false, now();
		end $$`)
	const late, reload = "Its result will appear here", `<noscript><meta http-equiv="refresh"`
	s.console.SetPatience(50 * time.Millisecond)
	for {
		p := s.get("")
		p.want(t, http.StatusOK, late, reload)
		if strings.Contains(p.body, "oldest due for") && strings.Count(p.body, late) == 1 {
			break // the others are there: it is only this one that the page does not wait for
		}
	}
	events := s.stream(t.Context(), "")
	pgtest.Exec(t, s.pool, `insert into gate values (true)`)
	await(t, events, "incidents", "slow, but there")
	for p := s.get(""); ; p = s.get("") {
		p.want(t, http.StatusOK, "slow, but there")
		if strings.Contains(p.body, late) != strings.Contains(p.body, reload) {
			t.Fatal("a page is loaded again if a panel is late, and only then")
		}
		if !strings.Contains(p.body, late) {
			break
		}
	}
}

// Open pages show an action in this console at once, and not only after the next regular read of their panels.
func TestAnActUpdatesOpenPages(t *testing.T) {
	t.Parallel()
	s := newSite(t, gwui.Config{})
	s.fill()
	pgtest.Exec(t, s.pool, `
		create or replace function graphile_worker.list_settings()
		  returns table (name text, value text, default_value text, least_value text, greatest_value text, words text[], meaning text, updated_at timestamptz)
		  language sql as $$ select 'beat_every', s.value, '5 seconds', '', '', null::text[], '', now()
		                       from graphile_worker.setting('beat_every') as s (value) where pg_sleep(0.6) is not null $$`)
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
	defer cancel()
	events := s.stream(ctx, "settings") // which takes so long that the page is looked at once a minute
	await(t, events, "settings", "beat_every")
	s.post("settings/set?name=beat_every", url.Values{"value": {"7 seconds"}}).want(t, http.StatusSeeOther)
	await(t, events, "settings", " class=\"changed\">7 seconds")
}

// counter counts the statements that have a text.
type counter struct {
	text string
	n    atomic.Int64
}

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, c.text) {
		c.n.Add(1)
	}
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestViewersOfAPageAskAsOneDoes(t *testing.T) {
	t.Parallel()
	owner := pgtest.Pool(t, pgtest.Database(t))
	asked := &counter{text: "queue_stats"}
	config := owner.Config()
	config.ConnConfig.Tracer = asked
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s := serve(t, owner, pool, gwui.Config{})
	ctx, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 50 {
		events := s.stream(ctx, "")
		all.Go(func() { <-events })
	}
	all.Wait()
	leave()
	if n := asked.n.Load(); n > 3 {
		t.Errorf("50 viewers have asked %d times", n)
	}
}

func TestTheEndOfAConsoleEndsItsStreams(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Database(t))
	console, err := gwui.New(pool, gwui.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r, w := newRecorder(t)
	done := make(chan struct{})
	go func() {
		console.ServeHTTP(w, r)
		close(done)
	}()
	console.Close()
	<-done
}

// newRecorder returns a request for a stream, and a writer for it.
func newRecorder(t *testing.T) (*http.Request, http.ResponseWriter) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/live/help", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.RequestURI = "/live/help"
	return r, httptest.NewRecorder()
}
