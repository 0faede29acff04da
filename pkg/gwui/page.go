package gwui

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/sqlstate"
)

type request struct {
	preferences
	path   string // in the console, with its leading slash
	query  url.Values
	id     int64 // of the job of a page for one
	viewer Viewer
	may    rights
	acts   bool       // the viewer may act, if the role may
	typed  url.Values // the form that the request sends, nil if it sends none
}

// Can reports whether the viewer may act by a function of the queue.
func (q *request) Can(function string) bool { return q.acts && q.may[function] }

// May returns what the role may call.
func (q *request) May() rights { return q.may }

// link is what a row or a card leads to. What tells a screen reader what it is about, if the title does not; without a title there is
// no link.
type link struct {
	Title, What string
	URL         template.URL
}

// link returns a link from the page of the request to another one, with these values in its query.
func (q *request) link(title, what, page string, values url.Values) link {
	if len(values) > 0 {
		page += "?" + values.Encode()
	}
	return link{title, what, template.URL(root(q.path) + page)}
}

// With returns the query of the page with another value of a parameter, without what is told once.
func (q *request) With(name, value string) template.URL {
	values := maps.Clone(q.query)
	if values == nil {
		values = make(url.Values)
	}
	values.Del("op")
	values.Set(name, value)
	return template.URL(values.Encode())
}

type view struct {
	Title  string
	Nav    string // the path of its entry in the navigation
	Status int    // 0 for 200
	Reload bool   // repeatedly, also without JavaScript
	panels []panel
}

// panel is a part of a page that is read and updated, and may fail, independently of the others.
type panel struct {
	id     string
	title  string // empty without a heading
	body   string // the name of its template
	note   string // for a panel that has timed out: how to narrow it
	still  bool   // not updated while the page is open
	absent bool   // not on the page, because the role may not read it
	load   func(context.Context) (any, error)
}

// present returns the panels that are on the page.
func (v *view) present() []panel {
	return slices.DeleteFunc(slices.Clone(v.panels), func(p panel) bool { return p.absent })
}

// fragment is a panel as it is shown.
type fragment struct {
	ID     string
	Title  string
	HTML   template.HTML
	Still  bool
	IsLate bool // the page did not wait for it
	cost   time.Duration
}

// shownTime is a time that the browser shows relative to now.
var shownTime = regexp.MustCompile(`(<time [^>]*title=[^>]*>)[^<]*`)

// Mark identifies the content of a panel: the browser does not replace content that it already has. It counts times by itself.
func (f fragment) Mark() string {
	sum := fnv.New64a()
	_, _ = sum.Write(shownTime.ReplaceAll([]byte(f.HTML), []byte("$1")))
	return strconv.FormatUint(sum.Sum64(), 36)
}

// patience is how long a page waits for its panels, except for panels that are not updated later.
const patience = 250 * time.Millisecond

// errLate is the error of a panel that the page does not wait for.
var errLate = errors.New("not read yet")

// pageFunc returns a page, or an error if the request asks for something that does not exist.
type pageFunc func(ctx context.Context, c *Console, q *request) (*view, error)

type statusError struct {
	status int
	text   string
}

func (e statusError) Error() string { return e.text }

var (
	errNoPage     = statusError{http.StatusNotFound, "There is no such page."}
	errUnreadable = statusError{http.StatusBadRequest, "The form cannot be read."}
)

// pages are the pages without actions.
var pages = map[string]pageFunc{
	"/{$}":          overviewPage,
	"/find":         findPage,
	"/jobs":         jobsPage,
	"/jobs/{id}":    jobPage,
	"/history":      historyPage,
	"/tasks":        tasksPage,
	"/task":         taskPage,
	"/queues":       queuesPage,
	"/queue":        queuePage,
	"/worker":       workerPage,
	"/limits":       limitsPage,
	"/limits/lanes": lanesPage,
	"/workers":      workersPage,
	"/recurring":    recurringPage,
	"/audit":        auditPage,
	"/settings":     settingsPage,
	"/help":         helpPage,
}

// entry of the navigation, with the functions or views of which the role needs one.
type navEntry struct {
	Path, Title, Key, Group string
	needs                   []string
}

var navigation = []navEntry{
	{"", "Overview", "o", "Now", nil},
	{"jobs", "Jobs", "j", "Now", []string{"search_jobs", "browse_jobs"}},
	{"tasks", "Tasks", "t", "Now", []string{"list_tasks"}},
	{"queues", "Queues", "q", "Now", []string{"list_queues"}},
	{"limits", "Limits and pauses", "l", "Control", []string{"list_limits", "list_pauses"}},
	{"recurring", "Recurring", "r", "Control", []string{"recurring_jobs", "cron_schedules"}},
	{"workers", "Workers", "w", "Control", []string{"list_workers"}},
	{"history", "History", "y", "Past", []string{"list_history"}},
	{"audit", "Audit", "a", "Past", []string{"list_audit"}},
	{"settings", "Settings", "s", "Console", []string{"list_settings"}},
	{"help", "Help", "h", "Console", nil},
}

