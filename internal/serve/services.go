package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// services serve the tasks of a worker, by their names.
type services struct {
	options  *Options
	db       *pgxpool.Pool
	launcher *task.Launcher
	nodes    *nodes
	closing  sync.WaitGroup

	mu      sync.Mutex // protects current
	current map[string]*service
}

func newServices(o *Options, db *pgxpool.Pool) *services {
	task.SweepResults()
	launcher := task.NewLauncher()
	return &services{options: o, db: db, launcher: launcher, nodes: &nodes{options: o, launcher: launcher}}
}

// prepare creates services for tasks, as far as possible without the database; connect does the rest. An unchanged task
// keeps its service.
func (s *services) prepare(tasks map[string]config.Task) (map[string]*service, error) {
	next := make(map[string]*service, len(tasks))
	var problems config.Problems
	for name, t := range tasks {
		if before, ok := s.current[name]; ok && before.serves(t) {
			next[name] = before
			continue
		}
		made, err := s.make(t)
		if err != nil {
			problems = append(problems, problemOf(t, err))
			continue
		}
		next[name] = made
	}
	if err := problems.OrNil(); err != nil {
		s.drop(next)
		return nil, err
	}
	return next, nil
}

// drop closes services that will not be used, unless they are in use.
func (s *services) drop(next map[string]*service) {
	for name, made := range next {
		if made != s.current[name] {
			made.close()
		}
	}
}

// connect reads from the database what new services need.
func (s *services) connect(ctx context.Context, next map[string]*service) error {
	var problems config.Problems
	for name, made := range next {
		if made == s.current[name] {
			continue
		}
		if err := s.ask(ctx, made); err != nil {
			problems = append(problems, problemOf(made.made, err))
		}
	}
	return problems.OrNil()
}

// problemOf returns an error with the task and its position in the config file.
func problemOf(t config.Task, err error) config.Problem {
	problem := config.Problem{Position: t.Position, Message: fmt.Sprintf("task %s: %s", t.Name, err)}
	_ = errors.As(err, &problem) // it may have a more precise position
	return problem
}

// use replaces the services in use, and starts to close those that are no longer used.
func (s *services) use(next map[string]*service) {
	for name, made := range next {
		if made != s.current[name] {
			made.begin()
		}
	}
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

// tasks returns the services as tasks for a worker.
func tasks(services map[string]*service) []shim.Task {
	list := make([]shim.Task, 0, len(services))
	for _, name := range slices.Sorted(maps.Keys(services)) {
		list = append(list, services[name].task)
	}
	return list
}
