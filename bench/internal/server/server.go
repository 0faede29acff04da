// Package server runs a private PostgreSQL for a benchmark, with databases that are copies of templates.
package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/pgtemp"
)

// stock are settings that make a private server equal to one that PostgreSQL's packages install, by undoing what a
// temporary server sets to be fast. The only difference is that there are enough connections for all contenders.
var stock = map[string]string{
	"fsync":              "on",
	"synchronous_commit": "on",
	"full_page_writes":   "on",
	"max_connections":    "500",
}

// A Server is a private PostgreSQL.
type Server struct {
	// Admin is a session in the database postgres.
	Admin *pgx.Conn

	// Version is the version that the server reports, such as 15.18.
	Version string

	process  *pgtemp.Server
	settings map[string]string
	made     int // number of databases created
}

// Start starts a server from the binaries in a folder, or from those that are found if binDir is empty, with default
// settings except for the changed ones. If quick is true it runs without fsync.
func Start(ctx context.Context, binDir string, changed map[string]string, quick bool) (*Server, error) {
	settings := maps.Clone(stock)
	maps.Copy(settings, changed)
	if quick {
		settings["fsync"] = "off"
	}
	process, err := pgtemp.Start(ctx, pgtemp.Options{BinDir: binDir, LocalOnly: true, Settings: settings})
	if err != nil {
		return nil, err
	}
	s, err := Take(ctx, process)
	if err != nil {
		return nil, err
	}
	s.settings = settings
	return s, nil
}

// Take returns a Server for a running server, which it takes over.
func Take(ctx context.Context, process *pgtemp.Server) (_ *Server, err error) {
	s := &Server{process: process}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop(ctx))
		}
	}()
	if s.Admin, err = pgx.Connect(ctx, s.URL("postgres")); err != nil {
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	err = s.Admin.QueryRow(ctx, "select split_part(current_setting('server_version'), ' ', 1)").Scan(&s.Version)
	if err != nil {
		return nil, fmt.Errorf("ask for the version: %w", err)
	}
	return s, nil
}

// Major returns the major version.
func (s *Server) Major() string {
	major, _, _ := strings.Cut(s.Version, ".")
	return major
}

// Stop stops the server and removes its files.
func (s *Server) Stop(ctx context.Context) error {
	var err error
	if s.Admin != nil {
		err = s.Admin.Close(ctx)
	}
	return errors.Join(err, s.process.Stop())
}

// URL returns the URL of a database, which need not exist.
func (s *Server) URL(database string) string { return s.process.URL(database) }

// Exec runs a statement in the database postgres.
func (s *Server) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	tag, err := s.Admin.Exec(ctx, sql, args...)
	if err != nil {
		err = fmt.Errorf("%s: %w", sql, err)
	}
	return tag, err
}

// Connect opens a session in a database.
func (s *Server) Connect(ctx context.Context, database string) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, s.URL(database))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", database, err)
	}
	return conn, nil
}

// Settings describes the chosen settings with their values on the server.
func (s *Server) Settings(ctx context.Context) (string, error) {
	var chosen []string
	for _, name := range slices.Sorted(maps.Keys(s.settings)) {
		var value string
		if err := s.Admin.QueryRow(ctx, "select current_setting($1)", name).Scan(&value); err != nil {
			return "", fmt.Errorf("ask for the settings: %w", err)
		}
		chosen = append(chosen, name+" "+value)
	}
	return strings.Join(chosen, ", "), nil
}

// With changes further settings of the whole server while do runs.
func (s *Server) With(ctx context.Context, changed map[string]string, do func() error) (err error) {
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		if err := s.alter(ctx, name, changed[name]); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.alter(context.WithoutCancel(ctx), name, "")) }()
	}
	return do()
}

// alter sets a setting; an empty value resets it.
func (s *Server) alter(ctx context.Context, name, value string) error {
	sql := "alter system reset " + name
	if value != "" {
		sql = "alter system set " + name + " = '" + value + "'"
	}
	if _, err := s.Exec(ctx, sql); err != nil {
		return err
	}
	_, err := s.Exec(ctx, "select pg_reload_conf()")
	return err
}
