package gwui

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	leastInterval = 2 * time.Second  // between two reads for an open page
	mostInterval  = time.Minute      // at most, however expensive a read is
	openFactor    = 100              // the interval is this many times the duration of the read
	streamTime    = 10 * time.Minute // after which the browser connects again, and is authorized again
	writeTime     = 10 * time.Second // for a browser to take an event
	mostStreams   = 500              // that are open at once
)

// live updates open pages. Viewers of the same page with the same rights share one poller.
type live struct {
	console *Console
	mu      sync.Mutex
	pollers map[string]*poller
	open    int
	acted   chan struct{} // closed when something has been changed
}

// poller reads one page repeatedly while it has viewers.
type poller struct {
	viewers map[chan struct{}]bool // woken after each read
	current map[string]fragment    // by the id of the panel
	end     context.CancelFunc
}

func newLive(c *Console) *live {
	return &live{console: c, pollers: make(map[string]*poller), acted: make(chan struct{})}
}

// livePages are the pages that have streams, by their paths.
func livePage(path string) (find pageFunc, id string, ok bool) {
	if path == "/" {
		return overviewPage, "", true
	}
	if find, ok = pages[path]; ok {
		return find, "", true
	}
	if path == "/operations" {
		return operationPage, "", true
	}
	if id, ok = strings.CutPrefix(path, "/jobs/"); ok && !strings.Contains(id, "/") {
		return jobPage, id, true
	}
	return nil, "", false
}

// serveLive streams the panels of a page that change.
func (c *Console) serveLive(w http.ResponseWriter, r *http.Request) {
	path := "/" + r.PathValue("path")
	find, id, ok := livePage(path)
	if !ok {
		http.NotFound(w, r)
		return
	}
	q, err := c.newRequest(r, path, id)
	var v *view
	if err == nil {
		v, err = find(r.Context(), c, q)
	}
	if err != nil {
		w.WriteHeader(http.StatusNoContent) // the browser does not try again
		return
	}
	woken, p, err := c.live.join(q, v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer c.live.leave(q, p, woken)
	w.Header().Set("Content-Type", "text/event-stream")
	ctx, cancel := context.WithTimeout(r.Context(), streamTime)
	defer cancel()
	s := &stream{writer: w, packed: compressed(w, r), control: http.NewResponseController(w), sent: make(map[string]string)}
	if s.write("retry: 3000\n\n") != nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.ctx.Done():
			return
		case <-woken:
		}
		if s.send(c.live.look(p)) != nil {
			return
		}
	}
}

// stream is what one viewer has received.
type stream struct {
	writer  io.Writer
	packed  *gzip.Writer // of the writer, nil without
	control *http.ResponseController
	sent    map[string]string // marks
}

// shown is a panel in an event.
type shown struct {
	HTML template.HTML `json:"html"`
	Mark string        `json:"mark"`
}

// send sends the fragments that have changed, or an empty comment, which fails if the viewer has left.
func (s *stream) send(current map[string]fragment) error {
	changed := make(map[string]shown)
	for id, f := range current {
		if mark := f.Mark(); s.sent[id] != mark {
			changed[id], s.sent[id] = shown{f.HTML, mark}, mark
		}
	}
	if len(changed) == 0 {
		return s.write(": same\n\n")
	}
	text, err := json.Marshal(changed) // one line
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("event: panels\ndata: %s\n\n", text))
}

func (s *stream) write(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTime)) // a server that does not support it has limits of its own
	if s.packed == nil {
		if _, err := io.WriteString(s.writer, text); err != nil {
			return err
		}
		return s.control.Flush()
	}
	if _, err := io.WriteString(s.packed, text); err != nil {
		return err
	}
	return cmp.Or(s.packed.Flush(), s.control.Flush())
}

// liveKey is what the viewers of one poller have in common.
func liveKey(q *request) string {
	return fmt.Sprintf("%s?%s %t %s", q.path, q.query.Encode(), q.acts, q.zone)
}

func (l *live) join(q *request, v *view) (chan struct{}, *poller, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= mostStreams {
		return nil, nil, fmt.Errorf("%d pages are open; further pages are not updated", mostStreams)
	}
	l.open++
	key := liveKey(q)
	p := l.pollers[key]
	if p == nil {
		ctx, end := context.WithCancel(l.console.ctx)
		p = &poller{viewers: make(map[chan struct{}]bool), current: make(map[string]fragment), end: end}
		l.pollers[key] = p
		l.poll(ctx, p, q, v)
	}
	woken := make(chan struct{}, 1)
	p.viewers[woken] = true
	if len(p.current) > 0 {
		woken <- struct{}{}
	}
	return woken, p, nil
}

// leave ends the poller with its last viewer.
func (l *live) leave(q *request, p *poller, woken chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	delete(p.viewers, woken)
	if len(p.viewers) == 0 {
		p.end()
		if key := liveKey(q); l.pollers[key] == p {
			delete(l.pollers, key)
		}
	}
}

func (l *live) look(p *poller) map[string]fragment {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(p.current)
}

// poll reads a page until its last viewer has left, each panel independently, so that no panel waits for a slow one.
func (l *live) poll(ctx context.Context, p *poller, q *request, v *view) {
	moving := slices.DeleteFunc(v.present(), func(p panel) bool { return p.still })
	for _, panel := range moving {
		go l.follow(ctx, p, q, panel, len(moving))
	}
}

// follow reads a panel of a page at once, and then repeatedly. All open pages together cost about a hundredth of a core: a panel
// is read again later if it took longer, if its page has more panels, and if more pages are open, but at once after an action in
// this console.
func (l *live) follow(ctx context.Context, p *poller, q *request, one panel, panels int) {
	for {
		acted := l.nextAct()
		f := l.console.render(ctx, q, one)
		l.tell(p, acted, f)
		wait := openFactor * f.cost * time.Duration(panels*l.pages())
		select {
		case <-ctx.Done():
			return
		case <-acted:
		case <-time.After(min(max(wait, leastInterval), mostInterval)):
		}
	}
}

// pages returns how many pages are open.
func (l *live) pages() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(1, len(l.pollers))
}

// nextAct returns a channel that is closed at the next change.
func (l *live) nextAct() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acted
}

// forget makes all open pages read again, after a change.
func (l *live) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.acted)
	l.acted = make(chan struct{})
	for _, p := range l.pollers {
		clear(p.current)
	}
}

// tell wakes the viewers of a page, unless there was a change since the read began.
func (l *live) tell(p *poller, acted <-chan struct{}, f fragment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acted != acted {
		return
	}
	p.current[f.ID] = f
	for woken := range p.viewers {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
}