type navGroup struct {
	Title   string
	Entries []navEntry
}

// isOpen reports whether the role has what an entry needs.
func (e navEntry) isOpen(may rights) bool {
	return e.needs == nil || slices.ContainsFunc(e.needs, func(name string) bool { return may[name] })
}

// newRequest returns the data of a request, or an error if it is refused.
func (c *Console) newRequest(r *http.Request, path, id string) (*request, error) {
	viewer, err := c.cfg.Authorize(r)
	if err != nil {
		return nil, statusError{http.StatusForbidden, sentence(err)}
	}
	q := &request{preferences: newPreferences(r), path: path, query: r.URL.Query(), viewer: viewer, acts: !c.cfg.ReadOnly && !viewer.ReadOnly}
	if id != "" {
		if q.id, err = strconv.ParseInt(id, 10, 64); err != nil {
			return nil, errNoPage
		}
	}
	q.may, err = c.readRights(r.Context())
	return q, err
}

// sentence returns an error as a sentence on a page.
func sentence(err error) string {
	first, size := utf8.DecodeRuneInString(err.Error())
	return string(unicode.ToUpper(first)) + strings.TrimRight(err.Error()[size:], ".") + "."
}

// page returns the handler of a page.
func (c *Console) page(find pageFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, err := c.newRequest(r, r.URL.Path, r.PathValue("id"))
		if err != nil {
			c.fail(w, r, q, err)
			return
		}
		v, err := find(r.Context(), c, q)
		if to, ok := errors.AsType[redirectError](err); ok {
			seeOther(w, r, to.path)
			return
		}
		if err != nil {
			c.fail(w, r, q, err)
			return
		}
		c.show(w, r, q, v)
	}
}

