package gwui

import (
	"context"
	"time"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/internal/statement"
)

const (
	timesShown  = 25          // kept tasks of which a page shows the times, at most
	timesBudget = time.Second // after which a page of them ends
	timesSample = 10_000      // attempts of a task from which percentiles are computed
)

// taskTimes is a row of task_stats, of the last hour.
type taskTimes struct {
	inspect.TaskStats
	IsSlow bool // the query was stopped
}

// Failures returns how many attempts failed: as many as the history has with the condition failures.
func (t taskTimes) Failures() int64 { return t.Failed + t.PermanentlyFailed + t.Recovered }

// taskTimes returns how long the jobs of kept tasks waited and ran in the last hour, by task. Each task costs a query of its own.
// The page ends after the tasks that can be read within the budget, at least one.
func (c *Console) taskTimes(ctx context.Context, after string) (named[taskTimes], error) {
	return cached(ctx, c.cache, "times "+after, func(ctx context.Context) (named[taskTimes], error) {
		began := time.Now()
		kept, err := read[keptTask](ctx, c.store, `
			select k.task
			  from S.list_kept_tasks() as k
			 where $1::text is null or k.task operator(pg_catalog.>) $1::text
			 order by k.task
			 limit $2::integer`, statement.OrNull(after), timesShown+1)
		list := named[taskTimes]{Now: kept.Now, Since: after}
		for i, k := range kept.Rows {
			if i == timesShown || i > 0 && time.Since(began) > c.budget {
				list.After = kept.Rows[i-1].Task
				break
			}
			times, err := read[taskTimes](ctx, c.store, `
				select $1::text as task, s.attempts, s.completed, s.failed, s.permanently_failed, s.recovered,
				       pg_catalog.date_part('epoch', s.waited_p50) as waited_p50, pg_catalog.date_part('epoch', s.waited_p95) as waited_p95,
				       pg_catalog.date_part('epoch', s.ran_p50) as ran_p50, pg_catalog.date_part('epoch', s.ran_p95) as ran_p95
				  from S.task_stats($1::text, pg_catalog.now() operator(pg_catalog.-) interval '1 hour', null, $2::integer) as s`,
				k.Task, timesSample)
			switch {
			case sqlstate.Of(err) == queryCanceled: // the other tasks do not depend on it
				list.Rows = append(list.Rows, taskTimes{inspect.TaskStats{Task: k.Task}, true})
			case err != nil:
				return list, err
			default:
				list.Rows = append(list.Rows, times.Rows...)
			}
		}
		return list, err
	})
}
