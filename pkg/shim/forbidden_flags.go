package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gwsql/gw/internal/guard"
)

// ForbiddenFlags are flags of jobs of this task that the worker does not claim, in addition to Config.ForbiddenFlags,
// which applies to all tasks. Default: none.
func ForbiddenFlags(flags ...string) TaskOption {
	return func(t *task) error { return t.forbid(forbiddenFlags{list: slices.Clone(flags)}) }
}

// ForbiddenFlagsFunc returns such flags in place of a list. The worker calls it before each claim that may return jobs
// of the task. In all other respects it works as Config.ForbiddenFlagsFunc: an error or a panic postpones the claim,
// also of other tasks.
func ForbiddenFlagsFunc(ask func(context.Context) ([]string, error)) TaskOption {
	return func(t *task) error {
		if ask == nil {
			return errors.New("the function for forbidden flags is nil")
		}
		return t.forbid(forbiddenFlags{fn: ask})
	}
}

// forbiddenFlags are the flags of jobs that are not claimed: a list, or the result of a function.
type forbiddenFlags struct {
	list []string
	fn   func(context.Context) ([]string, error)
}

var errTwoForbiddenFlags = errors.New("a list of forbidden flags and a function for them exclude each other")

// forbid sets the forbidden flags of a task.
func (t *task) forbid(flags forbiddenFlags) error {
	if before := t.forbidden; !before.isNone() && (before.fn == nil) != (flags.fn == nil) {
		return errTwoForbiddenFlags
	}
	t.forbidden = flags
	return nil
}

// isNone returns whether there are neither a list nor a function.
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
	switch {
	case fault != nil:
		return nil, fmt.Errorf("ask for forbidden flags: %w", fault)
	case err != nil:
		return nil, err
	}
	return flags, nil
}

// forbidden describes which jobs a claim excludes.
type forbidden struct {
	flags   []string // of all tasks
	ofTasks *string  // of single tasks, as get_job_batch takes them; nil without
	beyond  *int64   // jobs beyond so many bytes together; nil for the database's own limit
}

// ask returns the exclusions of a claim of these tasks of a set; worker are the flags of the worker itself.
func (s *taskSet) ask(ctx context.Context, worker forbiddenFlags, tasks []string) (asked forbidden, err error) {
	if asked.flags, err = worker.ask(ctx); err != nil {
		return forbidden{}, err
	}
	ofTasks := make(map[string][]string)
	for _, name := range s.flagged {
		if _, isAsked := slices.BinarySearch(tasks, name); !isAsked {
			continue
		}
		flags, err := s.byName[name].forbidden.ask(ctx)
		if err != nil {
			return forbidden{}, fmt.Errorf("task %q: %w", name, err)
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
		return forbidden{}, fmt.Errorf("write forbidden flags: %w", err)
	}
	asked.ofTasks = new(string(text))
	return asked, nil
}

// argument returns the additional arguments of a claim's call, as SQL and as values, appended to args. It adds nothing
// without exclusions for single tasks or a limit, because each named argument has a cost.
func (f forbidden) argument(args ...any) (sql string, _ []any) {
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
