package interleave

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// patientOperators lets those who change limits wait for claims that hold them. As they are, they try again until they
// have the limits, so that there is no end to their orders.
const patientOperators = `
	create or replace function graphile_worker._gw_lock_limits(task_names text[]) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
	begin
	  perform from graphile_worker._gw_limits as l where (l.tasks && task_names) is not false order by l.id for update;
	end;
	$$`

// operatorCalls change limits. Their numbers are high, because a limit does not count what a claim starts that began
// before it.
var operatorCalls = map[string]string{
	"set":          `select graphile_worker.set_limit('one', tasks => array['a', 'b'], max_running => 9)`,
	"set keys":     `select graphile_worker.set_limit('one', tasks => array['a'], by => 'payload:k', max_running => 9)`,
	"set another":  `select graphile_worker.set_limit('another', tasks => array['a'], max_running => 9)`,
	"set all":      `select graphile_worker.set_limit('all', max_running => 9)`,
	"drop":         `select graphile_worker.drop_limit(i.name) from graphile_worker._gw_limits as i where i.name in ('one', 'keyed', 'fair')`,
	"override":     `select graphile_worker.override_lane(i.name, '1', max_running => 9) from graphile_worker._gw_limits as i where i.name = 'keyed'`,
	"open":         `select graphile_worker.open_lane(i.name) from graphile_worker._gw_limits as i where i.name in ('one', 'keyed')`,
	"pause limit":  `select graphile_worker.pause(limit_name => i.name) from graphile_worker._gw_limits as i where i.name in ('one', 'keyed')`,
	"resume":       `select graphile_worker.resume(task => 'a')`,
	"resume limit": `select graphile_worker.resume(limit_name => 'one')`,
	"resume all":   `select graphile_worker.resume()`,
	"setting":      `select graphile_worker.set_setting('recovered_jobs', 'run')`,
}

// operatorWorld is laneWorld for calls of operators and others. The workers are registered, as limits count only what
// such workers run.
func operatorWorld(where string, sessions ...string) world {
	w := world{name: where + ": " + strings.Join(sessions, ", "), setup: lanePlaces[where] +
		`select graphile_worker.register_worker(n) from unnest(array['w0', 'w1', 'w2', 'w3']) as n;`}
	for _, text := range sessions {
		sql := operatorCalls[text]
		if sql == "" {
			sql = laneCalls[text]
		}
		if lanePlaces[where] == "" || sql == "" {
			panic(w.name)
		}
		w.sessions = append(w.sessions, transaction{calls: []call{{name: text, sql: sql}}})
	}
	return w
}

// operatorWorlds returns a world for each place and each two calls of which one is an operator's, and, if all worlds
// are to run, for some threes.
func operatorWorlds() (all []world) {
	others := slices.Sorted(maps.Keys(laneCalls))
	operators := slices.Sorted(maps.Keys(operatorCalls))
	for _, where := range slices.Sorted(maps.Keys(lanePlaces)) {
		for n, operator := range operators {
			for _, other := range append(slices.Clone(others), operators[n:]...) {
				// A queue whose running job is deleted by hand stays locked until somebody looks for stale locks.
				if !strings.Contains(where, "queue") || other != "remove" {
					all = append(all, operatorWorld(where, operator, other))
				}
			}
			for _, third := range []string{"complete", "fail", "limited", "add"} {
				if budget() == 0 || budget() >= 1000 {
					all = append(all, operatorWorld(where, operator, "claim many", third))
				}
			}
		}
	}
	return all
}

// No change of limits or pauses, whatever else is under way, loses a job.
func TestChangesOfLimitsLoseNoJob(t *testing.T) {
	checkAllIn(t, operatorWorlds(), everyOrderOfLanes(t), func(t testing.TB) *driver {
		t.Helper()
		return newTestDriverOf(t, func(ctx context.Context, conn *pgx.Conn) error {
			_, err := run(ctx, conn, patientOperators)
			return err
		})
	})
}
