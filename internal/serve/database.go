package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

// limitsTimeout is the timeout of setting the limits. set_limit waits for transactions that set limits.
const limitsTimeout = 30 * time.Second

// setLimits sets the limits that do not have these settings yet, so that the start of a worker usually changes nothing.
// It drops no limit: another worker, or an operator, may have set those that are not in this file.
func setLimits(ctx context.Context, o *Options, pool *pgxpool.Pool, limits []config.Limit) error {
	if len(limits) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limitsTimeout)
	defer cancel()
	client := shim.NewClient(pool, shim.ClientConfig{Schema: o.Schema})
	present, err := client.Limits(ctx)
	if err != nil {
		return explainRights(limits[0].Position, "limits in the config file need", err)
	}
	for _, limit := range limits {
		if slices.ContainsFunc(present, func(l shim.LimitInfo) bool { return isSet(l.Limit, limit.Limit) }) {
			continue
		}
		err := client.SetLimit(ctx, limit.Limit)
		if sqlstate.ClassOf(sqlstate.Of(err)) == sqlstate.Retry { // another session has held the limit for seconds
			err = client.SetLimit(ctx, limit.Limit)
		}
		if err != nil {
			return explainRights(limit.Position, "limits in the config file need", err)
		}
		o.Logger.Info("limit set", "limit", limit.Name)
	}
	return nil
}

// isSet reports whether a limit of the database has the settings of a limit of the file.
func isSet(present, wanted shim.Limit) bool {
	wanted.Burst = cmp.Or(wanted.Burst, wanted.Rate)
	same := slices.Equal(present.Tasks, wanted.Tasks)
	present.Tasks, wanted.Tasks = nil, nil
	return same && reflect.DeepEqual(present, wanted)
}

// explainRights returns an error of a part of the config file with its position, and says so if the part needs more
// rights than the role of a worker has.
func explainRights(at config.Position, part string, err error) error {
	if errors.Is(err, shim.ErrNotGranted) || sqlstate.ClassOf(sqlstate.Of(err)) == sqlstate.NotGranted {
		err = fmt.Errorf("%w; %s the rights of gw-migrate grants --admin", err, part)
	}
	return config.Problem{Position: at, Message: err.Error()}
}

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
