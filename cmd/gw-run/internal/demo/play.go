package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/console"
	"github.com/gwsql/gw/pkg/shim"
)

// demo is a run of `gw-run demo`.
type demo struct {
	database cli.Database
	once     bool
	existing bool // use a queue that exists already
	mirror   string
	out      io.Writer
	log      *slog.Logger
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

// shellDoubleQuote quotes text for a POSIX shell with double quotes, which is easier to read if the text has single quotes.
func shellDoubleQuote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text) + `"`
}

// plainName matches a name that needs no quotes in SQL.
var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// quotedSchema returns the queue's schema, with quotes if SQL requires them.
func (d *demo) quotedSchema() string {
	if plainName.MatchString(d.database.Schema) {
		return d.database.Schema
	}
	return pgx.Identifier{d.database.Schema}.Sanitize()
}
