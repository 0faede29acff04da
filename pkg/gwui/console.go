package gwui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// A Console serves the pages of a queue. Create it with [New].
type Console struct {
	cfg       Config
	store     *store
	cache     *cache
	rights    atomic.Pointer[knownRights]
	templates *template.Template // with times in UTC
	zones     struct {           // templates with times in other zones
		sync.Mutex
		templates map[string]*template.Template
	}
	operations *operations
	live       *live
	handler    http.Handler
	ctx        context.Context // ends with Close
	close      context.CancelFunc
	patience   time.Duration // of a page with its panels
	budget     time.Duration // of a page of times of kept tasks
}

// New returns the console of a queue. It uses at most four connections of the pool. The caller closes the pool, after
// [Console.Close]. New does not connect.
func New(pool *pgxpool.Pool, cfg Config) (*Console, error) {
	if pool == nil {
		return nil, errors.New("make console: nil pool")
	}
	if cfg.Color != "" && !slices.Contains(Colors(), cfg.Color) {
		return nil, fmt.Errorf("make console: there is no color %q; the colors are %s", cfg.Color, strings.Join(Colors(), ", "))
	}
	cfg = cfg.withDefaults(pool)
	templates, err := parseTemplates(time.UTC)
	if err != nil {
		return nil, fmt.Errorf("make console: %w", err)
	}
	c := &Console{cfg: cfg, store: newStore(pool, cfg.Schema), cache: newCache(), templates: templates, patience: patience, budget: timesBudget}
	c.ctx, c.close = context.WithCancel(context.Background())
	c.operations = &operations{known: make(map[string]*operation)}
	c.live = newLive(c)
	c.handler = c.guard(c.routes())
	return c, nil
}

// forget drops all results of queries, after a change.
func (c *Console) forget() {
	c.cache.forget()
	c.live.forget()
}

// Close ends the streams of open pages, and operations between two of their steps.
func (c *Console) Close() {
	c.close()
	c.operations.all.Wait()
}

// ServeHTTP serves a page of the console.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// routes returns the routes of the console. A read-only console has no routes for actions.
func (c *Console) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for path, p := range pages {
		mux.HandleFunc("GET "+path, c.page(p))
	}
	mux.HandleFunc("GET /live/{path...}", c.serveLive)
	mux.HandleFunc("GET /jobs/{id}/payload", c.servePayload)
	mux.HandleFunc("GET /static/{file}", serveStatic)
	mux.HandleFunc("POST /preferences", c.setPreferences)
	mux.HandleFunc("/", c.page(func(context.Context, *Console, *request) (*view, error) { return nil, errNoPage }))
	if c.cfg.ReadOnly {
		return mux
	}
	for path, f := range forms {
		if f.ask != nil {
			mux.HandleFunc("GET "+path, c.page(f.page))
		}
		if f.act != nil {
			mux.HandleFunc("POST "+path, c.action(f))
		}
	}
	return mux
}

// root returns the relative URL of the console's own root from a path in it: "./" for /jobs, "../" for /jobs/17.
func root(path string) string {
	depth := strings.Count(strings.TrimPrefix(path, "/"), "/")
	return cmp.Or(strings.Repeat("../", depth), "./")
}

// policy is the Content-Security-Policy of every answer: it allows only the console's own files, nothing inline, and no text
// that becomes markup except by the Trusted Types policy of the console's script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'; trusted-types gw; require-trusted-types-for 'script'"

// guard sets the headers of every answer, and refuses requests of other sites and for other hosts.
func (c *Console) guard(next http.Handler) http.Handler {
	sameSite := http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if !c.isServed(r.Host) {
			http.Error(w, "This console is not served under this host name.", http.StatusMisdirectedRequest)
			return
		}
		if r.URL.Path == "" { // mounted at a path without its final slash
			h.Set("Location", "./"+path.Base(r.RequestURI)+"/")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		sameSite.ServeHTTP(w, r)
	})
}

// isServed reports whether the console accepts this value of the header Host.
func (c *Console) isServed(host string) bool {
	if len(c.cfg.Hosts) == 0 {
		return true
	}
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(strings.ToLower(strings.TrimSuffix(name, ".")), "[]")
	return slices.ContainsFunc(c.cfg.Hosts, func(served string) bool {
		served = strings.Trim(strings.ToLower(served), "[]")
		return served == name || served == strings.ToLower(host)
	})
}
