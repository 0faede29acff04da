package serve

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

type service struct {
	made  config.Task // its settings
	task  shim.Task
	flags *forbiddenFlags // those of a query, nil without one
	begin func()          // prepares for the first job
	close func()          // ends idle processes; running jobs continue
}

// serves reports whether the service fits a task, ignoring its position in the file.
func (s *service) serves(t config.Task) bool {
	t.Position = s.made.Position
	t.ForbiddenFlags.Position = s.made.ForbiddenFlags.Position
	return reflect.DeepEqual(s.made, t)
}

// make returns the service of a task, without the parts that ask reads from the database.
func (s *services) make(t config.Task) (*service, error) {
	made := &service{made: t, begin: func() {}, close: func() {}}
	made.task.Name = t.Name
	limit := t.Concurrency
	var err error
	switch t.Kind {
	case config.Folder, config.Exec:
		made.task.Handler = executable(t).Run
	case config.Persistent:
		children := cmp.Or(t.Program.Children, t.Concurrency, s.options.Jobs)
		limit = min(cmp.Or(t.Concurrency, children), children)
		program := task.NewPersistent(task.PersistentConfig{
			Task: t.Name, Program: executable(t), Children: children, Launcher: s.launcher, Logger: s.options.Logger,
		})
		made.task.Handler, made.close = program.Run, program.Close
	case config.Node:
		err = s.nodes.serve(t, made)
	case config.HTTP:
		made.task.Handler, err = s.http(t).Handler()
	}
	forbidden := shim.ForbiddenFlags(t.ForbiddenFlags.List...)
	if t.ForbiddenFlags.Query != "" {
		made.flags = &forbiddenFlags{pool: s.db, log: s.options.Logger.With("task_identifier", t.Name)}
		forbidden = shim.ForbiddenFlagsFunc(made.flags.ask)
	}
	made.task.Options = append(taskOptions(limit, t.Backoff), forbidden)
	return made, err
}

// ask reads from the database what a service needs: its function, and its forbidden flags.
func (s *services) ask(ctx context.Context, made *service) error {
	if t := made.made; t.Kind == config.SQL {
		call := task.SQL{
			Function: t.SQL.Function.Value, Owner: t.SQL.Owner, Schema: s.options.Schema, Timeout: t.Timeout,
			Batch: t.SQL.Batch, Logger: s.options.Logger,
		}
		found, err := call.Task(ctx, s.db, t.Name, made.task.Options...)
		if err != nil {
			return err
		}
		made.task = found
	}
	if made.flags != nil {
		return made.flags.use(ctx, made.made.ForbiddenFlags)
	}
	return nil
}

func executable(t config.Task) task.Executable {
	return task.Executable{
		Path:      t.Program.Command[0],
		Args:      t.Program.Command[1:],
		Directory: t.Program.Directory,
		Env:       variables(t.Program.Env),
		Timeout:   t.Timeout,
		KillDelay: t.Program.KillDelay,
	}
}

func (s *services) http(t config.Task) task.HTTP {
	shown := "" // the default of task.HTTP
	if t.HTTP.URL.IsExpanded() {
		shown = t.HTTP.URL.ShownURL()
	}
	return task.HTTP{
		URL:          t.HTTP.URL.Value,
		Shown:        shown,
		Headers:      t.HTTP.Headers,
		Secrets:      t.HTTP.Secrets,
		Timeout:      t.Timeout,
		Permanent4xx: t.HTTP.Permanent4xx,
		CAFile:       t.HTTP.CAFile,
		Schema:       s.options.Schema,
		Concurrency:  cmp.Or(t.Concurrency, s.options.Jobs),
	}
}

// variables returns environment variables as NAME=value.
func variables(env map[string]string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// taskOptions returns the options of a task with a limit of concurrent jobs, unless that is 0, and a back-off.
func taskOptions(limit int, backoff []time.Duration) []shim.TaskOption {
	var options []shim.TaskOption
	if limit > 0 {
		options = append(options, shim.Concurrency(limit))
	}
	if last := len(backoff) - 1; last >= 0 {
		options = append(options, shim.Backoff(func(attempt int) time.Duration {
			return backoff[min(attempt-1, last)]
		}))
	}
	return options
}
