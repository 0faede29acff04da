package gwui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
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
	for path, p := range formPages {
		mux.HandleFunc("GET "+path, c.page(p))
	}
	for path, act := range actions {
		mux.HandleFunc("POST "+path, c.action(act, formPages[path]))
	}
	return mux
}

// root returns the relative URL of the console's own root from a path in it: "./" for /jobs, "../" for /jobs/17.
func root(path string) string {
	depth := strings.Count(strings.TrimPrefix(path, "/"), "/")
	return cmp.Or(strings.Repeat("../", depth), "./")
}
