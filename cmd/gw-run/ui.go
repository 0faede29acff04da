package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/console"
	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/pkg/shard"
)

const uiHelp = `Serves the console: web pages that show jobs, tasks, queues, workers and recurring jobs, and offer actions on them.

The privileges of the database role decide what the console shows and offers. In the schema of gw-migrate grants, such as
graphile_worker_api, a monitor gets no payloads and no actions, and an admin gets both. With --read-only there are no
actions. Each action is recorded with the name of its user; see the page Audit.

The console listens on a loopback address. Any other address requires --auth-file, a file of names and passwords as
htpasswd -B writes it, or --user-header, behind a proxy that authenticates users, removes this header from requests, and
sets it itself. In both cases, use TLS. Requests for hosts other than localhost and --host are refused.

With --shards it shows all shards, and with --shard one of them. gw-run --ui serves the console beside a worker.`

const uiExamples = `  gw-run ui
  gw-run ui --connection postgres:///app --http 127.0.0.1:8080 --read-only
  gw-run ui --shards map.yaml
  gw-run ui --http :9465 --auth-file /etc/gw.htpasswd --host queue.example.com`

func newUICommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	var (
		d database
		o console.Options
	)
	cmd := &cobra.Command{
		Use:     "ui",
		Short:   "Serve the console, to watch and manage the queue in a browser",
		Long:    uiHelp,
		Example: uiExamples,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Schema = d.schema
			if err := o.Check(); err != nil {
				return usageError{err}
			}
			o.Logger = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			serve := serveUI
			if path := cmd.Flag("shards").Value.String(); path != "" { // without --shard, see newFan
				shards, err := config.LoadShards(path, getenv)
				if err == nil && d.schema == "" {
					err = usageError{errors.New("--schema is empty")}
				}
				if err != nil {
					return err
				}
				serve = func(ctx context.Context, d database, o console.Options, out io.Writer) error {
					return serveUIOfShards(ctx, d, *shards, o, out)
				}
			} else if err := d.complete(getenv); err != nil {
				return usageError{err}
			}
			ctx, _, release := stops.Begin(cmd.Context(), stop.Hangup()...)
			defer release()
			return serve(ctx, d, o, cmd.OutOrStdout())
		},
	}
	d.addFlags(cmd.Flags(), getenv)
	cmd.Flags().StringVar(&o.Address, "http", console.DefaultAddress, "`address` to listen on")
	o.AddFlags(cmd.Flags())
	cmd.Flags().SortFlags = false
	return cmd
}

// serveUI serves the console until ctx ends.
func serveUI(ctx context.Context, d database, o console.Options, out io.Writer) error {
	pool, err := d.uiPool(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := pool.Ping(ctx); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	server, err := console.Serve(pool, o)
	return awaitUI(ctx, server, err, out)
}

// serveUIOfShards serves the consoles of all shards until ctx ends. A shard that is away is shown as such.
func serveUIOfShards(ctx context.Context, d database, of shard.Map, o console.Options, out io.Writer) error {
	var shards []console.Shard
	for _, s := range of.Shards {
		var err error
		if d.connection, err = connection.Find(s.Connection, "connection", func(string) string { return "" }); err != nil {
			return fmt.Errorf("shard %s: %w", s.Name, err)
		}
		pool, err := d.uiPool(ctx)
		if err != nil {
			return fmt.Errorf("shard %s: %w", s.Name, err)
		}
		defer pool.Close()
		shards = append(shards, console.Shard{Name: s.Name, Pool: pool})
	}
	server, err := console.ServeShards(shards, o)
	return awaitUI(ctx, server, err, out)
}

// uiPool returns a pool for a console. It does not connect yet.
func (d *database) uiPool(ctx context.Context) (*pgxpool.Pool, error) {
	config, err := d.pool()
	if err != nil {
		return nil, err
	}
	config.MaxConns = console.Connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open connection pool: %w", err)
	}
	return pool, nil
}

// awaitUI prints where the console is and waits until ctx ends.
func awaitUI(ctx context.Context, server *console.Server, err error, out io.Writer) error {
	if err != nil {
		return err
	}
	defer server.Close()
	if _, err := fmt.Fprintf(out, "Console: %s\n", server.URL()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
