package shim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Task is a task with its handler and options, for [Worker.SetTasks].
type Task struct {
	Name    string
	Handler Handler
	Many    ManyHandler   // in place of Handler, see [Worker.HandleMany]
	Most    int           // jobs for one call of Many or ManyTx
	Tx      TxHandler     // in place of Handler, see [Worker.HandleTx]
	ManyTx  ManyTxHandler // in place of Handler, see [Worker.HandleManyTx]
	Options []TaskOption
}

// SetTasks replaces all handlers registered by Handle or by an earlier SetTasks. Its error lists all problems of the
// new ones; in that case the previous ones stay. There must be at least one task.
//
// A running worker uses the new tasks at once: a running handler continues, and the next job of its task uses the new
// one. Jobs claimed for a task that no longer exists are returned to the queue, and their attempts do not count.
func (w *Worker) SetTasks(tasks ...Task) error {
	set := &taskSet{}
	var problems []error
	for _, t := range tasks {
		next, err := set.with(t, w.cfg)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		set = next
	}
	if len(tasks) == 0 {
		problems = append(problems, errNoHandler)
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("set tasks: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.misuse = nil
	w.tasks.Store(set)
	w.tasksChanged.set()
	w.tasksUnknown.set()
	return nil
}

var errNoHandler = errors.New("no handler is registered")

// taskSet is the set of tasks that a worker serves. It is replaced, never changed.
type taskSet struct {
	byName    map[string]task
	names     []string // sorted
	unlimited []string // those without a limit of their own, sorted
	flagged   []string // those with forbidden flags of their own, sorted
}

// with returns the set with one more task.
func (s *taskSet) with(t Task, cfg Config) (*taskSet, error) {
	_, registered := s.byName[t.Name]
	handlers := 0
	for _, has := range []bool{t.Handler != nil, t.Many != nil, t.Tx != nil, t.ManyTx != nil} {
		if has {
			handlers++
		}
	}
	switch {
	case t.Name == "":
		return nil, errors.New("a handler has an empty task name")
	case handlers == 0:
		return nil, fmt.Errorf("the handler of task %q is nil", t.Name)
	case (t.Many != nil || t.ManyTx != nil) && t.Most < 1:
		return nil, fmt.Errorf("task %q takes %d jobs at once, must take at least 1", t.Name, t.Most)
	case registered || handlers > 1:
		return nil, fmt.Errorf("task %q has two handlers", t.Name)
	}
	added := task{most: t.Most, inTx: t.Tx != nil || t.ManyTx != nil}
	var err error
	switch {
	case t.Many != nil:
		added.many, err = t.Many.wrapped(cfg.Middleware)
	case t.ManyTx != nil:
		added.many, err = t.ManyTx.handler().wrapped(cfg.Middleware)
	case t.Tx != nil:
		added.handler, err = t.Tx.handler().wrapped(cfg.Middleware)
	default:
		added.handler, err = t.Handler.wrapped(cfg.Middleware)
	}
	if err != nil {
		return nil, fmt.Errorf("task %q: %w", t.Name, err)
	}
	for _, option := range t.Options {
		if err := option(&added); err != nil {
			return nil, fmt.Errorf("task %q: %w", t.Name, err)
		}
	}
	if added.limit >= cfg.Concurrency {
		added.limit = 0
	}
	byName := make(map[string]task, len(s.byName)+1)
	maps.Copy(byName, s.byName)
	byName[t.Name] = added
	return newTaskSet(byName), nil
}

// isLimited returns whether a task has a limit of its own.
func (s *taskSet) isLimited() bool { return len(s.unlimited) < len(s.names) }

func newTaskSet(byName map[string]task) *taskSet {
	s := &taskSet{byName: byName, names: slices.Sorted(maps.Keys(byName))}
	for _, name := range s.names {
		if byName[name].limit == 0 {
			s.unlimited = append(s.unlimited, name)
		}
		if !byName[name].forbidden.isNone() {
			s.flagged = append(s.flagged, name)
		}
	}
	return s
}
