package gwui

import (
	"encoding/json"
	"log/slog"
	"net/http"
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

	// Logger receives errors. Default: slog.Default().
	Logger *slog.Logger
}

// A Viewer is a user of the console.
type Viewer struct {
	// Name is the name of the user in the audit. Default: no name.
	Name string

	// ReadOnly refuses all actions of this user.
	ReadOnly bool
}
