package shim

import (
	"context"
	"encoding/json"
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

var errNoHandler = errors.New("no handler is registered")

// taskSet is the set of tasks that a worker serves. It is replaced, never changed.
type taskSet struct {
	byName    map[string]taskEntry
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
	added := taskEntry{inTx: t.Tx != nil || t.ManyTx != nil}
	var one Handler
	var several ManyHandler
	var err error
	switch {
	case t.Many != nil:
		several, err = t.Many.wrapped(cfg.Middleware)
		added.call, added.most = several.call, t.Most
	case t.ManyTx != nil:
		added.together, err = t.ManyTx.handler().wrapped(cfg.Middleware)
		added.most = t.Most
	case t.Tx != nil:
		one, err = t.Tx.handler().wrapped(cfg.Middleware)
		added.call = one.callInTx
	default:
		one, err = t.Handler.wrapped(cfg.Middleware)
		added.call = one.call
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
	byName := make(map[string]taskEntry, len(s.byName)+1)
	maps.Copy(byName, s.byName)
	byName[t.Name] = added
	return newTaskSet(byName), nil
}

// isLimited returns whether a task has a limit of its own.
func (s *taskSet) isLimited() bool { return len(s.unlimited) < len(s.names) }

func newTaskSet(byName map[string]taskEntry) *taskSet {
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

// exclusions describes which jobs a claim excludes.
type exclusions struct {
	flags   []string // of all tasks
	ofTasks *string  // of single tasks, as get_job_batch takes them; nil without
	beyond  *int64   // jobs beyond so many bytes together; nil for the database's own limit
}

// ask returns the exclusions of a claim of these tasks of a set; worker are the flags of the worker itself.
func (s *taskSet) ask(ctx context.Context, worker forbiddenFlags, tasks []string) (asked exclusions, err error) {
	if asked.flags, err = worker.ask(ctx); err != nil {
		return exclusions{}, err
	}
	ofTasks := make(map[string][]string)
	for _, name := range s.flagged {
		if _, isAsked := slices.BinarySearch(tasks, name); !isAsked {
			continue
		}
		flags, err := s.byName[name].forbidden.ask(ctx)
		if err != nil {
			return exclusions{}, fmt.Errorf("task %q: %w", name, err)
		}
		if len(flags) > 0 {
			ofTasks[name] = flags
		}
	}
	if len(ofTasks) == 0 {
		return asked, nil
	}
	text, err := json.Marshal(ofTasks)
	if err != nil {
		return exclusions{}, fmt.Errorf("write forbidden flags: %w", err)
	}
	asked.ofTasks = new(string(text))
	return asked, nil
}

// argument returns the additional arguments of a claim's call, as SQL and as values, appended to args. It adds nothing
// without exclusions for single tasks or a limit, because each named argument has a cost.
func (f exclusions) argument(args ...any) (sql string, _ []any) {
	if f.ofTasks != nil {
		args = append(args, *f.ofTasks)
		sql = fmt.Sprintf(", task_forbidden_flags => $%d::json", len(args))
	}
	if f.beyond != nil {
		args = append(args, *f.beyond)
		sql += fmt.Sprintf(", max_bytes => $%d::integer", len(args))
	}
	return sql, args
}
