package browser

import (
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// call sends a command to the tab.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatalf("%s: %v", command.Method, err)
	}
}
