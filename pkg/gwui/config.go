package gwui

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
)

// A Config sets what a [Console] shows, and to whom.
type Config struct {
	// Schema is the schema of the queue or, for a role of "gw-migrate grants", the schema for roles, such as
	// graphile_worker_api. Default: graphile_worker.
	Schema string

	// ReadOnly removes all actions: there are no routes for them. Default: false. The console never offers actions for which
	// the pool's role lacks the privileges.
	ReadOnly bool

	// Authorize returns the user who makes a request, or an error, with which the request is answered with 403. It is called
	// for every page and action. Default: every user has the privileges of the pool's role, and no name in the audit.
	Authorize func(*http.Request) (Viewer, error)

	// Hosts are the accepted values of the header Host, with or without a port; other requests are answered with 421. This
	// prevents DNS rebinding, with which web pages of other sites could read the console. Default: every host, for a program
	// that checks this itself.
	Hosts []string

	// Redact returns the part of a payload that is shown. It must not change its argument. The keys of lanes that are a field
	// of the payload are still shown, to roles that may call list_lanes and why. Default: the whole payload.
	Redact func(task string, payload json.RawMessage) json.RawMessage

	// RedactResult returns the part of a result that is shown, as Redact does for payloads. Default: the whole result, or
	// nothing of it if Redact is set.
	RedactResult func(task string, result json.RawMessage) json.RawMessage

	// Name is the name of the queue in the titles of the pages. Default: the schema.
	Name string

	// Consoles are links to the consoles of several queues, in the header of every page. Default: none.
	Consoles []Link

	// Logger receives errors. Default: slog.Default().
	Logger *slog.Logger
}

// A Link is a link from a console to another one, or to a page about several.
type Link struct {
	Name string

	// URL may be relative to the root of the console, such as ../b/.
	URL string

	// IsCurrent marks the link to the console itself.
	IsCurrent bool
}

// consoles returns the links as they are on a page from which the root of the console is at a relative URL.
func (c *Config) consoles(root string) []Link {
	links := make([]Link, len(c.Consoles))
	for i, link := range c.Consoles {
		links[i] = link
		if u, err := url.Parse(link.URL); err == nil && !u.IsAbs() && !strings.HasPrefix(link.URL, "/") {
			links[i].URL = root + link.URL
		}
	}
	return links
}

// A Viewer is a user of the console.
type Viewer struct {
	// Name is the name of the user in the audit. Default: no name.
	Name string

	// ReadOnly refuses all actions of this user.
	ReadOnly bool
}
