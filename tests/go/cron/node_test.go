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

// TestANodeWorkerAndOursShareACrontab takes two minutes. In the first one ours come late, so that Node is first; then Node
// is killed.
func TestANodeWorkerAndOursShareACrontab(t *testing.T) {
	if testing.Short() {
		t.Skip("two minutes of what Node does the same on each version of PostgreSQL")
	}
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

	// Not so late in a minute that it is over before all have started.
	if rest := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); rest < 20*time.Second {
		<-time.After(rest + time.Second)
	}
	node := nodegw.Start(t, nodegw.Options{DatabaseURL: database, Tasks: map[string]string{"none": ""},
		Preset: map[string]any{"crontabFile": crontab}})
	pgtest.Await(t, pool, "select count(*) = 3 from graphile_worker._private_known_crontabs")
	first := pgtest.Value[time.Time](t, pool, "select date_trunc('minute', now()) + interval '1 minute'")

	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			var since *time.Time
			for since == nil || since.Before(first.Add(time.Minute)) {
				a, err := tick(t.Context(), pool, text, since, pgtest.Value[time.Time](t, pool, "select clock_timestamp()"))
				if err != nil {
					t.Errorf("tick: %v", err)
					return
				}
				since = &a.Handled
				late := time.Duration(0)
				if since.Before(first) {
					late = 3 * time.Second
				}
				<-time.After(a.Delay + late)
			}
		})
	}
	pgtest.Await(t, pool, "select count(*) = 3 from graphile_worker._private_known_crontabs where last_execution >= $1", first)
	node.Kill()
	workers.Wait()

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
