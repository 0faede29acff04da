package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

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
	defer signal.Stop(hangups)

	var r *reloader
	if !o.schemaOnly {
		if r, err = o.load(ctx, log); err != nil {
			return err
		}
		defer r.services.end()
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

	r.flags = &forbiddenFlags{pool: pool, log: log}
	if err := r.flags.use(ctx, o.file.ForbiddenFlags); err != nil {
		return stoppedOr(ctx, err)
	}
	r.worker, err = shim.New(pool, shim.Config{
		Schema:             o.database.schema,
		Concurrency:        o.jobs,
		PollInterval:       time.Duration(o.poll),
		PollOnly:           o.noListen,
		ListenConfig:       listenConfig,
		Grace:              graceOrNone(o.grace),
		Logger:             log,
		QuietSuccess:       o.quiet,
		Cron:               r.cron,
		ForbiddenFlagsFunc: r.flags.ask,
	})
	if err != nil {
		return err
	}
	r.services.db = pool
	if err := r.services.take(ctx, r.found); err != nil {
		return stoppedOr(ctx, err)
	}
	if err := r.worker.SetTasks(tasks(r.services.current)...); err != nil {
		return err
	}
	if err := web.watch(r.worker, log); err != nil {
		return err
	}
	unfollow, err := r.follow(ctx, hangups, o)
	if err != nil {
		return err
	}
	defer unfollow()
	defer context.AfterFunc(ctx, func() { log.Info("stop asked for", "reason", context.Cause(ctx)) })()
	return work(ctx, hard, r.worker, o.once)
}

// load reads what a worker is to do.
func (o *options) load(ctx context.Context, log *slog.Logger) (*reloader, error) {
	r := &reloader{
		log:      log,
		config:   o.config,
		finder:   o.taskFinder(log),
		services: o.newServices(log),
		crontab:  o.crontab(log),
		file:     o.file,
	}
	var err error
	if r.found, err = r.finder.find(o.file); err != nil {
		return nil, err
	}
	if err := r.services.take(ctx, r.found); err != nil {
		return nil, err
	}
	if o.once {
		return r, nil
	}
	if r.cron, err = r.crontab.read(); err != nil {
		return nil, err
	}
	r.crontab.announce(r.cron)
	return r, nil
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
