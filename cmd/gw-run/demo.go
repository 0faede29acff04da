package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/pgtemp"
	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/pkg/shim"
)

const demoHelp = `Shows the queue at work. It uses the database that is given, or else starts a private PostgreSQL that is gone with the
demo: from local server binaries, with Docker, or from binaries that it downloads once, in this order.

It installs the queue, starts a worker, enqueues jobs through SQL and through a trigger, and prints a line for each job
that has run: its task, its id, and the time from being added, or due, to its start. Then it waits for jobs of yours,
until Ctrl-C or, with --once, not at all.

In a database that was given, everything but the queue's schema is removed in the end.`

// demo is a run of `gw-run demo`.
type demo struct {
	database database
	once     bool
	out      io.Writer
	log      *slog.Logger
}

func newDemoCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	d := &demo{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the queue at work, with a PostgreSQL of its own if none is given",
		Long:  demoHelp,
		Example: `  gw-run demo
  gw-run demo --once --connection postgres:///scratch`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.out = cmd.OutOrStdout()
			d.log = newDemoLogger(cmd.ErrOrStderr())
			ctx, hard, release := stops.Begin(cmd.Context(), stop.Hangup()...)
			defer release()
			return stop.Explain(ctx, d.run(ctx, hard, getenv))
		},
	}
	d.database.addFlags(cmd.Flags(), getenv)
	cmd.Flags().BoolVar(&d.once, "once", false, "end when the demo's own jobs have run")
	return cmd
}

// newDemoLogger makes a logger for people who watch it: when and by whom is clear to them.
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

// run finds or starts the database, and plays the demo in it.
func (d *demo) run(ctx, hard context.Context, getenv func(string) string) (err error) {
	d.database.connection, err = connection.FromFlag(d.database.connection, getenv)
	switch {
	case errors.Is(err, connection.ErrNone):
		server, err := pgtemp.Start(ctx, pgtemp.Options{Log: d.out})
		if err != nil {
			return err
		}
		d.database.connection = server.URL("postgres")
		return errors.Join(d.play(ctx, hard, d.database.connection), server.Stop())
	case err != nil:
		return usageError{err}
	}
	url, err := d.database.urlWithoutPassword()
	if err != nil {
		return err
	}
	return d.play(ctx, hard, url)
}

// play plays the demo in the database; psqlURL is how psql gets there.
func (d *demo) play(ctx, hard context.Context, psqlURL string) (err error) {
	config, err := d.database.pool()
	if err != nil {
		return err
	}
	migrator, err := migrate.New(config.ConnConfig, migrate.Config{Schema: d.database.schema})
	if err != nil {
		return err
	}
	if _, err := migrator.Up(ctx); err != nil {
		return err
	}
	tasks, err := os.MkdirTemp("", "gw-demo-")
	if err != nil {
		return fmt.Errorf("make folder for the demo's tasks: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tasks)) }()
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("open connection pool: %w", err)
	}
	defer pool.Close()

	stage := &demoStage{pool: pool, schema: d.database.schema}
	if err := stage.build(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.clear(ctx)) }()
	audience := newDemoAudience(d.out)
	worker, err := shim.New(pool, shim.Config{Schema: d.database.schema, Concurrency: 2, Logger: d.log, QuietSuccess: true})
	if err != nil {
		return err
	}
	if err := handleDemoTasks(worker, tasks, audience); err != nil {
		return err
	}
	return d.perform(ctx, hard, worker, stage, audience, psqlURL)
}

// perform enqueues jobs while the worker works, and returns when the worker has left.
func (d *demo) perform(
	ctx, hard context.Context, worker *shim.Worker, stage *demoStage, audience *demoAudience, psqlURL string,
) error {
	ctx, leave := context.WithCancelCause(ctx)
	left := make(chan error, 1)
	go func() {
		defer context.AfterFunc(hard, worker.Kill)()
		err := worker.Run(ctx)
		leave(err)
		left <- err
	}()

	err := stage.enqueue(ctx, d.out, audience)
	if err == nil && !d.once {
		d.invite(psqlURL)
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		err = nil // the reason is known, or comes from the worker
	}
	leave(nil)
	return errors.Join(err, <-left)
}

// invite tells how to enqueue a job.
func (d *demo) invite(psqlURL string) {
	schema := d.database.schema
	if !plainName.MatchString(schema) {
		schema = pgx.Identifier{schema}.Sanitize()
	}
	call := fmt.Sprintf(`select %s.add_job('hello', '{"name":"you"}')`, schema)
	fmt.Fprintf(d.out, "\nThe queue is open until Ctrl-C. Add a job of yours:\n\n  psql %s -c %s\n\n",
		shellQuote(psqlURL), shellDoubleQuote(call))
}

// plainName is a name that SQL takes without quotes.
var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// shellQuote quotes text for a POSIX shell.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// shellDoubleQuote does so too; it is easier on the eye when there are single quotes within.
func shellDoubleQuote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text) + `"`
}

// urlWithoutPassword returns a URL of the database that can be shown.
func (d *database) urlWithoutPassword() (string, error) {
	config, err := d.pool()
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
