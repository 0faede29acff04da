package serve

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/pkg/shim"
)

// keepTasks sets which tasks are recorded, unless they already are. It stops no task: another worker, or an operator,
// may keep those for which this file says nothing.
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
		return explainRights(wanted[0].Position, "keep in the config file needs", err)
	}
	for _, task := range wanted {
		kept := shim.KeptTask{Task: task.Name, KeepFor: task.Keep, Payloads: task.KeepPayloads,
			Results: task.KeepResults}
		if slices.Contains(present, kept) {
			continue
		}
		if err := client.KeepTask(ctx, kept); err != nil {
			return explainRights(task.Position, "keep in the config file needs", err)
		}
		o.Logger.Info("history of task kept", "task_identifier", task.Name, "keep", task.Keep)
	}
	return nil
}
