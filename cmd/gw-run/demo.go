package main

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

	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/pkg/shim"
)

const demoHelp = `Shows the queue at work. It uses the database that is given, or else starts a private PostgreSQL that is gone with the
demo: from local server binaries, with Docker, or from binaries that it downloads once, in this order.

It installs the queue, starts a worker, enqueues jobs through SQL and through a trigger, and prints a line for each job
that has run: its task, its id, and the time from being added, or due, to its start. Then it waits for jobs of yours,
until Ctrl-C or, with --once, not at all.

In a database that was given, everything but the queue's schema is removed in the end. If the schema holds a queue
already, the demo changes nothing and fails. With --existing it uses that queue: its jobs are among the others then, and
its worker runs every job of the task "hello".

Downloads come from Maven Central, or from the Maven repository that --mirror or GW_POSTGRES_MIRROR names. HTTPS_PROXY
and NO_PROXY are respected.`

// mirrorVariable names the default of --mirror.
const mirrorVariable = "GW_POSTGRES_MIRROR"

// demo is a run of `gw-run demo`.
type demo struct {
	database database
	once     bool
	existing bool // a queue that is there already may be used
	mirror   string
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
  gw-run demo --once --connection postgres:///scratch
  gw-run demo --mirror https://maven.example.com/central`,
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
	cmd.Flags().BoolVar(&d.existing, "existing", false, "use a queue that exists already")
	cmd.Flags().StringVar(&d.mirror, "mirror", "", "`URL` of the Maven repository to download PostgreSQL from (default "+mirrorVariable+", or Maven Central)")
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

// play plays the demo in the database, which has the queue; psqlURL is how psql gets there.
func (d *demo) play(ctx, hard context.Context, psqlURL string) (err error) {
	config, err := d.database.pool()
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
	call := fmt.Sprintf(`select %s.add_job('hello', '{"name":"you"}')`, d.quotedSchema())
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
