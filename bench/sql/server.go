package main

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

// settings are those of the server: durable, as a server is run, except that a commit does not wait for the disk, for what
// is compared are statements, and that pages are not logged in full after a checkpoint, which would go to the account of
// whoever touches them first. Scenarios say where they differ.
var settings = map[string]string{
	"fsync":              "on",
	"synchronous_commit": "off",
	"full_page_writes":   "off",
	"shared_buffers":     "1GB",
	"max_wal_size":       "16GB", // no checkpoint but those that are asked for
	"checkpoint_timeout": "1d",
	"max_connections":    "200",
}

// A server is a private PostgreSQL with the contenders' templates in it.
type server struct {
	process *pgtemp.Server
	admin   *pgx.Conn
	version string
	made    int // databases so far
}

// startServer starts a server from the binaries in a folder, or from those that are found if it is empty.
func startServer(ctx context.Context, binDir string, quick bool) (_ *server, err error) {
	chosen := maps.Clone(settings)
	if quick {
		chosen["fsync"] = "off"
	}
	process, err := pgtemp.Start(ctx, pgtemp.Options{BinDir: binDir, LocalOnly: true, Settings: chosen})
	if err != nil {
		return nil, err
	}
	s := &server{process: process}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop(ctx))
		}
	}()
	if s.admin, err = pgx.Connect(ctx, s.url("postgres")); err != nil {
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	err = s.admin.QueryRow(ctx, "select split_part(current_setting('server_version'), ' ', 1)").Scan(&s.version)
	if err != nil {
		return nil, fmt.Errorf("ask for the version: %w", err)
	}
	return s, installOurs(ctx, s)
}

// major is the major version.
func (s *server) major() string {
	major, _, _ := strings.Cut(s.version, ".")
	return major
}

func (s *server) stop(ctx context.Context) error {
	var err error
	if s.admin != nil {
		err = s.admin.Close(ctx)
	}
	return errors.Join(err, s.process.Stop())
}

func (s *server) url(database string) string { return s.process.URL(database) }

func (s *server) exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	tag, err := s.admin.Exec(ctx, sql, args...)
	if err != nil {
		err = fmt.Errorf("%s: %w", sql, err)
	}
	return tag, err
}

// connect opens a session of a database.
func (s *server) connect(ctx context.Context, database string) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, s.url(database))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", database, err)
	}
	return conn, nil
}

// addTasks names the tasks of the benchmark in a database.
func (s *server) addTasks(ctx context.Context, database string) (err error) {
	conn, err := s.connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, "insert into "+schema+"._private_tasks (identifier) select unnest($1::text[])", tasks)
	if err != nil {
		return fmt.Errorf("name the tasks: %w", err)
	}
	return nil
}

// with changes settings of the whole server, other than those above, while do runs.
func (s *server) with(ctx context.Context, changed map[string]string, do func() error) (err error) {
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		if err := s.alter(ctx, name, changed[name]); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.alter(context.WithoutCancel(ctx), name, "")) }()
	}
	return do()
}

// alter sets a setting; an empty value takes it back.
func (s *server) alter(ctx context.Context, name, value string) error {
	sql := "alter system reset " + name
	if value != "" {
		sql = "alter system set " + name + " = '" + value + "'"
	}
	if _, err := s.exec(ctx, sql); err != nil {
		return err
	}
	_, err := s.exec(ctx, "select pg_reload_conf()")
	return err
}
