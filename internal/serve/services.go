package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// service serves one task.
type service struct {
	made  config.Task // what it was made of
	task  shim.Task
	flags *forbiddenFlags // those that a query returns, nil without one
	close func()          // ends what waits for jobs; jobs that run go on
}

// services are what serves the tasks of a worker, by their names.
type services struct {
	schema   string
	jobs     int // how many the worker runs at once
	log      *slog.Logger
	db       *pgxpool.Pool // nil as long as there is none; then tasks that need it are left out
	launcher *task.Launcher
	closing  sync.WaitGroup

	mu      sync.Mutex // held for changes of current, and by those who look at it meanwhile
	current map[string]*service
}

func (o *options) newServices(log *slog.Logger) *services {
	return &services{schema: o.database.schema, jobs: o.jobs, log: log, launcher: task.NewLauncher()}
}

// prepare makes services for tasks. A task that is what it was before keeps its service.
func (s *services) prepare(ctx context.Context, tasks map[string]config.Task) (map[string]*service, error) {
	next := make(map[string]*service, len(tasks))
	var problems config.Problems
	for name, t := range tasks {
		if before, ok := s.current[name]; ok && before.serves(t) {
			next[name] = before
			continue
		}
		if t.Kind == config.SQL && s.db == nil {
			continue
		}
		made, err := s.make(ctx, t)
		if err != nil {
			problem := config.Problem{Position: t.Position, Message: fmt.Sprintf("task %s: %s", name, err)}
			_ = errors.As(err, &problem) // it may know better where it is
			problems = append(problems, problem)
			continue
		}
		if made.flags != nil && s.db == nil {
			made.close()
			continue
		}
		next[name] = made
	}
	return next, problems.OrNil()
}

// serves returns whether the service is what a task asks for, wherever that stands now.
func (s *service) serves(t config.Task) bool {
	t.Position = s.made.Position
	t.ForbiddenFlags.Position = s.made.ForbiddenFlags.Position
	return reflect.DeepEqual(s.made, t)
}

// make makes the service of a task.
func (s *services) make(ctx context.Context, t config.Task) (*service, error) {
	made := &service{made: t, close: func() {}}
	made.task.Name = t.Name
	limit := t.Concurrency
	var err error
	switch t.Kind {
	case config.Folder, config.Exec:
		made.task.Handler = executable(t).Run
	case config.Persistent:
		children := cmp.Or(t.Program.Children, t.Concurrency, s.jobs)
		limit = min(cmp.Or(t.Concurrency, children), children)
		program := s.persistent(t, children)
		made.task.Handler, made.close = program.Run, program.Close
	case config.HTTP:
		made.task.Handler, err = s.http(t).Handler()
	case config.SQL:
		call := task.SQL{Function: t.SQL.Function.Value, Timeout: t.Timeout, Batch: t.SQL.Batch}
		made.task, err = call.Task(ctx, s.db, t.Name)
	}
	made.task.Options = taskOptions(limit, t.Backoff)
	if err == nil {
		err = s.forbid(ctx, made)
	}
	return made, err
}

// forbid gives the service of a task its forbidden flags. Without a database the query for them is not asked yet.
func (s *services) forbid(ctx context.Context, made *service) error {
	source := made.made.ForbiddenFlags
	if source.Query == "" {
		made.task.Options = append(made.task.Options, shim.ForbiddenFlags(source.List...))
		return nil
	}
	made.flags = &forbiddenFlags{pool: s.db, log: s.log.With("task_identifier", made.made.Name)}
	made.task.Options = append(made.task.Options, shim.ForbiddenFlagsFunc(made.flags.ask))
	if s.db == nil {
		return nil
	}
	return made.flags.use(ctx, source)
}

// flagQueries returns the queries for forbidden flags of the services in use.
func (s *services) flagQueries() (queries []*forbiddenFlags) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, current := range s.current {
		if current.flags != nil {
			queries = append(queries, current.flags)
		}
	}
	return queries
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

func (s *services) persistent(t config.Task, children int) *task.Persistent {
	return task.NewPersistent(task.PersistentConfig{
		Task:      t.Name,
		Path:      t.Program.Command[0],
		Args:      t.Program.Command[1:],
		Directory: t.Program.Directory,
		Env:       variables(t.Program.Env),
		Children:  children,
		Timeout:   t.Timeout,
		KillDelay: t.Program.KillDelay,
		Launcher:  s.launcher,
		Logger:    s.log,
	})
}

func (s *services) http(t config.Task) task.HTTP {
	shown := "" // as task.HTTP has it
	if t.HTTP.URL.IsExpanded() {
		shown = shownURL(t.HTTP.URL)
	}
	return task.HTTP{
		URL:          t.HTTP.URL.Value,
		Shown:        shown,
		Headers:      t.HTTP.Headers,
		Secrets:      t.HTTP.Secrets,
		Timeout:      t.Timeout,
		Permanent4xx: t.HTTP.Permanent4xx,
		CAFile:       t.HTTP.CAFile,
		Schema:       s.schema,
		Concurrency:  cmp.Or(t.Concurrency, s.jobs),
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

// tasks returns services as a worker takes them.
func tasks(services map[string]*service) []shim.Task {
	list := make([]shim.Task, 0, len(services))
	for _, name := range slices.Sorted(maps.Keys(services)) {
		list = append(list, services[name].task)
	}
	return list
}

// taskOptions returns the options of a task that runs so many jobs at once, unless that is 0, and waits so long after attempts.
func taskOptions(limit int, backoff []time.Duration) []shim.TaskOption {
	var options []shim.TaskOption
	if limit > 0 {
		options = append(options, shim.Concurrency(limit))
	}
	if last := len(backoff) - 1; last >= 0 {
		options = append(options, shim.Backoff(func(attempt int) time.Duration { return backoff[min(attempt-1, last)] }))
	}
	return options
}

// take has tasks served from now on.
func (s *services) take(ctx context.Context, tasks map[string]config.Task) error {
	next, err := s.prepare(ctx, tasks)
	if err != nil {
		return err
	}
	s.use(next)
	return nil
}

// use replaces the services in use, and begins to close those that are not used any more.
func (s *services) use(next map[string]*service) {
	for name, before := range s.current {
		if next[name] != before {
			s.closing.Go(before.close)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = next
}

// end closes all services and waits for that.
func (s *services) end() {
	s.use(nil)
	s.closing.Wait()
	s.launcher.Close()
}
