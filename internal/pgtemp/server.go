// Package pgtemp starts a temporary PostgreSQL server: for a demo on a machine without one, and for tests.
//
// The server runs from local binaries, otherwise in Docker, otherwise from binaries downloaded once into the user's
// cache. As PostgreSQL refuses to run as root, root starts it as another user. Only the process that started it can
// connect, unless it runs in Docker, where it has a password. The server does not keep its data across a crash, and it
// ends with the process that started it, however that process ends.
//
// No library does all of this. github.com/fergusstrange/embedded-postgres v1.34.0 takes local binaries or one repository
// of binaries, but as root its initdb refuses to run, it does not know Docker, and its server, a child of pg_ctl, stays
// when the program is killed. github.com/testcontainers/testcontainers-go v0.45.0 and github.com/ory/dockertest/v3
// v3.12.0 need Docker.
package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// startTimeout is the maximum time from the launch of a server to its first accepted connection.
	startTimeout = time.Minute
	// stopTimeout is the maximum time that a server may take to stop before it is killed.
	stopTimeout = 10 * time.Second
)

// Options are the sources and settings of a server. The zero value allows any source.
type Options struct {
	// BinDir is the folder with initdb and postgres. Default: the first of those found by pg_config, in PATH and in the
	// usual folders of packages, the newest version first. Set it to choose among several installed versions.
	BinDir string

	// LocalOnly excludes Docker and downloads. Default: both are allowed. Set it where neither may happen without
	// consent.
	LocalOnly bool

	// Settings are server settings by name, such as max_connections. They take precedence over our own. Default: none.
	Settings map[string]string

	// Dir is the folder in which the server's own folder is created. Default: the folder of temporary files. [InMemory]
	// is several times as fast, especially for creating databases.
	Dir string

	// CacheDir is the folder for downloaded binaries. Default: gw in the user's cache folder, for root /var/cache/gw.
	CacheDir string

	// Mirror is the URL, http or https, of the Maven repository that downloads come from. Default: Maven Central.
	Mirror string

	// Log receives a line about the source of the server before any slow step, and a line every few seconds during a
	// slow step; on a terminal these lines overwrite each other. Default: no output.
	Log io.Writer

	status *status // writes to Log
}

// Server is a running PostgreSQL with the superuser postgres. Its methods may be called from several goroutines.
type Server struct {
	address url.URL // of a connection, without the database
	stop    func() error
	cluster *cluster // nil with Docker
}

// Start starts a server and returns when it accepts connections. ctx applies to the start only; the server runs until
// Stop, or until this process ends. The error is a [NoServerError] if no source has a server.
func Start(ctx context.Context, o Options) (*Server, error) {
	sources := []source{
		{"local binaries", "install PostgreSQL's server (" + installCommand() + ")", startLocal},
		{"Docker", "start Docker", startDocker},
		{"download", "", startFetched},
	}
	if o.LocalOnly {
		sources = sources[:1]
	}
	if o.Log == nil {
		o.Log = io.Discard
	} else {
		o.status = newStatus(o.Log)
		defer o.status.end()
		o.Log = o.status
	}
	server, err := startFirst(ctx, o, sources)
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	return server, nil
}

// A source is one way to get a server, with the remedy if it is not available.
type source struct {
	name   string
	remedy string
	start  func(context.Context, Options) (*Server, error)
}

// unavailable is the error of a source that this machine does not have. Any other error ends the search.
type unavailable string

func (u unavailable) Error() string { return string(u) }

func startFirst(ctx context.Context, o Options, sources []source) (*Server, error) {
	var missing NoServerError
	for _, s := range sources {
		server, err := s.start(ctx, o)
		if err == nil {
			return server, nil
		}
		absent, ok := errors.AsType[unavailable](err)
		if !ok {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		missing.add(s, absent)
	}
	return nil, missing
}

// URL returns the URL of a database of this server, for pgx and psql alike. The database need not exist.
func (s *Server) URL(database string) string {
	u := s.address
	u.Path = "/" + database
	return u.String()
}

// Stop stops the server, ends its connections and removes its files. Later calls return the result of the first.
func (s *Server) Stop() error { return s.stop() }

// newServer waits until the server at address accepts a connection, see [WaitReady]. On failure it calls stop.
func newServer(ctx context.Context, address url.URL, exited <-chan struct{}, stop func() error) (*Server, error) {
	server := &Server{address: address, stop: sync.OnceValue(stop)}
	if err := WaitReady(ctx, server.URL("postgres"), exited); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return server, nil
}

// WaitReady waits until the server at a URL accepts a connection. exited, if not nil, is closed when its process has
// ended.
func WaitReady(ctx context.Context, databaseURL string, exited <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		conn, err := pgconn.Connect(ctx, databaseURL)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the first connection: %w", errors.Join(ctx.Err(), err))
		case <-exited:
			return errors.New("wait for the first connection: the server ended")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// NoServerError is the error of [Start] if no source has a server. Its text is one paragraph: the reason of each
// source, then the remedies. The caller can append further remedies after a semicolon.
type NoServerError struct {
	reasons  []string
	remedies []string
}

func (e NoServerError) Error() string {
	return "no server found: " + strings.Join(e.reasons, "; ") +
		". Do one of the following: " + strings.Join(e.remedies, "; ")
}

// add records why a source has no server.
func (e *NoServerError) add(s source, why unavailable) {
	e.reasons = append(e.reasons, s.name+": "+strings.Join(strings.Fields(string(why)), " "))
	if s.remedy != "" {
		e.remedies = append(e.remedies, s.remedy)
	}
}

// installCommand returns the command that installs the server with the package manager of this machine.
func installCommand() string {
	commands := []struct{ manager, install string }{
		{"apt-get", "apt-get install postgresql"},
		{"dnf", "dnf install postgresql-server"},
		{"apk", "apk add postgresql"},
		{"pacman", "pacman -S postgresql"},
		{"zypper", "zypper install postgresql-server"},
		{"brew", "brew install postgresql@17"},
	}
	for _, c := range commands {
		if _, err := exec.LookPath(c.manager); err == nil {
			return c.install
		}
	}
	return "on Debian and Ubuntu: apt-get install postgresql; on macOS: brew install postgresql@17"
}
