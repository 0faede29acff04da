package gwrun

import (
	"context"
	"flag"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/tests/go/nodegw"
)

var cronMinutes = flag.Int("cron.minutes", 0, "how many minutes workers share a crontab, after those that they make up for")

// The workers catch up on the same forty minutes at once: the test blocks them until all have started. Then they run for the given
// number of minutes. No worker serves the tasks of the jobs, so that each job leaves its row.
func TestWorkersOfBothKindsShareACrontab(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	const missed = 40
	const text = `
* * * * *   note  ?id=first&fill=1h {id: 'first'}
* * * * *   note  ?id=second&queue=q&fill=1h {id: 'second'}
*/1 * * * * other ?fill=1h {id: 'other'}
`
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	folder, path := queueBeside(t, text)
	start := pgtest.Value[time.Time](t, pool, `select date_trunc('minute', now()) - $1 * interval '1 minute'`, missed)
	pgtest.Exec(t, pool, `
		insert into graphile_worker._private_known_crontabs (identifier, known_since, last_execution)
		values ('first', $1, $1), ('second', $1, $1), ('other', $1, $1)`, start)
	hold, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hold.Rollback(context.Background()) }()
	if _, err := hold.Exec(t.Context(), `select from graphile_worker._private_known_crontabs for update`); err != nil {
		t.Fatal(err)
	}
	workers := []*process{work(t, databaseURL, folder), work(t, databaseURL, folder)}
	node := nodegw.Start(t, nodegw.Options{
		DatabaseURL: databaseURL, Tasks: map[string]string{"a": ""}, Preset: map[string]any{"crontabFile": path},
	})
	pgtest.Await(t, pool, `
		select count(*) = 3 from pg_stat_activity as a where a.datname = current_database() and a.wait_event_type = 'Lock'`)
	if err := hold.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, p := range workers {
		p.waitLog("cron started")
	}
	last := start.Add(time.Duration(missed+*cronMinutes) * time.Minute)
	// This wait can be longer than the usual patience of a test.
	<-time.After(last.Sub(pgtest.Value[time.Time](t, pool, `select clock_timestamp()`)))
	pgtest.Await(t, pool, `
		select count(*) = 3 from graphile_worker._private_known_crontabs as k where k.last_execution >= $1`, last)
	for _, p := range workers {
		p.signal(syscall.SIGTERM)
		p.wantExit(0)
	}
	node.Stop() // waits for the job that it is about to add

	got := pgtest.Value[[]string](t, pool, `
		select array(select j.payload ->> 'id' || ' ' || extract(epoch from j.run_at - $1)::int / 60 || ' ' || count(*)
		               from graphile_worker._private_jobs as j
		              where j.run_at <= $2 and (j.payload #>> '{_cron,ts}')::timestamptz = j.run_at
		              group by j.run_at, j.payload ->> 'id'
		              order by j.run_at, j.payload ->> 'id')`, start, last)
	var want []string
	for minute := range missed + *cronMinutes {
		for _, identifier := range []string{"first", "other", "second"} {
			want = append(want, fmt.Sprintf("%s %d 1", identifier, minute+1))
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("jobs by item and minute, and how many:\n%q, want\n%q", got, want)
	}
}
