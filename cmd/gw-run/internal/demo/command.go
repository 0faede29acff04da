// Package demo is gw-run demo, which shows the queue at work.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/pgtemp"
	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/pkg/migrate"
)

const demoHelp = `Shows the queue at work. Without a database the demo starts a private PostgreSQL, which is deleted when the demo
ends: from server binaries on this machine, with Docker, or from binaries that it downloads once, in this order.

The demo installs the queue, starts a worker, adds jobs with SQL and with a trigger, and prints a line for each job that
has run: its task, its id, and the time from when it was added, or due, to its start. Then it runs the jobs that you add,
until Ctrl-C, and serves the console, which shows the queue in a browser (see gw-run ui): the jobs of a small shop, whose
payments fail at times, whose carriers are slow, and which makes a report each minute. With --once it ends after its own
jobs.

In a given database the demo removes everything at its end except the schema of the queue. If the schema already contains
a queue, the demo fails without changing anything. With --existing it uses that queue: it adds its jobs there, and its
worker runs every job of the task "hello"; there is no shop.

PostgreSQL is downloaded from Maven Central, or from the Maven repository that --mirror or GW_POSTGRES_MIRROR gives.
HTTPS_PROXY and NO_PROXY apply.`

// mirrorVariable is the environment variable with the default of --mirror.
const mirrorVariable = "GW_POSTGRES_MIRROR"

// demoConnectTimeout is the timeout of the connection to a given database. It is short because the demo prints nothing
// while it connects.
const demoConnectTimeout = 10 * time.Second

// NewCommand returns the command.
func NewCommand(env cli.Env) *cobra.Command {
	d := &demo{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the queue at work, with a PostgreSQL of its own if none is given",
		Long:  demoHelp,
		Example: `  gw-run demo
  gw-run demo --once --connection postgres:///scratch
  gw-run demo --mirror https://maven.example.com/central`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.out = cmd.OutOrStdout()
			d.log = newDemoLogger(cmd.ErrOrStderr())
			ctx, hard, release := env.Stops.Begin(cmd.Context(), stop.Hangup()...)
			defer release()
			return stop.Explain(ctx, d.run(ctx, hard, env.Getenv))
		},
	}
	d.database.AddFlags(cmd.Flags(), env.Getenv)
	cmd.Flags().BoolVar(&d.once, "once", false, "exit when the demo's own jobs have run")
	cmd.Flags().BoolVar(&d.existing, "existing", false, "use a queue that exists already")
	cmd.Flags().StringVar(&d.mirror, "mirror", "", "`URL` of the Maven repository to download PostgreSQL from (default "+mirrorVariable+", or Maven Central)")
	return cmd
}

// newDemoLogger returns a logger for a terminal, without the time, the worker's id and the stream.
func newDemoLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, attr slog.Attr) slog.Attr {
			if len(groups) == 0 && slices.Contains([]string{slog.TimeKey, "worker_id", "stream"}, attr.Key) {
				return slog.Attr{}
			}
			return attr
		},
	}))
}

// run finds or starts the database and runs the demo in it.
func (d *demo) run(ctx, hard context.Context, getenv func(string) string) error {
	source := connectionSource(d.database.Connection, getenv)
	found, err := connection.FromFlag(d.database.Connection, getenv)
	if errors.Is(err, connection.ErrNone) {
		return d.runPrivately(ctx, hard, cmp.Or(d.mirror, getenv(mirrorVariable)))
	}
	if err != nil {
		return cli.AsUsage(err)
	}
	d.database.Connection = found
	return d.runIn(ctx, hard, source)
}

// connectionSource returns the name of the flag or variables that give the database.
func connectionSource(flag string, getenv func(string) string) string {
	switch {
	case flag != "":
		return "--connection"
	case getenv("DATABASE_URL") != "":
		return "DATABASE_URL"
	default:
		return "PGHOST, PGDATABASE or PGSERVICE"
	}
}

// runPrivately runs the demo on a server of its own.
func (d *demo) runPrivately(ctx, hard context.Context, mirror string) error {
	if mirror != "" {
		if _, err := pgtemp.ParseMirror(mirror); err != nil {
			return cli.Usagef("read --mirror or %s: %w", mirrorVariable, err)
		}
	}
	server, err := pgtemp.Start(ctx, pgtemp.Options{Log: d.out, Mirror: mirror})
	if _, isMissing := errors.AsType[pgtemp.NoServerError](err); isMissing {
		return fmt.Errorf("%w; give the demo a database with --connection or DATABASE_URL; give a Maven repository that this machine "+
			"can reach with --mirror or %s", err, mirrorVariable)
	}
	if err != nil {
		return err
	}
	d.database.Connection = server.URL("postgres")
	err = d.install(ctx, "")
	if err == nil {
		err = d.play(ctx, hard, d.database.Connection)
	}
	return errors.Join(err, server.Stop())
}

// runIn runs the demo in the database that the flag or variable source gives.
func (d *demo) runIn(ctx, hard context.Context, source string) error {
	psqlURL, err := urlWithoutPassword(d.database)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "Database: %s (from %s), schema %s\n", psqlURL, source, d.database.Schema)
	if err := d.install(ctx, source); err != nil {
		return err
	}
	err = d.play(ctx, hard, psqlURL)
	if !d.existing {
		fmt.Fprintf(d.out, "The queue stays in the database. To remove it: drop schema %s cascade\n", d.quotedSchema())
	}
	return err
}

// install installs the queue. If the schema already contains a queue, install returns an error, or with d.existing leaves the
// queue as it is.
func (d *demo) install(ctx context.Context, source string) error {
	config, err := d.database.Pool()
	if err != nil {
		return err
	}
	config.ConnConfig.ConnectTimeout = min(config.ConnConfig.ConnectTimeout, demoConnectTimeout)
	migrator, err := migrate.New(config.ConnConfig, migrate.Config{Schema: d.database.Schema})
	if err != nil {
		return err
	}
	status, err := migrator.Status(ctx)
	if _, isUnreachable := errors.AsType[*pgconn.ConnectError](err); isUnreachable && source != "" {
		return fmt.Errorf("%w; without %s, the demo starts a private server", err, source)
	}
	if err != nil {
		return err
	}
	if err := d.accept(status, source); err != nil {
		return err
	}
	_, err = migrator.Up(ctx)
	return err
}

// accept returns an error for a queue that the demo must not use. A schema with something else in it is refused by Up.
func (d *demo) accept(status migrate.Status, source string) error {
	switch status.State {
	case migrate.Absent, migrate.Empty, migrate.Foreign:
		return nil
	}
	if !d.existing {
		return fmt.Errorf("schema %s already contains a queue, which the demo does not touch: choose another schema with --schema, "+
			"use this queue with --existing, or omit %s, so that the demo starts a private server", d.quotedSchema(), source)
	}
	if status.State == migrate.Behind {
		return fmt.Errorf("the queue in schema %s is older than this program; gw-migrate upgrades it, the demo does not", d.quotedSchema())
	}
	return nil
}

// urlWithoutPassword returns a URL of the database that can be shown.
func urlWithoutPassword(d cli.Database) (string, error) {
	config, err := d.Pool()
	if err != nil {
		return "", err
	}
	to := config.ConnConfig
	u := url.URL{Scheme: "postgres", User: url.User(to.User), Path: "/" + to.Database}
	if strings.HasPrefix(to.Host, "/") {
		u.RawQuery = url.Values{"host": {to.Host}, "port": {strconv.Itoa(int(to.Port))}}.Encode()
	} else {
		u.Host = net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port)))
	}
	return u.String(), nil
}
