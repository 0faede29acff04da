package gwui

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/guard"
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

	// Name is the name of the queue in the header and the titles of the pages. Default: the database and the host that the
	// pool connects to, such as app@db.example.com. Set it to the name that operators use.
	Name string

	// Color is the color of the header, one of [Colors], so that users see at once which queue a page shows; red for production,
	// for example. Default: none.
	Color string

	// Links are links to the consoles of other queues, in the header of every page. A link that has the Name of this console
	// is left out, so that all consoles can have the same links. Default: none.
	Links []Link

	// Logger receives errors. Default: slog.Default().
	Logger *slog.Logger
}

// Colors returns the values of [Config.Color].
func Colors() []string { return []string{"red", "orange", "green", "blue", "purple", "gray"} }

// A Link is a link to another console.
type Link struct {
	Name string
	URL  string // absolute, or a path that begins with a slash
}

// withDefaults returns the configuration of a console that connects by the pool.
func (c Config) withDefaults(pool *pgxpool.Pool) Config {
	c.Schema = cmp.Or(c.Schema, "graphile_worker")
	c.Logger = guard.Logger(cmp.Or(c.Logger, slog.Default()))
	if c.Authorize == nil {
		c.Authorize = func(*http.Request) (Viewer, error) { return Viewer{}, nil }
	}
	if c.Name == "" {
		to := pool.Config().ConnConfig
		host := to.Host
		if network, _ := pgconn.NetworkAddress(host, to.Port); network == "unix" {
			host = "localhost"
		}
		c.Name = cmp.Or(to.Database, to.User) + "@" + host
	}
	c.Links = slices.DeleteFunc(slices.Clone(c.Links), func(l Link) bool { return l.Name == c.Name })
	return c
}

// A Viewer is a user of the console.
type Viewer struct {
	// Name is the name of the user in the audit. Default: no name.
	Name string

	// ReadOnly refuses all actions of this user.
	ReadOnly bool
}
