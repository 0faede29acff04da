// Package serve implements the worker of gw-run: it runs the jobs of a queue by the tasks that a folder and a config
// file describe, and reloads them when they change.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/pkg/crontab"
	"github.com/gwsql/gw/pkg/shim"
)

// Run prepares the schema and runs jobs until ctx ends, or as the options require. Running jobs then have the grace
// time, until hard ends. Problems of the files are reported before the database is used.
func Run(ctx, hard context.Context, o Options) error {
	pool, err := pgxpool.NewWithConfig(ctx, o.Pool) // it does not connect yet
	if err != nil {
		return fmt.Errorf("open connection pool: %w", err)
	}
	defer pool.Close()
	finder, services := newTaskFinder(o.Tasks, o.Logger), newServices(&o, pool)
	defer services.end()
	found, err := load(&o, finder, services)
	if err != nil {
		return err
	}
	web, err := startHTTP(&o, pool)
	if err != nil {
		return err
	}
	defer web.close()
	closeUI, err := startUI(ctx, &o)
	if err != nil {
		return err
	}
	defer closeUI()
	if err := PrepareSchema(ctx, o); err != nil {
		return stop.Explain(ctx, err)
	}
	if err := setLimits(ctx, &o, pool, o.File.Limits); err != nil {
		return stop.Explain(ctx, err)
	}
	if err := keepTasks(ctx, &o, pool, o.File.Tasks); err != nil {
		return stop.Explain(ctx, err)
	}
	flags := &forbiddenFlags{pool: pool, log: o.Logger}
	worker, err := start(ctx, &o, services, found, flags)
	if err != nil {
		return stop.Explain(ctx, err)
	}
	if err := web.watch(worker, o.Logger); err != nil {
		return err
	}
	r := &reloader{
		worker: worker, options: &o, db: pool, finder: finder, services: services, flags: flags, file: o.File,
		cron: found.cron,
	}
	unfollow, err := r.follow(ctx)
	if err != nil {
		return err
	}
	defer unfollow()
	defer context.AfterFunc(ctx, func() { o.Logger.Info("stop requested", "reason", context.Cause(ctx)) })()
	return work(ctx, hard, worker, o.Once)
}

// loaded is the content of the files.
type loaded struct {
	services map[string]*service
	cron     []crontab.Source
}

// load reads the files of a worker.
func load(o *Options, finder *taskFinder, services *services) (found loaded, err error) {
	tasks, err := finder.find(o.File)
	if err != nil {
		return loaded{}, err
	}
	if found.services, err = services.prepare(tasks); err != nil || o.Once {
		return found, err
	}
	if found.cron, err = o.Crontab.read(); err != nil {
		return loaded{}, err
	}
	o.Crontab.announce(o.Logger, found.cron, found.services)
	return found, nil
}

// start creates the worker, with its services and the forbidden flags read from the database.
func start(ctx context.Context, o *Options, services *services, found loaded,
	flags *forbiddenFlags) (*shim.Worker, error) {
	if err := flags.use(ctx, o.File.ForbiddenFlags); err != nil {
		return nil, err
	}
	worker, err := shim.New(services.db, shim.Config{
		Schema:             o.Schema,
		Concurrency:        o.Jobs,
		PollInterval:       o.PollInterval,
		PollOnly:           o.NoListen,
		ListenConfig:       o.Listen,
		Grace:              cmp.Or(o.Grace, -1), // 0 would mean the default
		Logger:             o.Logger,
		QuietSuccess:       o.Quiet,
		Cron:               found.cron,
		ForbiddenFlagsFunc: flags.ask,
	})
	if err != nil {
		return nil, err
	}
	if err := services.connect(ctx, found.services); err != nil {
		return nil, err
	}
	if err := worker.SetTasks(tasks(found.services)...); err != nil {
		return nil, err
	}
	services.use(found.services)
	return worker, nil
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
		return stop.Explain(ctx, err)
	}
	return err
}

// Summary is the content of a worker's files.
type Summary struct {
	Tasks         map[string]config.Task // by their names
	RecurringJobs int
}

// Check reads the files as [Run] does, and returns the problems that can be found without the database. It uses only
// the options about files, and the logger.
func Check(o Options) (Summary, error) {
	tasks, err := newTaskFinder(o.Tasks, o.Logger).find(o.File)
	if err != nil {
		return Summary{}, err
	}
	services := newServices(&o, nil)
	defer services.end()
	if _, err := services.prepare(tasks); err != nil {
		return Summary{}, err
	}
	cron, err := o.Crontab.read()
	return Summary{Tasks: tasks, RecurringJobs: len(cron)}, err
}
