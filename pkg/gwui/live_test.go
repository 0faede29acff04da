package gwui_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

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
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		s.t.Fatalf("the stream is %s", kind)
	}
	events := make(chan map[string]string)
	go func() {
		defer close(events)
		defer answer.Body.Close()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var panels map[string]string
				if json.Unmarshal([]byte(data), &panels) != nil {
					return
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
	if first := <-events; !strings.Contains(first["jobs"], "No job matches") {
		t.Fatalf("the first event is %v", first)
	}
	pgtest.Exec(t, s.pool, `select graphile_worker.add_job('mail')`)
	next := <-events
	if !strings.Contains(next["jobs"], "jobs/1") || len(next) != 1 {
		t.Errorf("the next event is %v, want the panel that has changed", next)
	}
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
