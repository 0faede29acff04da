package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gwsql/gw/internal/guard"
)

// TaskOption is an option for all jobs of one task. It is given where the task's handler is registered.
type TaskOption func(*taskEntry) error

// taskEntry is a handler with its options.
type taskEntry struct {
	call     handlerCall
	together ManyHandler                     // in place of call: the handler of several jobs in one transaction
	most     int                             // jobs for one call, 0 for one
	timeout  time.Duration                   // 0 without
	limit    int                             // how many run at once, 0 for the worker's concurrency
	backoff  func(attempt int) time.Duration // nil for the database's

	inTx bool // the handler is given a transaction

	forbidden forbiddenFlags
}

// handlerCall calls a handler and stores what it returns for each of the jobs.
type handlerCall func(ctx context.Context, jobs []*Job, errs []error)

// Timeout ends the context of a handler that has run for d. The [context.Cause] is then a [TimeoutError], and an error
// that the handler returns after that is stored with a note about it. A handler that ignores its context continues.
// Default: none. The timeout must be positive. Set one for all tasks that wait for other systems, such as a mail
// server.
func Timeout(d time.Duration) TaskOption {
	return func(t *taskEntry) error {
		if d <= 0 {
			return fmt.Errorf("timeout is %s, must be positive", d)
		}
		t.timeout = d
		return nil
	}
}

// Backoff sets the delay before a failed job of the task is tried again, in place of the database's back-off, which is
// e^attempt seconds up to e^10 (six hours). delay is called with the number of the failed attempt, from 1, and from
// several goroutines at once. A negative delay counts as 0; after a panic the database's back-off applies. A
// [RetryError] takes precedence.
func Backoff(delay func(attempt int) time.Duration) TaskOption {
	return func(t *taskEntry) error {
		if delay == nil {
			return errors.New("back-off is nil")
		}
		t.backoff = delay
		return nil
	}
}

// Concurrency limits how many jobs of a task this worker runs at once, below Config.Concurrency, to leave executors to
// other tasks or to protect a shared resource. Further jobs stay in the queue, where other workers find them. Default:
// no limit. It must be at least 1. To limit all workers together, set a limit: see [Client.SetLimit].
func Concurrency(most int) TaskOption {
	return func(t *taskEntry) error {
		if most < 1 {
			return fmt.Errorf("concurrency is %d, must be at least 1", most)
		}
		t.limit = most
		return nil
	}
}

// TimeoutError is the [context.Cause] of a handler's context that ended because of [Timeout].
type TimeoutError struct{ After time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("timed out after %s", e.After) }

// forbiddenFlags are the flags of jobs that are not claimed: a list, or the result of a function.
type forbiddenFlags struct {
	list []string
	fn   func(context.Context) ([]string, error)
}

func (f forbiddenFlags) isNone() bool { return len(f.list) == 0 && f.fn == nil }

// ask returns the flags for the next claim, nil for none.
func (f forbiddenFlags) ask(ctx context.Context) (flags []string, err error) {
	if f.fn == nil {
		return f.list, nil
	}
	fault := guard.Call(func() {
		if err = recovered(func() error { flags, err = f.fn(ctx); return err }); err != nil {
			err = fmt.Errorf("ask for forbidden flags: %w", err)
		}
	})
	if fault != nil {
		err = fmt.Errorf("ask for forbidden flags: %w", fault)
	}
	if err != nil {
		return nil, err
	}
	return flags, nil
}

var errTwoForbiddenFlags = errors.New("a list of forbidden flags and a function for them exclude each other")

func (t *taskEntry) forbid(flags forbiddenFlags) error {
	if before := t.forbidden; !before.isNone() && (before.fn == nil) != (flags.fn == nil) {
		return errTwoForbiddenFlags
	}
	t.forbidden = flags
	return nil
}

// ForbiddenFlags are flags of jobs of this task that the worker does not claim, in addition to Config.ForbiddenFlags,
// which applies to all tasks. Default: none.
func ForbiddenFlags(flags ...string) TaskOption {
	return func(t *taskEntry) error { return t.forbid(forbiddenFlags{list: slices.Clone(flags)}) }
}

// ForbiddenFlagsFunc returns such flags in place of a list. The worker calls it before each claim that may return jobs
// of the task. In all other respects it works as Config.ForbiddenFlagsFunc: an error or a panic postpones the claim,
// also of other tasks.
func ForbiddenFlagsFunc(ask func(context.Context) ([]string, error)) TaskOption {
	return func(t *taskEntry) error {
		if ask == nil {
			return errors.New("the function for forbidden flags is nil")
		}
		return t.forbid(forbiddenFlags{fn: ask})
	}
}

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
	flagged   []string // those with forbidden flags of their own, sorted
	isLimited bool     // a task has a limit of its own
}

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

func newTaskSet(byName map[string]taskEntry) *taskSet {
	s := &taskSet{byName: byName, names: slices.Sorted(maps.Keys(byName))}
	for _, name := range s.names {
		s.isLimited = s.isLimited || byName[name].limit > 0
		if !byName[name].forbidden.isNone() {
			s.flagged = append(s.flagged, name)
		}
	}
	return s
}

type exclusions struct {
	flags   []string // of all tasks
	ofTasks *string  // of single tasks, as get_job_batch takes them; nil without
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

// argument returns the additional argument of a claim's call, as SQL and as a value, appended to args. It adds nothing
// without exclusions for single tasks, because each named argument has a cost.
func (f exclusions) argument(args ...any) (sql string, _ []any) {
	if f.ofTasks != nil {
		args = append(args, *f.ofTasks)
		sql = fmt.Sprintf(", task_forbidden_flags => $%d::json", len(args))
	}
	return sql, args
}
