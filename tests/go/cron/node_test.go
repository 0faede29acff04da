package cron_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// A Node worker has a clock that is ahead, so that its next minute begins soon. In that minute our workers tick after Node; in the
// following minute Node is dead.
func TestANodeWorkerAndOursShareACrontab(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	database := pgtest.Database(t)
	pool := pgtest.Pool(t, database)
	crontab := filepath.Join(t.TempDir(), "crontab")
	err := os.WriteFile(crontab, []byte(`
* * * * *   note ?id=zulu&fill=1h {id: 'zulu', by: 'node'}
* * * * *   note ?id=alpha {id: 'alpha', by: 'node'}
*/1 * * * * note ?id=mike&queue=q {id: 'mike', by: 'node'}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var items []item
	for _, identifier := range []string{"zulu", "alpha", "mike"} {
		item := newItem(identifier, "* * * * *", "", 0)
		item.Payload["by"] = "gw"
		items = append(items, item)
	}
	text := itemsJSON(t, items)

	var workers [3]*time.Time // the time until which each has handled due runs
	tickAll := func(now time.Time) {
		t.Helper()
		var ticks sync.WaitGroup
		for i := range workers {
			ticks.Go(func() {
				a, err := tick(t.Context(), pool, text, workers[i], now)
				if err != nil {
					t.Errorf("tick: %v", err)
				}
				workers[i] = &a.Handled
			})
		}
		ticks.Wait()
	}

	// Node starts ten seconds, by its clock, before the next minute. If its start takes longer, it schedules another minute.
	const before = 10 * time.Second
	now := pgtest.Value[time.Time](t, pool, "select clock_timestamp()")
	ahead := now.Truncate(time.Minute).Add(time.Minute - before).Sub(now)
	node := nodegw.Start(t, nodegw.Options{DatabaseURL: database, Tasks: map[string]string{"none": ""},
		ClockAhead: ahead,
		Preset:     map[string]any{"crontabFile": crontab}})
	pgtest.Await(t, pool, "select count(*) = 3 from graphile_worker._private_known_crontabs")
	first := pgtest.Value[time.Time](t, pool, "select clock_timestamp()").Add(ahead).Truncate(time.Minute).Add(time.Minute)
	tickAll(first.Add(-time.Second))
	pgtest.Await(t, pool, "select count(*) = 3 from graphile_worker._private_known_crontabs where last_execution >= $1",
		first)
	tickAll(first.Add(time.Second))
	node.Kill()
	tickAll(first.Add(time.Minute))

	for minute, by := range []string{"node", "gw"} {
		at := first.Add(time.Duration(minute) * time.Minute)
		for _, item := range items {
			got := pgtest.Value[[]string](t, pool, `
				select array(select j.payload ->> 'by'
				               from graphile_worker._private_jobs as j
				              where j.payload ->> 'id' = $1 and j.run_at = $2
				                and (j.payload #>> '{_cron,ts}')::timestamptz = $2
				                and j.payload #>> '{_cron,ts}' like '____-__-__T__:__:00.000Z')`, item.Identifier, at)
			if len(got) != 1 || got[0] != by {
				t.Errorf("%s at %v was added by %v, want %s", item.Identifier, at.UTC(), got, by)
			}
		}
	}
}
