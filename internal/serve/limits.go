package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

// limitsTimeout is the timeout of setting the limits. set_limit waits for transactions that set limits.
const limitsTimeout = 30 * time.Second

// setLimits sets the limits that do not have these settings yet, so that the start of a worker usually changes nothing. It
// drops no limit: another worker, or an operator, may have set those that are not in this file.
func setLimits(ctx context.Context, o *Options, pool *pgxpool.Pool, limits []config.Limit) error {
	if len(limits) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limitsTimeout)
	defer cancel()
	client := shim.NewClient(pool, shim.ClientConfig{Schema: o.Schema})
	present, err := client.Limits(ctx)
	if err != nil {
		return explainLimits(limits[0], err)
	}
	for _, limit := range limits {
		wanted := shim.Limit{
			Name: limit.Name, Tasks: limit.Tasks, Queues: limit.Queues, By: limit.By, MaxRunning: limit.MaxRunning,
			TotalRunning: limit.TotalRunning, Rate: limit.Rate, Per: limit.Per, Burst: limit.Burst, Fair: limit.Fair,
			Strict: limit.Strict,
		}
		if slices.ContainsFunc(present, func(l shim.LimitInfo) bool { return isSet(l.Limit, wanted) }) {
			continue
		}
		if err := client.SetLimit(ctx, wanted); err != nil {
			return explainLimits(limit, err)
		}
		o.Logger.Info("limit set", "limit", limit.Name)
	}
	return nil
}

// isSet reports whether a limit of the database has the settings of a limit of the file.
func isSet(present, wanted shim.Limit) bool {
	if wanted.Burst == 0 {
		wanted.Burst = wanted.Rate
	}
	sameTasks := slices.Equal(present.Tasks, wanted.Tasks)
	return sameTasks && present.Name == wanted.Name && present.Queues == wanted.Queues && present.By == wanted.By &&
		present.MaxRunning == wanted.MaxRunning && present.TotalRunning == wanted.TotalRunning &&
		present.Rate == wanted.Rate && present.Per == wanted.Per && present.Burst == wanted.Burst && present.Fair == wanted.Fair &&
		present.Strict == wanted.Strict
}

// explainLimits returns the error of a limit with its place in the file. The role of a worker alone may not set limits.
func explainLimits(limit config.Limit, err error) error {
	if errors.Is(err, shim.ErrNotGranted) || sqlstate.ClassOf(sqlstate.Of(err)) == sqlstate.NotGranted {
		err = fmt.Errorf("%w; limits in the config file need the rights of gw-migrate grants --admin", err)
	}
	return config.Problem{Position: limit.Position, Message: err.Error()}
}
