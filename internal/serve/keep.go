package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

// keepTasks sets which tasks are recorded, unless they already are. It stops no task: another worker, or an operator, may keep
// those for which this file says nothing.
func keepTasks(ctx context.Context, o *Options, pool *pgxpool.Pool, tasks map[string]config.Task) error {
	wanted := slices.DeleteFunc(slices.Collect(maps.Values(tasks)), func(t config.Task) bool { return t.Keep == 0 })
	if len(wanted) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limitsTimeout)
	defer cancel()
	client := shim.NewClient(pool, shim.ClientConfig{Schema: o.Schema})
	present, err := client.KeptTasks(ctx)
	if err != nil {
		return explainKeeping(wanted[0], err)
	}
	for _, task := range wanted {
		kept := shim.KeptTask{Task: task.Name, KeepFor: task.Keep, Payloads: task.KeepPayloads, Results: task.KeepResults}
		if slices.Contains(present, kept) {
			continue
		}
		if err := client.KeepTask(ctx, kept); err != nil {
			return explainKeeping(task, err)
		}
		o.Logger.Info("history of task kept", "task_identifier", task.Name, "keep", task.Keep)
	}
	return nil
}

// explainKeeping returns the error with its place in the file. The role of a worker alone may not keep tasks.
func explainKeeping(task config.Task, err error) error {
	if errors.Is(err, shim.ErrNotGranted) || sqlstate.ClassOf(sqlstate.Of(err)) == sqlstate.NotGranted {
		err = fmt.Errorf("%w; keep in the config file needs the rights of gw-migrate grants --admin", err)
	}
	return config.Problem{Position: task.Position, Message: err.Error()}
}