func (c *Console) show(w http.ResponseWriter, r *http.Request, q *request, v *view) {
	var b bytes.Buffer
	templates, err := c.templatesIn(q.zone)
	if err == nil {
		err = templates.ExecuteTemplate(&b, "layout", c.layout(q, v, c.renderSoon(r.Context(), q, v.present())))
	}
	if err != nil {
		c.cfg.Logger.Error("console page cannot be written", "path", r.URL.Path, "error", err)
		http.Error(w, "This page cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	write(w, r, cmp.Or(v.Status, http.StatusOK), b.Bytes())
}

func write(w http.ResponseWriter, r *http.Request, status int, content []byte) {
	packed := compressed(w, r)
	w.WriteHeader(status)
	if packed == nil {
		_, _ = w.Write(content) // fails only if the client has left
		return
	}
	_, _ = packed.Write(content)
	_ = packed.Close()
}

// compressed returns a writer that compresses an answer, nil if the browser does not take that. It is called before the
// header is written.
func compressed(w http.ResponseWriter, r *http.Request) *gzip.Writer {
	w.Header().Add("Vary", "Accept-Encoding")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return nil
	}
	w.Header().Set("Content-Encoding", "gzip")
	packed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is a known one
	return packed
}

// layoutData is the data of a page outside of its panels.
type layoutData struct {
	Title, Nav, Root, Live string
	Name, Schema, Viewer   string
	Color                  string
	Links                  []Link
	Groups                 []navGroup
	Fragments              []fragment
	Reload                 bool
	ReadOnly               bool
	Here                   string // the page with its query
	Now                    string
	Theme, Zone            string
	Themes, Zones          []string
}

func (c *Console) layout(q *request, v *view, fragments []fragment) layoutData {
	d := layoutData{
		Title: v.Title, Nav: v.Nav, Root: root(q.path), Name: c.cfg.Name, Color: c.cfg.Color, Links: c.cfg.Links, Schema: c.cfg.Schema,
		Viewer: q.viewer.Name, Fragments: fragments, Reload: v.Reload, ReadOnly: !q.acts,
		Here: strings.TrimPrefix(q.path, "/") + "?" + q.query.Encode(), Theme: q.theme, Zone: "UTC", Now: time.Now().UTC().Format(time.RFC3339Nano), Themes: themes(), Zones: commonZones(),
	}
	if q.zone != nil {
		d.Zone = q.zone.String()
	}
	for _, f := range fragments {
		d.Reload = d.Reload || f.IsLate
		if !f.Still {
			d.Live = d.Root + "live" + q.path + "?" + q.query.Encode()
		}
	}
	for _, e := range navigation {
		if e.isOpen(q.may) {
			if n := len(d.Groups); n == 0 || d.Groups[n-1].Title != e.Group {
				d.Groups = append(d.Groups, navGroup{Title: e.Group})
			}
			last := &d.Groups[len(d.Groups)-1]
			last.Entries = append(last.Entries, e)
		}
	}
	return d
}

// renderSoon reads all panels at once, and returns them as they are shown. A panel that fails shows its error, and a panel that
// is late shows that it will follow; the others are not affected.
func (c *Console) renderSoon(ctx context.Context, q *request, panels []panel) []fragment {
	soon, cancel := context.WithTimeoutCause(ctx, c.patience, errLate)
	defer cancel()
	fragments := make([]fragment, len(panels))
	var all sync.WaitGroup
	for i, p := range panels {
		all.Go(func() {
			if p.still {
				fragments[i] = c.render(ctx, q, p)
			} else {
				fragments[i] = c.render(soon, q, p)
			}
		})
	}
	all.Wait()
	return fragments
}

// panelData is the data of the template of a panel.
type panelData struct {
	Root string
	Name string // of the queue
	Q    *request
	D    any
}

// render reads a panel, and returns it as it is shown.
func (c *Console) render(ctx context.Context, q *request, p panel) fragment {
	f := fragment{ID: p.id, Title: p.title, Still: p.still}
	data, name := panelData{Root: root(q.path), Name: c.cfg.Name, Q: q}, p.body
	ctx, read := withReading(ctx)
	loaded, err := p.load(ctx)
	data.D = loaded
	switch {
	case errors.Is(err, errLate):
		f.IsLate, name = true, "late"
	case err != nil:
		data.D, name = c.explain(err, p.note), "failed"
		if ctx.Err() == nil {
			c.cfg.Logger.Debug("console panel failed", "path", q.path, "panel", p.id, "error", err)
		}
	}
	var b bytes.Buffer
	templates, err := c.templatesIn(q.zone)
	if err == nil {
		err = templates.ExecuteTemplate(&b, name, data)
	}
	if kept := read.kept(); err == nil && !p.still && kept.Fresh >= tellFresh {
		err = templates.ExecuteTemplate(&b, "kept", kept)
	}
	if err != nil {
		c.cfg.Logger.Error("console panel cannot be written", "path", q.path, "panel", p.id, "error", err)
		b.Reset()
		b.WriteString("This part of the page cannot be shown.")
	}
	f.HTML, f.cost = template.HTML(b.String()), read.kept().Cost
	return f
}

// problem is why a panel or a page shows nothing.
type problem struct{ Text, Hint string }

// The SQLSTATEs of statements that timed out.
const (
	queryCanceled    = "57014"
	lockNotAvailable = "55P03"
)

// explain returns why something could not be read or done, and what to do.
func (c *Console) explain(err error, note string) problem {
	if status, ok := errors.AsType[statusError](err); ok {
		return problem{Text: status.text}
	}
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) {
		if errors.Is(err, errBusy) || errors.Is(err, context.DeadlineExceeded) {
			return problem{"The database did not answer in time.", "The console tries again later."}
		}
		return problem{"The database cannot be reached.", err.Error()}
	}
	switch class := sqlstate.ClassOf(refusal.Code); {
	case refusal.Code == queryCanceled:
		return problem{fmt.Sprintf("The query took longer than %s and was stopped.", c.store.timeout), note}
	case refusal.Code == lockNotAvailable:
		return problem{"Another transaction holds a lock that this needs.", "Try it again."}
	case class == sqlstate.NotGranted:
		return problem{"The database role of this console may not do this.", refusal.Message}
	case class == sqlstate.NotFound:
		return problem{"The schema of the queue lacks a function or a table that this page needs.", "gw-migrate installs and upgrades it. " + refusal.Message}
	default:
		return problem{refusal.Message, refusal.Hint}
	}
}

// seeOther sends the browser to another page of the console, by a relative URL.
func seeOther(w http.ResponseWriter, r *http.Request, path string) {
	w.Header().Set("Location", root(r.URL.Path)+path)
	w.WriteHeader(http.StatusSeeOther)
}

// statusOf returns the status of the answer to a request that has failed, and logs the error unless it is one of the user's.
func (c *Console) statusOf(r *http.Request, err error) int {
	if status, ok := errors.AsType[statusError](err); ok {
		return status.status
	}
	c.cfg.Logger.Warn("console request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	if sqlstate.ClassOf(sqlstate.Of(err)) == sqlstate.Usage {
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

func (c *Console) fail(w http.ResponseWriter, r *http.Request, q *request, err error) {
	v := &view{Title: "Not shown", Nav: "none", Status: c.statusOf(r, err)}
	if q == nil {
		q = &request{path: r.URL.Path}
	}
	v.panels = []panel{{id: "problem", body: "failed", still: true, load: func(context.Context) (any, error) {
		return c.explain(err, ""), nil
	}}}
	c.show(w, r, q, v)
}
