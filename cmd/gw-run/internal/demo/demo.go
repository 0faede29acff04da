// Package demo is gw-run demo, which shows the queue at work.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/console"
	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/pkg/shim"
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

// demo is a run of `gw-run demo`.
type demo struct {
	database cli.Database
	once     bool
	existing bool // use a queue that exists already
	mirror   string
	out      io.Writer
	log      *slog.Logger
}

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

// play runs the demo in the database, in which the queue is installed. psqlURL is the URL for psql.
func (d *demo) play(ctx, hard context.Context, psqlURL string) (err error) {
	config, err := d.database.Pool()
	if err != nil {
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

	stage := &demoStage{pool: pool, schema: d.database.Schema}
	if err := stage.build(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.clear(ctx)) }()
	audience := &demoAudience{out: d.out, seen: make(chan error, 1)}
	worker, err := shim.New(pool, shim.Config{Schema: d.database.Schema, Concurrency: 8, Logger: d.log, QuietSuccess: true})
	if err != nil {
		return err
	}
	if err := handleDemoTasks(worker, tasks, audience); err != nil {
		return err
	}
	if d.trades() {
		handleShop(worker)
	}
	return d.perform(ctx, hard, worker, stage, audience, psqlURL)
}

// perform starts the worker, adds jobs, and returns when the worker has stopped.
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
		closeUI, url := d.serveUI(stage)
		defer closeUI()
		d.invite(psqlURL, url)
		if d.trades() {
			if err = stage.openShop(ctx); err == nil {
				err = stage.trade(ctx)
			}
		}
		if err == nil {
			<-ctx.Done()
		}
	}
	if ctx.Err() != nil {
		err = nil // the caller knows why ctx ended, or the worker returns the reason
	}
	leave(nil)
	return errors.Join(err, <-left)
}

// trades reports whether the demo goes on with its shop. In a queue that exists already it would run jobs of others.
func (d *demo) trades() bool { return !d.once && !d.existing }

// serveUI serves the console, at its usual address or else at a free one. If that fails, the demo continues without it.
func (d *demo) serveUI(stage *demoStage) (end func(), url string) {
	for _, address := range []string{console.DefaultAddress, "127.0.0.1:0"} {
		server, err := console.Serve(stage.pool, console.Options{Address: address, Name: "demo", Schema: d.database.Schema, Logger: d.log})
		if err == nil {
			return server.Close, server.URL()
		}
	}
	return func() {}, ""
}

// invite prints the address of the console, and a command that adds a job.
func (d *demo) invite(psqlURL, consoleURL string) {
	if consoleURL != "" {
		fmt.Fprintf(d.out, "\nThe console, to see the queue in a browser: %s\n", consoleURL)
	}
	call := fmt.Sprintf(`select %s.add_job('hello', '{"name":"you"}')`, d.quotedSchema())
	fmt.Fprintf(d.out, "\nThe demo runs until Ctrl-C. Add a job of your own:\n\n  psql %s -c %s\n\n",
		cli.ShellQuote(psqlURL), shellDoubleQuote(call))
}

// plainName matches a name that needs no quotes in SQL.
var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// shellDoubleQuote quotes text for a POSIX shell with double quotes, which is easier to read if the text has single quotes.
func shellDoubleQuote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text) + `"`
}
