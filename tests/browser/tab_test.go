package browser

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
)

// program is the browser.
const program = "chromium-headless-shell"

// patience is how long a test waits for what must happen in a page.
const patience = 3 * time.Minute

// shared is the browser of all tests that run now: to start one costs more than most tests.
var shared struct {
	mu    sync.Mutex
	users int
	ctx   context.Context
	end   context.CancelFunc
}

// browser returns the browser, which ends with the last test that uses it.
func browser(t *testing.T) context.Context {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.users == 0 {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Fatalf("%v; Debian's package of this name has it", err)
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(path))
		allocated, end := chromedp.NewExecAllocator(context.Background(), options...)
		shared.ctx, _ = chromedp.NewContext(allocated) // ends with allocated
		shared.end = end
		if err := chromedp.Do(shared.ctx, chromedp.Navigate("about:blank")); err != nil {
			end()
			t.Fatal(err)
		}
	}
	shared.users++
	t.Cleanup(func() {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		if shared.users--; shared.users == 0 {
			shared.end()
		}
	})
	return shared.ctx
}

// tab is a tab of the browser, with the console of a queue of its own.
type tab struct {
	t    *testing.T
	ctx  context.Context
	pool *pgxpool.Pool
	url  string

	mu       sync.Mutex
	mistakes []string // what a page must not do
}

// links returns links to the consoles of so many other queues.
func links(count int) (all []gwui.Link) {
	for n := range count {
		all = append(all, gwui.Link{Name: fmt.Sprint("app@db-", n, ".example.com"), URL: fmt.Sprintf("https://queue-%d.example.com", n)})
	}
	return all
}

// open opens a tab for a console. What its pages must not do fails the test: errors in the console of the browser, breaches of
// the Content-Security-Policy, and requests to anybody else.
func open(t *testing.T) *tab {
	t.Helper()
	pool := pgtest.Pool(t, pgtest.Database(t))
	console, err := gwui.New(pool, gwui.Config{Name: strings.Repeat("name", 20), Links: links(12), Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(console)
	t.Cleanup(server.Close)
	t.Cleanup(console.Close)
	b := openAt(t, server.URL+"/")
	b.pool = pool
	return b
}

// openAt opens a tab for the console at a URL.
func openAt(t *testing.T, url string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser(t))
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 15*time.Minute)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, url: url}
	b.do(chromedp.Navigate("about:blank"))
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, cdplog.Enable, cdp.Empty{})
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, mistake := range b.mistakes {
			t.Error(mistake)
		}
	})
	return b
}

// hear notes what a page must not do.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *cdplog.EventEntryAdded:
		if slices.Contains([]string{"error", "warning"}, string(e.Entry.Level)) {
			b.mistakes = append(b.mistakes, "the browser logs: "+e.Entry.Text+" "+e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		b.mistakes = append(b.mistakes, "a script fails: "+e.ExceptionDetails.Text)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, b.url) && e.Request.URL != "about:blank" {
			b.mistakes = append(b.mistakes, "a page asks for "+e.Request.URL)
		}
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// visit opens a page, again until it has all its panels.
func (b *tab) visit(path string) {
	b.t.Helper()
	for ended := time.Now().Add(patience); ; {
		b.do(chromedp.Navigate(b.url + path))
		if !eval[bool](b, "!!document.querySelector('.late')") {
			return
		}
		if time.Now().After(ended) {
			b.t.Fatalf("%q still lacks a panel: %s", path, eval[string](b, "document.body.innerText"))
		}
	}
}

// eval returns the value of an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// await waits until an expression is true. It looks again and again, for pages come and go meanwhile.
func (b *tab) await(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && is {
			return
		}
		if ctx.Err() != nil {
			b.t.Fatalf("still not true: %s (%v); the page is %s", expression, err, eval[string](b, "document.body.innerText"))
		}
		<-again.C
	}
}

// press presses keys, one after the other.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// forced are the colors of a browser that shows all pages in those of its user.
const forced = "forced"

// look sets the width of the window, and the colors that the browser prefers or forces.
func (b *tab) look(width int64, colors string) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 800, DeviceScaleFactor: 1})
	feature := &emulation.MediaFeature{Name: "prefers-color-scheme", Value: colors}
	if colors == forced {
		feature = &emulation.MediaFeature{Name: "forced-colors", Value: "active"}
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{feature}})
}
