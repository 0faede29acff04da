package gwrun

import (
	"flag"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/tests/go/nodegw"
)

var cronMinutes = flag.Int("cron.minutes", 1, "for how many minutes workers share a crontab")

// TestWorkersOfBothKindsShareACrontab takes as many minutes as it is told to, and the rest of the one it begins in. The
// jobs are of tasks that nobody serves, so that each leaves its row.
func TestWorkersOfBothKindsShareACrontab(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	const text = `
* * * * *   note ?id=first {id: 'first'}
* * * * *   note ?id=second&queue=q&fill=1h {id: 'second'}
*/1 * * * * other {id: 'other'}
`
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	folder, path := queueBeside(t, text)
	// Not so late in a minute that it is over before all have started.
	if rest := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); rest < 15*time.Second {
		<-time.After(rest)
	}
	workers := []*process{work(t, databaseURL, folder), work(t, databaseURL, folder)}
	node := nodegw.Start(t, nodegw.Options{
		DatabaseURL: databaseURL, Tasks: map[string]string{"a": ""}, Preset: map[string]any{"crontabFile": path},
	})
	for _, p := range workers {
		p.waitLog("cron started")
	}
	first := pgtest.Value[time.Time](t, pool, `select date_trunc('minute', now()) + interval '1 minute'`)
	last := first.Add(time.Duration(*cronMinutes-1) * time.Minute)

	// The wait is longer than a test waits for anything else.
	<-time.After(last.Sub(pgtest.Value[time.Time](t, pool, `select clock_timestamp()`)))
	pgtest.Await(t, pool, `
		select count(*) = 3 from graphile_worker._private_known_crontabs as k where k.last_execution >= $1`, last)
	for _, p := range workers {
		p.signal(syscall.SIGTERM)
		p.wantExit(0)
	}
	node.Stop() // waits for what it is about to add

	got := pgtest.Value[[]string](t, pool, `
		select array(select j.payload ->> 'id' || ' ' || extract(epoch from j.run_at - $1)::int / 60 || ' ' || count(*)
		               from graphile_worker._private_jobs as j
		              where j.run_at between $1 and $2 and (j.payload #>> '{_cron,ts}')::timestamptz = j.run_at
		              group by j.run_at, j.payload ->> 'id'
		              order by j.run_at, j.payload ->> 'id')`, first, last)
	var want []string
	for minute := range *cronMinutes {
		for _, identifier := range []string{"first", "other", "second"} {
			want = append(want, fmt.Sprintf("%s %d 1", identifier, minute))
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("jobs by item and minute, and how many:\n%q, want\n%q", got, want)
	}
}
