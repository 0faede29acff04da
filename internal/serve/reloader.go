package serve

import (
	"context"
	"os"
	"reflect"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/pkg/crontab"
	"github.com/gwsql/gw/pkg/shim"
)

// reloader applies changed files to a running worker. If a file is invalid, it logs that and keeps the previous
// content.
type reloader struct {
	worker   *shim.Worker
	options  *Options
	db       *pgxpool.Pool
	finder   *taskFinder
	services *services
	flags    *forbiddenFlags // of all tasks

	file *config.File // in use
	cron []crontab.Source
}

// follow applies changes of the files and of the queries for forbidden flags to the worker, until the function that it
// returns is called.
func (r *reloader) follow(ctx context.Context) (unfollow func(), err error) {
	o := r.options
	ctx, cancel := context.WithCancel(ctx)
	var loops sync.WaitGroup
	changes := make(chan struct{})
	if o.Watch {
		watch, err := watchFiles(o.Tasks.Path, []string{o.Config.Path, o.Crontab.Path}, r.options.Logger)
		if err != nil {
			cancel()
			return nil, err
		}
		loops.Go(func() { watch.run(ctx, changes) })
	}
	if !o.Once {
		loops.Go(func() { r.run(ctx, o.Reload, changes) })
	}
	loops.Go(func() {
		keepAsking(ctx, func() []*forbiddenFlags { return append(r.services.flagQueries(), r.flags) })
	})
	return func() {
		cancel()
		loops.Wait()
	}, nil
}

// run reads the files again on request and after each change, until ctx ends.
func (r *reloader) run(ctx context.Context, asked <-chan os.Signal, changes <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
		case <-changes:
		}
		r.reload(ctx)
	}
}

func (r *reloader) reload(ctx context.Context) {
	file, err := r.options.Config.Read()
	if err != nil {
		r.options.Logger.Error("config is invalid, previous one stays in use", "path", r.options.Config.Path,
			"error", err)
		file = r.file
	}
	if r.takeTasks(ctx, file) && file != r.file {
		r.takeSettings(ctx, file)
		r.file = file
	}
	r.takeCrontab()
}

// takeTasks applies the tasks of the file and of the folder. It returns whether they are valid.
func (r *reloader) takeTasks(ctx context.Context, file *config.File) bool {
	found, err := r.finder.find(file)
	var next map[string]*service
	if err == nil {
		next, err = r.services.prepare(found)
	}
	if err == nil {
		err = r.services.connect(ctx, next)
	}
	if err == nil {
		err = r.change(next)
	}
	if err != nil {
		r.services.drop(next)
		r.options.Logger.Error("tasks are invalid, previous ones stay in use", "error", err)
	}
	return err == nil
}

// change replaces the services of the worker, unless they are unchanged.
func (r *reloader) change(next map[string]*service) error {
	var added, removed, changed []string
	for name, s := range next {
		before, existed := r.services.current[name]
		switch {
		case !existed:
			added = append(added, name)
		case before != s:
			changed = append(changed, name)
		}
	}
	for name := range r.services.current {
		if _, stays := next[name]; !stays {
			removed = append(removed, name)
		}
	}
	if len(added)+len(removed)+len(changed) == 0 {
		return nil
	}
	if err := r.worker.SetTasks(tasks(next)...); err != nil {
		return err
	}
	r.services.use(next)
	slices.Sort(added)
	slices.Sort(removed)
	slices.Sort(changed)
	r.options.Logger.Info("tasks reloaded", "added", added, "removed", removed, "changed", changed)
	return nil
}

// takeSettings applies the forbidden flags, and logs which other changed settings need a restart.
func (r *reloader) takeSettings(ctx context.Context, file *config.File) {
	if before := r.file.ForbiddenFlags; before.Query != file.ForbiddenFlags.Query ||
		!slices.Equal(before.List, file.ForbiddenFlags.List) {
		if err := r.flags.use(ctx, file.ForbiddenFlags); err != nil {
			r.options.Logger.Error("forbidden flags could not be read, previous ones stay in use", "error", err)
		} else {
			r.options.Logger.Info("forbidden flags reloaded")
		}
	}
	r.takeLimits(ctx, file)
	if err := keepTasks(ctx, r.options, r.db, file.Tasks); err != nil {
		r.options.Logger.Error("tasks could not be kept", "error", err)
	}
	if settings := changedSettings(r.file, file); settings != nil {
		r.options.Logger.Warn("changed settings take effect after a restart", "settings", settings)
	}
}

// takeLimits sets the limits, if they have changed. A limit that is no longer in the file stays in force, because other
// workers may need it.
func (r *reloader) takeLimits(ctx context.Context, file *config.File) {
	sameLimit := func(a, b config.Limit) bool {
		a.Position, b.Position = config.Position{}, config.Position{}
		return reflect.DeepEqual(a, b)
	}
	if slices.EqualFunc(r.file.Limits, file.Limits, sameLimit) {
		return
	}
	if err := setLimits(ctx, r.options, r.db, file.Limits); err != nil {
		r.options.Logger.Error("limits could not be set, previous ones stay in force", "error", err)
		return
	}
	r.options.Logger.Info("limits reloaded")
	for _, limit := range r.file.Limits {
		if !slices.ContainsFunc(file.Limits, func(l config.Limit) bool { return l.Name == limit.Name }) {
			r.options.Logger.Warn("limit is no longer in the config, but stays in force; gw-run limit drop drops it",
				"limit", limit.Name)
		}
	}
}

// changedSettings returns the names of the settings that differ.
func changedSettings(a, b *config.File) (names []string) {
	before := make(map[string]string)
	for _, setting := range a.Settings {
		before[setting.Key.Name] = setting.Value
	}
	for _, setting := range b.Settings {
		if value, ok := before[setting.Key.Name]; !ok || value != setting.Value {
			names = append(names, setting.Key.Name)
		}
		delete(before, setting.Key.Name)
	}
	for name := range before {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// takeCrontab applies the items of the crontab, unless they are unchanged.
func (r *reloader) takeCrontab() {
	sources, err := r.options.Crontab.read()
	if err == nil && reflect.DeepEqual(sources, r.cron) {
		return
	}
	if err == nil {
		err = r.worker.SetCron(sources...)
	}
	if err != nil {
		r.options.Logger.Error("crontab is invalid, previous one stays in use", "path", r.options.Crontab.Path,
			"error", err)
		return
	}
	r.cron = sources
	r.options.Crontab.announce(r.options.Logger, sources, r.services.current)
}
