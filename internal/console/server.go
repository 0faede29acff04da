// Package console serves the pages of pkg/gwui over HTTP for gw-run: on which address, for whom, under which names.
package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/gwui"
)

const (
	headerTimeout = 10 * time.Second // for a browser to send the headers of a request
	idleTimeout   = 2 * time.Minute
	closeTimeout  = 5 * time.Second // for answers under way when the console ends
	maxHeader     = 64 << 10        // bytes
)

// A Server serves the console. Make it with [Serve].
type Server struct {
	console *gwui.Console
	server  *http.Server
	address net.Addr
	prefix  string
}

// Serve serves the console of a queue in the background until Close. The options have been checked.
func Serve(pool *pgxpool.Pool, o Options) (*Server, error) {
	cfg := gwui.Config{Schema: o.Schema, ReadOnly: o.ReadOnly, Hosts: o.hosts(), Name: o.Name, Color: string(o.Color),
		Links: o.Links, Logger: o.Logger}
	ask := func(next http.Handler) http.Handler { return next }
	switch {
	case o.AuthFile != "":
		known, err := readPasswords(o.AuthFile)
		if err != nil {
			return nil, err
		}
		cfg.Authorize, ask = known.viewer, known.ask
	case o.UserHeader != "":
		cfg.Authorize = byHeader(o.UserHeader)
	case o.Operator != "":
		cfg.Authorize = func(*http.Request) (gwui.Viewer, error) { return gwui.Viewer{Name: o.Operator}, nil }
	}
	console, err := gwui.New(pool, cfg)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", o.address())
	if err != nil {
		return nil, fmt.Errorf("serve the console: %w", err)
	}
	s := &Server{console: console, address: listener.Addr(), prefix: o.Prefix, server: &http.Server{
		Handler:           ask(under(o.Prefix, console)),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
	}}
	go func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			o.Logger.Error("console stopped", "error", err)
		}
	}()
	return s, nil
}

// URL returns where the console is.
func (s *Server) URL() string { return "http://" + s.address.String() + s.prefix + "/" }

// under serves a handler under a prefix of paths, to which / leads.
func under(prefix string, next http.Handler) http.Handler {
	if prefix == "" {
		return next
	}
	mux := http.NewServeMux()
	mux.Handle(prefix+"/", http.StripPrefix(prefix, next))
	mux.Handle("/{$}", http.RedirectHandler(prefix+"/", http.StatusSeeOther))
	return mux
}

// Close ends the console: streams at once, operations after the step under way.
func (s *Server) Close() {
	s.console.Close()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close() // what is left is of browsers that do not read
	}
}
