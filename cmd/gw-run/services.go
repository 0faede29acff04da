package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// service serves one task.
type service struct {
	task  config.Task // what it was made of
	limit int         // how many jobs it can run at once, 0 for any number
	run   shim.Handler
	close func() // ends what waits for jobs; jobs that run go on
}

// services are what serves the tasks of a worker, by their names.
type services struct {
	schema   string
	jobs     int // how many the worker runs at once
	log      *slog.Logger
	launcher *task.Launcher
	current  map[string]*service
	closing  sync.WaitGroup
}

func (o *options) newServices(log *slog.Logger) *services {
	return &services{schema: o.database.schema, jobs: o.jobs, log: log, launcher: task.NewLauncher()}
}

// prepare makes services for tasks. A task that is what it was before keeps its service.
func (s *services) prepare(tasks map[string]config.Task) (map[string]*service, error) {
	next := make(map[string]*service, len(tasks))
	var problems config.Problems
	for name, t := range tasks {
		if before, ok := s.current[name]; ok && before.serves(t) {
			next[name] = before
			continue
		}
		made, err := s.serve(t)
		if err != nil {
			problems = append(problems, config.Problem{Position: t.Position, Message: fmt.Sprintf("task %s: %s", name, err)})
			continue
		}
		next[name] = made
	}
	return next, problems.OrNil()
}

// serves returns whether the service is what a task asks for, wherever that stands now.
func (s *service) serves(t config.Task) bool {
	t.Position = s.task.Position
	return reflect.DeepEqual(s.task, t)
}

// serve makes the service of a task.
func (s *services) serve(t config.Task) (*service, error) {
	made := &service{task: t, close: func() {}}
	switch t.Kind {
	case config.Folder, config.Exec:
		made.run = task.Executable{
			Path:      t.Program.Command[0],
			Args:      t.Program.Command[1:],
			Directory: t.Program.Directory,
			Env:       variables(t.Program.Env),
			Timeout:   t.Timeout,
			KillDelay: t.Program.KillDelay,
		}.Run
	case config.Persistent:
		made.limit = cmp.Or(t.Program.Children, t.Concurrency, s.jobs)
		program := task.NewPersistent(task.PersistentConfig{
			Task:      t.Name,
			Path:      t.Program.Command[0],
			Args:      t.Program.Command[1:],
			Directory: t.Program.Directory,
			Env:       variables(t.Program.Env),
			Children:  made.limit,
			Timeout:   t.Timeout,
			KillDelay: t.Program.KillDelay,
			Launcher:  s.launcher,
			Logger:    s.log,
		})
		made.run, made.close = program.Run, program.Close
	case config.HTTP:
		var err error
		made.run, err = task.HTTP{
			URL:          t.HTTP.URL,
			Headers:      t.HTTP.Headers,
			Secret:       t.HTTP.Secret,
			Timeout:      t.Timeout,
			Permanent4xx: t.HTTP.Permanent4xx,
			CAFile:       t.HTTP.CAFile,
			Schema:       s.schema,
			Concurrency:  cmp.Or(t.Concurrency, s.jobs),
		}.Handler()
		return made, err
	default:
		return nil, fmt.Errorf("%s is not supported", t.Kind)
	}
	return made, nil
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
		list = append(list, shim.Task{Name: name, Handler: services[name].run, Options: services[name].options()})
	}
	return list
}

func (s *service) options() []shim.TaskOption {
	var options []shim.TaskOption
	limit := s.task.Concurrency
	if limit == 0 || s.limit > 0 && s.limit < limit {
		limit = s.limit
	}
	if limit > 0 {
		options = append(options, shim.Concurrency(limit))
	}
	if delays := s.task.Backoff; len(delays) > 0 {
		options = append(options, shim.Backoff(func(attempt int) time.Duration { return delays[min(attempt, len(delays))-1] }))
	}
	return options
}

// use replaces the services in use, and begins to close those that are not used any more.
func (s *services) use(next map[string]*service) {
	for name, before := range s.current {
		if next[name] != before {
			s.closing.Go(before.close)
		}
	}
	s.current = next
}

// end closes all services and waits for that.
func (s *services) end() {
	s.use(nil)
	s.closing.Wait()
	s.launcher.Close()
}
