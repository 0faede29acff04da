package gwui

import (
	"encoding/json"
	"log/slog"
	"net/http"
)

// A Config says what a [Console] shows, to whom.
type Config struct {
	// Schema is the schema of the queue, or for a role of "gw-migrate grants" that of its functions, such as
	// graphile_worker_api. Default: graphile_worker.
	Schema string

	// ReadOnly leaves out everything that acts: there are no routes for it. Default: false. What the pool's role may not do,
	// the console does not offer in any case.
	ReadOnly bool

	// Authorize returns who makes a request, or an error, which answers it with 403. It is called for every page and
	// action. Default: everybody may do what the pool's role may, and is nobody in the audit.
	Authorize func(*http.Request) (Viewer, error)

	// Hosts are the values of the header Host that are served, with or without a port; others get 421. It keeps web pages of
	// other sites that let their name point at this server (DNS rebinding) from reading it. Default: every host, for
	// a program that checks this itself.
	Hosts []string

	// Redact returns what is shown of a payload. It must not change its argument. The keys of lanes by a field of the payload
	// are shown nevertheless, to roles that may call list_lanes and why. Default: all of it.
	Redact func(task string, payload json.RawMessage) json.RawMessage

	// Logger receives what goes wrong. Default: slog.Default().
	Logger *slog.Logger
}

// A Viewer is who looks at the console.
type Viewer struct {
	// Name is who acts, for the audit. Empty: nobody in particular.
	Name string

	// ReadOnly refuses actions of this viewer.
	ReadOnly bool
}
