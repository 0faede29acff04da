package gwui

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	leastInterval = 2 * time.Second  // between two looks for an open page
	mostInterval  = time.Minute      // at the most, however expensive a look is
	openFactor    = 100              // how many times as long as it took
	streamTime    = 10 * time.Minute // after which the browser connects again, and is authorized again
	writeTime     = 10 * time.Second // for a browser to take an event
	mostStreams   = 500              // that are open at once
)

// live keeps open pages up to date. Viewers of the same page with the same rights share one poller.
type live struct {
	console *Console
	mu      sync.Mutex
	pollers map[string]*poller
	open    int
}

// poller looks at one page again and again, as long as somebody views it.
type poller struct {
	viewers map[chan struct{}]bool // woken after each look
	current []fragment
	end     context.CancelFunc
}

func newLive(c *Console) *live { return &live{console: c, pollers: make(map[string]*poller)} }

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
		w.WriteHeader(http.StatusNoContent) // which tells the browser not to try again
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
	s := &stream{writer: w, control: http.NewResponseController(w), sent: make(map[string]string)}
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
	writer  http.ResponseWriter
	control *http.ResponseController
	sent    map[string]string
}

// send sends the fragments that have changed, or an empty comment, which tells whether the viewer is still there.
func (s *stream) send(current []fragment) error {
	changed := make(map[string]string)
	for _, f := range current {
		if html := string(f.HTML); s.sent[f.ID] != html {
			changed[f.ID], s.sent[f.ID] = html, html
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
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTime)) // a server that cannot has limits of its own
	if _, err := s.writer.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}

// liveKey is what the viewers of one poller have in common.
func liveKey(q *request) string { return fmt.Sprintf("%s?%s %t", q.path, q.query.Encode(), q.acts) }

func (l *live) join(q *request, v *view) (chan struct{}, *poller, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= mostStreams {
		return nil, nil, fmt.Errorf("there are %d open pages, and no more are kept up to date", mostStreams)
	}
	l.open++
	key := liveKey(q)
	p := l.pollers[key]
	if p == nil {
		ctx, end := context.WithCancel(l.console.ctx)
		p = &poller{viewers: make(map[chan struct{}]bool), end: end}
		l.pollers[key] = p
		go l.poll(ctx, p, q, v)
	}
	woken := make(chan struct{}, 1)
	p.viewers[woken] = true
	if p.current != nil {
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

func (l *live) look(p *poller) []fragment {
	l.mu.Lock()
	defer l.mu.Unlock()
	return p.current
}

// poll looks at a page until its last viewer has left. All open pages together cost about a hundredth of a core: the longer a
// panel took, the more panels a page has, and the more pages are open, the later it is looked at again.
func (l *live) poll(ctx context.Context, p *poller, q *request, v *view) {
	var moving []panel
	for _, panel := range v.panels {
		if !panel.still {
			moving = append(moving, panel)
		}
	}
	due := make([]time.Time, len(moving))
	current := make([]fragment, len(moving))
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(leastInterval):
		}
		looked := false
		for i := range moving {
			began := time.Now()
			if began.Before(due[i]) {
				continue
			}
			current[i] = l.console.render(ctx, q, moving[i:i+1])[0]
			looked = true
			ended := time.Now()
			due[i] = ended.Add(min(openFactor*ended.Sub(began)*time.Duration(len(moving)*l.pages()), mostInterval))
		}
		if looked {
			l.tell(p, slices.Clone(current))
		}
	}
}

// pages returns how many pages are open.
func (l *live) pages() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(1, len(l.pollers))
}

// tell wakes the viewers of a page.
func (l *live) tell(p *poller, current []fragment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.current = current
	for woken := range p.viewers {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
}
