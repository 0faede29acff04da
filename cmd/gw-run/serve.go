package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/crontab"
	"github.com/gwsql/gw/pkg/shim"
)

// serve migrates and works until it is told to stop, or as long as the options say.
func serve(ctx context.Context, o *options, stops *shutdown, stdout, stderr io.Writer) error {
	log := newLogger(stderr, o)
	config, err := o.pool()
	if err != nil {
		return err
	}
	listenConfig, err := o.listenConfig()
	if err != nil {
		return err
	}
	ctx, hard, release := stops.begin(ctx)
	defer release()
	hangups := make(chan os.Signal, 1)
	notifyHangup(hangups)
	defer func() {
		signal.Stop(hangups)
		close(hangups)
	}()

	var tasks map[string]string
	var cron []crontab.Source
	if !o.schemaOnly {
		if tasks, err = findTasks(o.tasks, log); err != nil {
			return err
		}
	}
	file := o.crontab(log)
	if !o.schemaOnly && !o.once {
		if cron, err = file.read(); err != nil {
			return err
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("open connection pool: %w", err)
	}
	defer pool.Close()
	web, err := startHTTP(o, pool, log)
	if err != nil {
		return err
	}
	defer web.close()
	if err := prepareSchema(ctx, config.ConnConfig, o, log); err != nil {
		return stoppedOr(ctx, err)
	}
	if o.schemaOnly {
		_, err := fmt.Fprintf(stdout, "Schema %s is up to date.\n", o.database.schema)
		return err
	}

	worker, err := shim.New(pool, shim.Config{
		Schema:       o.database.schema,
		Concurrency:  o.jobs,
		PollInterval: time.Duration(o.poll),
		PollOnly:     o.noListen,
		ListenConfig: listenConfig,
		Grace:        graceOrNone(o.grace),
		Logger:       log,
		QuietSuccess: o.quiet,
		Cron:         cron,
	})
	if err != nil {
		return err
	}
	for identifier, path := range tasks {
		worker.Handle(identifier, task.Executable{Path: path}.Run)
	}
	if err := web.watch(worker, log); err != nil {
		return err
	}
	if !o.once {
		go file.readAgain(hangups, worker)
	}
	defer context.AfterFunc(ctx, func() { log.Info("stop asked for", "reason", context.Cause(ctx)) })()
	return work(ctx, hard, worker, o.once)
}

// work runs a worker until ctx ends, its grace time until hard ends as well.
func work(ctx, hard context.Context, worker *shim.Worker, once bool) error {
	defer context.AfterFunc(hard, worker.Kill)()
	workJobs := worker.Run
	if once {
		workJobs = worker.RunOnce
	}
	err := workJobs(ctx)
	if errors.Is(err, shim.ErrInterrupted) {
		return stoppedOr(ctx, err)
	}
	return err
}

// stoppedOr returns err with the reason why ctx ended, if both are there.
func stoppedOr(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err)
}

// findTasks returns the executables of a folder by task. It is an error when there is none.
func findTasks(dir string, log *slog.Logger) (map[string]string, error) {
	found, err := task.Discover(dir)
	if err != nil {
		return nil, fmt.Errorf("%w; --tasks names the folder with the executables", err)
	}
	if len(found.Tasks) == 0 {
		reasons := "it is empty"
		if len(found.Ignored) > 0 {
			texts := make([]string, len(found.Ignored))
			for i, ignored := range found.Ignored {
				texts[i] = ignored.String()
			}
			reasons = "ignored: " + strings.Join(texts, ", ")
		}
		return nil, fmt.Errorf("no tasks found in %s; %s", dir, reasons)
	}
	for _, ignored := range found.Ignored {
		log.Info("file serves no task", "path", ignored.Path, "reason", ignored.Reason)
	}
	for _, identifier := range slices.Sorted(maps.Keys(found.Tasks)) {
		log.Debug("file serves a task", "path", found.Tasks[identifier], "task_identifier", identifier)
	}
	return found.Tasks, nil
}

// graceOrNone turns no grace into what the worker understands as none; its zero is the default.
func graceOrNone(grace time.Duration) time.Duration {
	if grace == 0 {
		return -1
	}
	return grace
}

func newLogger(w io.Writer, o *options) *slog.Logger {
	handler := &slog.HandlerOptions{Level: o.level}
	if o.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, handler))
	}
	return slog.New(slog.NewTextHandler(w, handler))
}
