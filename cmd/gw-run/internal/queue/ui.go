package queue

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	_ "time/tzdata" // for the time zones that users choose, where the system has none

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/console"
	"github.com/gwsql/gw/internal/stop"
)

const uiHelp = `Serves the console: web pages that show jobs, tasks, queues, workers and recurring jobs, and offer actions on them.

The privileges of the database role decide what the console shows and offers. In the schema of gw-migrate grants, such as
graphile_worker_api, a monitor gets no payloads and no actions, and an admin gets both. With --read-only there are no
actions. Each action is recorded with the name of its user; see the page Audit.

Where several databases have queues, each has its console: --name says in the header which one it is, and --link, which
all of them can share, leads to the others. --color red marks production.

The console listens on a loopback address. Any other address requires --auth-file, a file of names and passwords as
htpasswd -B writes it, or --user-header, behind a proxy that authenticates users, removes this header from requests, and
sets it itself. In both cases, use TLS. All links are relative, so a proxy may remove a prefix from the paths; --prefix is
for one that does not. It must pass the header Host on. Requests for hosts other than localhost and --host are refused.

gw-run --ui serves the console beside a worker.`

const uiExamples = `  gw-run ui
  gw-run ui --name eu --link eu=https://queue-eu.example.com --link us=https://queue-us.example.com
  gw-run ui --connection postgres:///app --http 127.0.0.1:8080 --read-only
  gw-run ui --http :9465 --auth-file /etc/gw.htpasswd --host queue.example.com`

func newUICommand(env cli.Env) *cobra.Command {
	var (
		d cli.Database
		o console.Options
	)
	cmd := &cobra.Command{
		Use:     "ui",
		Short:   "Serve the console, to watch and manage the queue in a browser",
		Long:    uiHelp,
		Example: uiExamples,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := d.Complete(env.Getenv); err != nil {
				return err
			}
			o.Schema, o.Operator = d.Schema, cli.Operator()
			if err := o.Check(); err != nil {
				return cli.AsUsage(err)
			}
			o.Logger = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			ctx, _, release := env.Stops.Begin(cmd.Context(), stop.Hangup()...)
			defer release()
			return serveUI(ctx, d, o, cmd.OutOrStdout())
		},
	}
	d.AddFlags(cmd.Flags(), env.Getenv)
	cmd.Flags().StringVar(&o.Address, "http", console.DefaultAddress, "`address` to listen on")
	o.AddFlags(cmd.Flags())
	cmd.Flags().SortFlags = false
	return cmd
}

// serveUI serves the console until ctx ends.
func serveUI(ctx context.Context, d cli.Database, o console.Options, out io.Writer) error {
	config, err := d.Pool()
	if err != nil {
		return err
	}
	config.MaxConns = console.Connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("open connection pool: %w", err)
	}
	defer pool.Close()
	if err := pool.Ping(ctx); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	server, err := console.Serve(pool, o)
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
